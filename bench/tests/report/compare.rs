//! A run beside an earlier one.

use crate::{row, run, times};
use warpheap_bench::report::compare::{Comparison, NOISE, Verdict};
use warpheap_bench::run::Run;
use warpheap_bench::scenario::Scenario;

fn compare(later: &Run) -> Comparison {
    Comparison::new(&run(), later, NOISE).unwrap()
}

/// The metrics that are worse, in words.
fn worse(comparison: &Comparison) -> Vec<String> {
    let name = |c: &warpheap_bench::report::compare::Change| format!("{} {}", c.cell, c.metric);
    comparison.worse().map(name).collect()
}

/// The run with one metric's median multiplied.
fn changed(scenario: Scenario, metric: &str, factor: f64) -> Run {
    let mut run = run();
    let row = run
        .rows
        .iter_mut()
        .find(|row| row.scenario == scenario && row.metric(metric).is_some());
    let metrics = &mut row.unwrap().metrics;
    let metric = metrics.iter_mut().find(|m| m.name == metric).unwrap();
    metric.value.median *= factor;
    run
}

#[test]
fn a_run_beside_itself_shows_nothing() {
    let comparison = compare(&run());
    assert_eq!(comparison.regressions(), None);
    let metrics: usize = run().rows.iter().map(|row| row.metrics.len()).sum();
    assert_eq!(comparison.changes.len(), metrics);
    assert!(
        comparison
            .changes
            .iter()
            .all(|c| c.ratio == 1.0 && c.verdict() == Verdict::Same)
    );
    assert!(comparison.lists().is_empty(), "{:?}", comparison.lists());
    // As many lanes as just fill the heap.
    let mut later = run();
    for row in &mut later.rows {
        row.n += u32::from(row.scenario == Scenario::S10);
    }
    assert!(compare(&later).lists().is_empty());
}

#[test]
fn what_a_run_has_twice_counts_once() {
    let mut twice = run();
    for row in &mut twice.rows {
        let mut again = row.metrics.clone();
        again
            .iter_mut()
            .for_each(|metric| metric.value.median *= 3.0);
        row.metrics.extend(again);
    }
    let mut again = run().rows;
    for metric in again.iter_mut().flat_map(|row| &mut row.metrics) {
        metric.value.median /= 2.0;
    }
    twice.rows.extend(again);
    let comparison = Comparison::new(&twice, &twice, NOISE).unwrap();
    assert_eq!(comparison.regressions(), None);
    let metrics: usize = run().rows.iter().map(|row| row.metrics.len()).sum();
    assert_eq!(comparison.changes.len(), metrics);
    assert!(comparison.lists().is_empty(), "{:?}", comparison.lists());
}

#[test]
fn what_is_worse_by_more_than_noise_is_found_and_named() {
    let comparison = compare(&changed(Scenario::S1, "malloc", 1.2));
    assert_eq!(worse(&comparison), ["S1 Bump lane 16 x 2^20 malloc"]);
    let text = comparison.regressions().unwrap();
    assert!(
        text.starts_with(
            "1 of the earlier run's results became worse: S1 Bump lane 16 x 2^20 malloc: 1.20"
        ),
        "{text}"
    );
    // The worst comes first.
    assert_eq!(comparison.changes[0].metric, "malloc");
    assert!((comparison.changes[0].ratio - 1.2).abs() < 1e-9);
    assert!(comparison.text().contains("WORSE") && comparison.text().contains("1 worse, 0 better"));
    // Of these, more is better.
    let comparison = compare(&changed(Scenario::S10, "throughput", 0.8));
    assert_eq!(
        worse(&comparison),
        ["S10 Bump lane fill 50 x 2^20 throughput"]
    );
    assert!(
        compare(&changed(Scenario::S10, "throughput", 1.3))
            .regressions()
            .is_none()
    );
    assert_eq!(
        worse(&compare(&changed(Scenario::S6, "utilisation", 0.8))).len(),
        1
    );
    let better = compare(&changed(Scenario::S1, "malloc", 0.5));
    assert!(better.regressions().is_none() && better.text().contains("1 better"));
}

