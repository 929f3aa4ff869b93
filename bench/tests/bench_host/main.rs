//! The lab on the emulator: every allocator, every scenario.

mod replay;

use clap::Parser;
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{Device, DeviceVec, Pool};
use warpheap_bench::allocators;
use warpheap_bench::contents::{self, Wrong};
use warpheap_bench::lab::Lab;
use warpheap_bench::measure::measure;
use warpheap_bench::options::Options;
use warpheap_bench::plan::{Cell, Work};
use warpheap_bench::replay::Script;
use warpheap_bench::row::{Call, Metric, OK, Row};
use warpheap_bench::run::Run;
use warpheap_bench::scenario::Scenario;
use warpheap_bench_kernels::mix::Mix;
use warpheap_host::HostConfig;
use warpheap_rt::alloc::Bump;

#[derive(Parser)]
struct Program {
    #[command(flatten)]
    options: Options,
}

fn host(warp_width: u32) -> Device {
    warpheap_host::open(HostConfig {
        warp_width,
        ..HostConfig::default()
    })
    .unwrap()
}

fn run(device: &Device, line: &str) -> Run {
    run_with(device, line, None)
}

fn run_with(device: &Device, line: &str, replay: Option<Script>) -> Run {
    let words = ["bench"].into_iter().chain(line.split_whitespace());
    let options = Options {
        replay,
        ..Program::parse_from(words).options
    };
    warpheap_bench::run(device, &options, Vec::new(), |row| {
        println!(
            "{} {} {}: {}",
            row.scenario.name(),
            row.allocator,
            row.case,
            row.status
        );
    })
    .unwrap()
}

fn rows<'a>(run: &'a Run, allocator: &str, scenario: Scenario) -> Vec<&'a Row> {
    let of = |row: &&Row| row.allocator == allocator && row.scenario == scenario;
    run.rows.iter().filter(of).collect()
}

/// The median of a metric that is there.
fn value(row: &Row, name: &str) -> f64 {
    row.metric(name)
        .unwrap_or_else(|| panic!("{row:?}"))
        .value
        .median
}

/// The scenarios of the lab's own kernels that need nothing else.
fn own() -> impl Iterator<Item = Scenario> {
    let others = [
        Scenario::S14,
        Scenario::S15,
        Scenario::S16,
        Scenario::S17,
        Scenario::S20,
    ];
    let own = Scenario::ALL.into_iter();
    own.filter(move |scenario| !others.contains(scenario))
}

/// Allocators that serve every size that is asked for here.
const ANY_SIZE: [&str; 3] = ["Bump", "ScatterAlloc", "WarpHeap"];

#[test]
fn every_allocator_has_rows_in_every_scenario_and_none_is_wrong() {
    let run = run(&host(8), "--quick --n 64 --repeats 1");
    assert!(run.is_right());
    for entry in allocators::ALL {
        for scenario in own() {
            assert!(
                !rows(&run, entry.name, scenario).is_empty(),
                "{} {scenario:?}",
                entry.name
            );
        }
    }
}

#[test]
fn scenarios_tell_what_they_measured() {
    let only = ANY_SIZE.join(",");
    for (width, call) in [(8, ""), (32, "--warp")] {
        let line = format!("--quick --n 256 --allocator {only} {call}");
        let run = run(&host(width), &line);
        assert!(run.is_right());
        let together = run.rows.iter().filter(|row| row.call == Call::Warp);
        assert_eq!(together.count() != 0, !call.is_empty());
        for name in ANY_SIZE {
            for scenario in own() {
                let rows = rows(&run, name, scenario);
                assert!(!rows.is_empty(), "{name} {scenario:?}");
                for row in rows {
                    said_what_is_so(row, name != "Bump");
                }
            }
        }
    }
}

