//! Traces that are replayed.

use super::{Program, host, rows, run_with, value};
use clap::Parser;
use warpheap_api::AllocError;
use warpheap_bench::replay::Script;
use warpheap_bench::row::{Metric, OK};
use warpheap_bench::scenario::Scenario;
use warpheap_rt::host::{Trace, TraceCall, TraceEvent};

/// A trace of these: launch, lane, what, granule, bytes.
fn script(events: impl Iterator<Item = (u32, u32, TraceCall, u32, u64)>) -> Script {
    let event = |(launch, lane, call, granule, bytes)| TraceEvent {
        time: 0,
        launch,
        lane,
        call,
        granule,
        bytes,
    };
    let trace = Trace {
        events: events.map(event).collect(),
        ..Trace::default()
    };
    Script::new(&trace, "a.trace").unwrap()
}

#[test]
fn a_trace_is_replayed_at_all_widths() {
    use TraceCall::{Free, Malloc, ResizedFrom, ResizedTo};
    const LANES: u32 = 150;
    let bytes = |lane: u32| u64::from(lane * 7 % 500);
    let lanes = || 0..LANES;
    // Blocks of odd lanes go to the neighbour, which frees them, in the same launch.
    let mallocs = lanes().map(|lane| (0, lane, Malloc, lane, bytes(lane)));
    let odd = lanes().filter(|lane| lane % 2 == 1);
    let frees = odd.map(|lane| (0, lane - 1, Free, lane, bytes(lane)));
    let even = || lanes().filter(|lane| lane % 2 == 0);
    let resizes = even().flat_map(|lane| {
        [
            (1, lane, ResizedFrom, lane, bytes(lane)),
            (1, lane, ResizedTo, lane + 1000, bytes(lane) * 3 / 2),
        ]
    });
    let last = even().filter(|lane| lane % 3 == 0);
    let last = last.map(|lane| (2, LANES - 1 - lane, Free, lane + 1000, bytes(lane) * 3 / 2));
    let script = script(mallocs.chain(frees).chain(resizes).chain(last));
    let left = even().filter(|lane| lane % 3 != 0);
    let live: u64 = left.map(|lane| bytes(lane) * 3 / 2).sum();
    assert_eq!(script.rounds.len(), 4);
    for width in [1, 32, 64] {
        let line = "--quick --repeats 2 --allocator WarpHeap,ScatterAlloc,OuroborosPS";
        let run = run_with(&host(width), line, Some(script.clone()));
        assert!(run.is_right());
        assert_eq!(run.rows.len(), 4);
        for row in &run.rows {
            assert_eq!((row.scenario, row.status.as_str()), (Scenario::S20, OK));
            assert_eq!((row.case.as_str(), row.n), ("a.trace", LANES));
            let names = [Metric::MALLOCS, Metric::RESIZES, Metric::FREES];
            let counts = names.map(|name| value(row, name));
            assert_eq!(counts, [150.0, 75.0, 100.0], "{row:?}");
            assert_eq!(value(row, Metric::LIVE), live as f64);
            assert_eq!(value(row, Metric::FAILED), 0.0);
            assert!(value(row, Metric::FOOTPRINT) >= 1.0, "{row:?}");
            let (all, one) = (value(row, Metric::TOTAL), value(row, Metric::LAUNCH));
            assert!(one > 0.0 && all > one, "{row:?}");
        }
    }
}

/// More than there is room for: frees of blocks that are not there are skipped, those that the trace did not get are asked for.
#[test]
fn a_replay_in_a_heap_that_is_too_small_says_so() {
    use TraceCall::{Failed, Free, Malloc, Reset};
    const BYTES: u64 = 1 << 17;
    let mallocs = |launch| (0..64).map(move |lane| (launch, lane, Malloc, lane, BYTES));
    let in_vain = (2, 0, Failed(AllocError::Exhausted), 0, 16);
    let frees = (0..64).map(|lane| (3, lane, Free, lane, BYTES));
    let fresh = [(1, 0, Reset, 0, 0)];
    let all = mallocs(0).chain(fresh).chain(mallocs(1)).chain([in_vain]);
    let script = script(all.chain(frees));
    let line = "--quick --repeats 1 --pool 4M --allocator WarpHeap";
    let run = run_with(&host(32), line, Some(script));
    assert!(run.is_right());
    for name in ["Bump", "WarpHeap"] {
        let row = rows(&run, name, Scenario::S20)[0];
        let [had, freed] = [Metric::MALLOCS, Metric::FREES].map(|name| value(row, name));
        // Each block of the second half that was had was freed, and each that was not was skipped.
        assert!(
            (1.0..64.0).contains(&freed) && had == 2.0 * freed,
            "{row:?}"
        );
        let failed = 128.0 - had;
        assert_eq!(value(row, Metric::FAILED), 100.0 * failed / 129.0);
        let skipped = 64.0 - freed;
        let said = format!("{failed} of 129 requests failed, {skipped} frees skipped");
        assert_eq!(row.status, said);
        assert_eq!(value(row, Metric::LIVE), 0.0);
        assert!(value(row, Metric::FOOTPRINT) < 1.5, "{row:?}");
    }
}

#[test]
fn a_replay_needs_a_trace() {
    let device = host(8);
    let line = ["bench", "--quick", "--scenario", "S20"];
    let options = Program::parse_from(line).options;
    let ran = warpheap_bench::run(&device, &options, Vec::new(), |_| {});
    assert!(ran.unwrap_err().to_string().contains("--replay"));
}