#[test]
fn noise_is_tolerated_as_far_as_it_goes() {
    assert!(
        compare(&changed(Scenario::S1, "malloc", 1.09))
            .regressions()
            .is_none()
    );
    let later = changed(Scenario::S1, "malloc", 1.2);
    assert!(
        Comparison::new(&run(), &later, 25.0)
            .unwrap()
            .regressions()
            .is_none()
    );
    // A measurement that varies by half says nothing about a fifth.
    let mut later = changed(Scenario::S1, "malloc", 1.2);
    let value = &mut later.rows[0].metrics[0].value;
    (value.p10, value.p90) = (value.median, value.median * 1.5);
    assert!(compare(&later).regressions().is_none());
    // From nothing to something is no noise.
    let mut later = run();
    let row = later
        .rows
        .iter_mut()
        .find(|row| row.metric("failed").is_some())
        .unwrap();
    row.metrics[1].value.median = 3.0;
    let text = compare(&later).regressions().unwrap();
    assert!(text.contains("failed: inf"), "{text}");
}

#[test]
fn cells_of_one_run_alone_are_listed() {
    let mut later = run();
    later.rows.retain(|row| row.scenario != Scenario::S5);
    later
        .rows
        .retain(|row| row.scenario != Scenario::S3 || row.n > 1);
    let extra = row(Scenario::S4, "Bump", "16", 1 << 20, times(1.0, 1.0));
    later.rows.push(extra);
    let free = later.rows[0].metrics.pop().unwrap();
    let comparison = compare(&later);
    assert_eq!(
        comparison.missing,
        [
            "S5, all of its 2 cells",
            "S1 Bump lane 16 x 2^20 free",
            "S3 Bump lane 16 x 1",
            "S3 Bump lane 8192 x 1",
            "S3 ScatterAlloc lane 16 x 1",
            "S3 ScatterAlloc lane 8192 x 1",
        ]
    );
    assert_eq!(comparison.added, ["S4, all of its 1 cells"]);
    assert!(comparison.regressions().is_none());
    let text = comparison.text();
    assert!(
        text.contains("in the earlier run alone:\n  S5, all of its 2 cells\n"),
        "{text}"
    );
    // And the other way round.
    let mut earlier = run();
    earlier.rows[0]
        .metrics
        .retain(|metric| metric.name != free.name);
    let comparison = Comparison::new(&earlier, &run(), NOISE).unwrap();
    assert_eq!(comparison.added, ["S1 Bump lane 16 x 2^20 free"]);
}

#[test]
fn what_fails_now_or_is_wrong_is_a_regression() {
    let mut later = run();
    later.rows[0].metrics.clear();
    later.rows[0].status = "9 of 1048576 failed".into();
    later.rows[1].right = false;
    later.rows[1].status = "3 overlap".into();
    let text = compare(&later).regressions().unwrap();
    assert!(text.starts_with("2 of "), "{text}");
    assert!(
        text.contains(
            "S1 Bump lane 16 x 2^20: 9 of 1048576 failed; S1 Bump lane 64 x 2^20: 3 overlap"
        ),
        "{text}"
    );
    // Many are counted, some are named.
    for row in &mut later.rows {
        row.right = false;
    }
    let text = compare(&later).regressions().unwrap();
    assert!(text.ends_with("and 27 more"), "{text}");
}

#[test]
fn runs_of_other_devices_are_refused_and_other_pools_are_told() {
    let refused = |change: fn(&mut Run), want: &str| {
        let mut later = run();
        change(&mut later);
        let error = Comparison::new(&run(), &later, NOISE).unwrap_err();
        assert!(
            error.is_input() && error.to_string().contains(want),
            "{error}"
        );
    };
    refused(
        |run| run.backend = "vulkan".into(),
        "the backend cuda, this one vulkan",
    );
    refused(
        |run| run.device = "NVIDIA L4".into(),
        "the device NVIDIA H200, this one NVIDIA L4",
    );
    refused(|run| run.warp_width = 64, "a warp width of 32, this one 64");
    refused(
        |run| run.rows.iter_mut().for_each(|row| row.pool_bytes = 1 << 30),
        "a pool of 8 GiB, this one 1 GiB",
    );
    refused(
        |run| run.rows.retain(|row| row.scenario == Scenario::S2),
        "no measurement in common",
    );
    let mut later = run();
    later.rows[0].pool_bytes = 1 << 30;
    later.driver = "581.1".into();
    for row in &mut later.rows {
        if let Some(floors) = &mut row.floors {
            floors.store.median *= 1.5;
        }
    }
    let comparison = compare(&later);
    assert_eq!(
        comparison.missing,
        ["S1 Bump lane 16 x 2^20 (now with a pool of 1 GiB)"]
    );
    assert_eq!(comparison.added, ["S1 Bump lane 16 x 2^20"]);
    assert_eq!(comparison.notes[0], "the driver was 580.159, now 581.1");
    assert!(
        comparison.notes[1].starts_with("the store kernel at 2^20 lanes took 5.60 µs, now 8.40 µs"),
        "{:?}",
        comparison.notes
    );
}