/// What each scenario's row of a right allocator holds.
fn said_what_is_so(row: &Row, frees: bool) {
    if let Some(floors) = row.floors {
        for (name, floor) in floors.named() {
            assert!(floor.median > 0.0, "{name}: {row:?}");
        }
    }
    let timed = |name: &str| assert!(row.ratio(row.metric(name).unwrap()) > Some(0.0), "{row:?}");
    match row.scenario {
        Scenario::S1 | Scenario::S2 | Scenario::S3 | Scenario::S4 => {
            assert_eq!(row.status, OK, "{row:?}");
            timed(Metric::MALLOC);
            assert_eq!(row.metric(Metric::FREE).is_some(), frees, "{row:?}");
            let beside = frees && row.scenario == Scenario::S3;
            assert_eq!(row.metric(Metric::FREE_FENCE).is_some(), beside, "{row:?}");
            match row.scenario.is_fresh() {
                // Blocks cannot take less than was asked for; of a small launch chunks take far more.
                true => assert!(value(row, Metric::FOOTPRINT) >= 1.0, "{row:?}"),
                false => assert!(row.metric(Metric::FOOTPRINT).is_none(), "{row:?}"),
            }
        }
        Scenario::S5 => {
            timed(Metric::TOTAL);
            if frees {
                assert_eq!(value(row, Metric::FAILED), 0.0, "{row:?}");
            }
        }
        Scenario::S6 => {
            let used = value(row, Metric::UTILISATION);
            assert!(used > 0.5 && used < 1.0, "{row:?}");
            assert_eq!(row.metric(Metric::REUSED).is_some(), frees, "{row:?}");
            assert!(value(row, Metric::REFUSED) > 0.0, "{row:?}");
        }
        Scenario::S7 => assert!(value(row, Metric::RANGE) >= 1.0, "{row:?}"),
        Scenario::S8 => assert!(value(row, Metric::FORMAT) > 0.0, "{row:?}"),
        Scenario::S9 => {
            let all = [Metric::MEDIAN, Metric::P99, Metric::P999, Metric::WORST];
            let all = all.map(|name| value(row, name));
            assert!(all[0] > 0.0 && all.is_sorted(), "{row:?}");
        }
        Scenario::S10 => {
            assert_eq!(row.metric(Metric::THROUGHPUT).is_some(), frees, "{row:?}");
            if frees {
                let capacity = value(row, Metric::CAPACITY);
                assert!(capacity > 40.0 && capacity < 100.0, "{row:?}");
                // What it can hold it does hold, but for requests that others were in the way of.
                assert!(value(row, Metric::UNFILLED) < 5.0, "{row:?}");
                let tied = value(row, Metric::FOOTPRINT);
                let room = row.pool_bytes as f64;
                assert!(tied >= 1.0 && tied < room, "{row:?}");
            }
            // The pool is small, so not every size finds room even if half of it is free.
            if frees && row.fill == Some(50) {
                assert!(value(row, Metric::FAILED) < 10.0, "{row:?}");
            }
        }
        Scenario::S11 | Scenario::S12 => assert_eq!(row.status, OK, "{row:?}"),
        // The emulator has no driver that could tell.
        Scenario::S13 => assert!(row.status.starts_with("not measured: "), "{row:?}"),
        Scenario::S14 | Scenario::S15 | Scenario::S16 | Scenario::S17 | Scenario::S20 => {
            panic!("{row:?}")
        }
        Scenario::S18 => {
            assert_eq!(row.status, OK, "{row:?}");
            assert!(
                row.allocator == "Bump" || value(row, "total/Bump") > 0.0,
                "{row:?}"
            );
        }
        Scenario::S19 => {
            assert_eq!(row.metric(Metric::MALLOC).is_some(), frees, "{row:?}");
            if frees {
                assert!(value(row, Metric::FOOTPRINT) >= 1.0, "{row:?}");
                assert!(value(row, Metric::FREE) > 0.0, "{row:?}");
            }
            // The pool is so small that a chunk is a large part of it.
            if frees && row.fill == Some(60) {
                assert!(value(row, Metric::FAILED) < 50.0, "{row:?}");
            }
        }
    }
}

#[test]
fn large_requests_are_set_beside_those_of_a_page() {
    let run = run(
        &host(8),
        "--scenario S1 --sizes 64,4096,16384 --n 64 --pool 16M --repeats 1",
    );
    for name in ANY_SIZE {
        let rows = rows(&run, name, Scenario::S1);
        let told: Vec<_> = rows
            .iter()
            .map(|row| row.metric(Metric::MALLOC_BYTE).is_some())
            .collect();
        assert_eq!(told, [false, false, true], "{rows:?}");
        assert!(value(rows[2], Metric::MALLOC_BYTE) > 0.0);
    }
}

#[test]
fn an_allocator_that_does_not_free_runs_full_and_says_so() {
    // An allocator that does not free keeps a megabyte of blocks.
    let run = run(
        &host(4),
        "--quick --scenario S5 --allocator Bump --n 64 --pool 256K",
    );
    for row in rows(&run, "Bump", Scenario::S5) {
        assert!(row.right && row.status.contains("failed"), "{row:?}");
        assert!(value(row, Metric::FAILED) > 0.0, "{row:?}");
    }
}

