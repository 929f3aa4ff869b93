//! Reports of a run made of fixed rows: files, plots, comparisons, peers.

mod compare;
mod files;
mod page;
mod peers;
mod plots;
mod table;

use warpheap_bench::row::{Call, Floors, Metric, OK, Row, Unit};
use warpheap_bench::run::Run;
use warpheap_bench::scenario::Scenario;
use warpheap_bench::stats::Spread;

/// A median with a spread of 4 % around it.
fn about(median: f64) -> Spread {
    Spread {
        median,
        p10: median * 0.98,
        p90: median * 1.02,
    }
}

fn floors() -> Floors {
    Floors {
        empty: about(0.0028),
        store: about(0.0056),
        bump: about(0.0282),
        fence: about(0.0068),
    }
}

fn row(scenario: Scenario, allocator: &str, case: &str, n: u32, metrics: Vec<Metric>) -> Row {
    Row {
        scenario,
        allocator: allocator.into(),
        call: Call::Lane,
        case: case.into(),
        size: case.parse().ok(),
        fill: case
            .strip_prefix("fill ")
            .and_then(|fill| fill.parse().ok()),
        n,
        pool_bytes: 8 << 30,
        floors: Some(floors()),
        metrics,
        right: true,
        status: OK.into(),
    }
}

fn times(malloc: f64, free: f64) -> Vec<Metric> {
    let time = |name, ms| Metric::new(name, Unit::Millis, about(ms));
    vec![time(Metric::MALLOC, malloc), time(Metric::FREE, free)]
}

/// A run on an H200 in which every kind of axis and unit occurs, and a row that failed.
fn run() -> Run {
    let mut rows = Vec::new();
    for (allocator, slow) in [("Bump", 0.028), ("ScatterAlloc", 0.023)] {
        for (size, n, factor) in [
            ("16", 1 << 20, 1.0),
            ("64", 1 << 20, 1.1),
            ("4096", 1 << 20, 5.0),
            ("8192", 1 << 19, 20.0),
        ] {
            rows.push(row(
                Scenario::S1,
                allocator,
                size,
                n,
                times(slow * factor, 0.02 * factor),
            ));
        }
        let mut failed = row(Scenario::S2, allocator, "pow2 16..64", 1 << 20, Vec::new());
        failed.status = "7 of 1048576 failed, \"exhausted\"".into();
        rows.push(failed);
        for size in ["16", "8192"] {
            for n in [1, 1 << 8, 1 << 16] {
                let ms = slow / 5.0 * f64::from(n).powf(0.1);
                rows.push(row(Scenario::S3, allocator, size, n, times(ms, ms / 2.0)));
            }
        }
        let mut churn = row(
            Scenario::S5,
            allocator,
            "16..1024",
            1 << 16,
            times(1.0, 1.0),
        );
        churn.metrics = vec![Metric::new(Metric::TOTAL, Unit::Millis, about(slow * 30.0))];
        rows.push(churn);
        let share = Metric::new(Metric::UTILISATION, Unit::Ratio, Spread::exactly(0.975));
        let mut full = row(
            Scenario::S6,
            allocator,
            "64",
            1 << 20,
            vec![share.more_is_better()],
        );
        full.floors = None;
        rows.push(full);
        for (fill, mops) in [("fill 50", 900.0), ("fill 98", 400.0)] {
            let metrics = vec![
                Metric::new(Metric::THROUGHPUT, Unit::MopsPerSecond, about(mops * slow)),
                Metric::new(Metric::FAILED, Unit::Count, Spread::exactly(0.0)),
            ];
            rows.push(row(Scenario::S10, allocator, fill, 1 << 20, metrics));
        }
        let registers = Metric::new(Metric::REGISTERS, Unit::Count, Spread::exactly(48.0));
        rows.push(row(
            Scenario::S13,
            allocator,
            "malloc <&>",
            0,
            vec![registers],
        ));
    }
    Run {
        version: "0.1.0".into(),
        unix_time: 1_795_217_400,
        backend: "cuda".into(),
        device: "NVIDIA H200".into(),
        driver: "580.159".into(),
        warp_width: 32,
        pool_bytes: 8 << 30,
        repeats: 21,
        rows,
    }
}