#[test]
fn a_pool_that_an_allocator_cannot_use_makes_a_row_that_says_so() {
    let run = run(&host(4), "--quick --scenario S8 --pool 64K --repeats 1");
    for row in &run.rows {
        let right = row.status == OK || row.status.starts_with("not measured: ");
        assert!(right && row.right, "{row:?}");
    }
}

#[test]
fn a_heap_that_is_full_makes_a_row_without_times() {
    let device = host(4);
    let lab = Lab::new(&device, 1).unwrap();
    let cell = |work| Cell {
        scenario: Scenario::S1,
        case: String::new(),
        // With the header, room for less than 100 granules.
        pool: 1536,
        work,
    };
    let mut pool: Pool<Bump> = device.reserve(1536).unwrap();
    let (mix, n) = (Mix::one(16), 100);
    for work in [
        Work::Requests { mix, n },
        Work::Range { size: 16, n },
        Work::Latency { size: 16, n },
        Work::Realloc {
            least: 16,
            doublings: 3,
            n,
        },
        Work::Vector { elements: 40, n },
        Work::Handover { size: 16, n: 128 },
    ] {
        let rows = measure(&lab, &mut pool, &cell(work), Call::Lane).unwrap();
        let row = &rows[0];
        assert!(row.metrics.is_empty() && row.right, "{row:?}");
        let told = format!(" of {} failed: ", row.n);
        assert!(row.status.contains(&told), "{row:?}");
    }
}

#[test]
fn blocks_that_overlap_or_lie_outside_are_found() {
    let device = host(4);
    let lab = Lab::new(&device, 1).unwrap();
    let pool: Pool<Bump> = device.reserve(1 << 20).unwrap();
    let last = (1 << 20) / 16 - 1;
    let check = |granules: &[u32], size| {
        let blocks = granules.iter().map(|&g| DevicePtr::from_granule(g));
        let blocks: Vec<DevicePtr<u8>> = blocks.collect();
        let blocks = DeviceVec::from_slice(&device, &blocks).unwrap();
        contents::check(&lab, &pool, &blocks, Mix::one(size), 7).unwrap()
    };
    let wrong = |missing, outside, overwritten| Wrong {
        missing,
        outside,
        overwritten,
    };
    assert!(check(&[1000, 1002, 1004, last - 1], 32).is_nothing());
    // The second begins in the last granule of the first, which 33 bytes reach.
    assert_eq!(check(&[1000, 1002, 2000], 33), wrong(0, 0, 1));
    assert_eq!(check(&[1000, 2000, 1000], 16), wrong(0, 0, 1));
    assert_eq!(check(&[last, 3, 1000], 32), wrong(0, 2, 0));
    assert_eq!(check(&[u32::MAX, 1000], 16), wrong(1, 0, 0));
}

/// A million blocks of 16 bytes, which the emulator hands out in less than two seconds on two cores. On a machine that does other things
/// meanwhile they may take a third longer than the floor of the same run, a counter for all lanes.
/// Without optimisation only that it works is looked at, with fewer blocks.
#[test]
fn a_million_mallocs_take_less_than_two_seconds() {
    let optimised = !cfg!(debug_assertions);
    let n: u32 = if optimised { 1 << 20 } else { 1 << 12 };
    let only = ANY_SIZE.join(",");
    let line =
        format!("--scenario S1 --sizes 16 --n {n} --pool 128M --repeats 2 --allocator {only}");
    let run = run(&host(32), &line);
    assert_eq!(run.rows.len(), ANY_SIZE.len());
    for row in &run.rows {
        assert_eq!(row.status, OK, "{row:?}");
        // The best of the repeats: other programs may run meanwhile.
        let best = row.metric(Metric::MALLOC).unwrap().value.p10;
        let best = Duration::from_secs_f64(best / 1e3);
        println!("{}: {n} mallocs in {best:?}", row.allocator);
        let floor = row.floors.as_ref().map_or(0.0, |floors| floors.bump.p10);
        let busy = Duration::from_secs_f64(floor / 1e3 * 4.0 / 3.0);
        assert!(best < Duration::from_secs(2).max(busy), "{row:?}");
    }
}
