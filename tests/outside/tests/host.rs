//! Every kernel with every allocator, in the emulator.

use outside::list;
use outside::report::{Line, Outcome, Verdict};
use outside::stage::Stage;
use warpheap::BackendKind;

/// Neither a power of two nor a multiple of a warp's width.
const LANES: u32 = 203;

/// Runs all jobs with heaps of a size; their kernels and allocators, and what came of them.
fn outcomes(lanes: u32, pool_bytes: Option<u64>) -> Vec<(list::Job, Outcome)> {
    let stage = Stage::open(BackendKind::Host, lanes, pool_bytes).expect("the emulator opens");
    let jobs = list::all().into_iter();
    jobs.map(|job| (job, (job.run)(&stage))).collect()
}

/// The lines of what failed.
fn failures(outcomes: &[(list::Job, Outcome)]) -> Vec<String> {
    let failed = outcomes.iter().filter(|(_, outcome)| outcome.is_err());
    let line = |(job, outcome): &(list::Job, Outcome)| {
        let (kernel, allocator) = (job.kernel, job.allocator);
        Line {
            kernel,
            allocator,
            outcome,
        }
        .to_string()
    };
    failed.map(line).collect()
}

#[test]
fn everything_is_right_where_there_is_room() {
    let outcomes = outcomes(LANES, None);
    let failed = failures(&outcomes);
    assert!(failed.is_empty(), "{failed:#?}");
    for (job, outcome) in &outcomes {
        let Ok(Verdict::Ok { note, .. }) = outcome else {
            panic!("{job:?}: {outcome:?}");
        };
        assert!(!note.contains("heap full"), "{job:?}: {note}");
    }
}

#[test]
fn a_few_lanes_are_enough() {
    let failed = failures(&outcomes(32, None));
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Running out of memory is an answer that kernels live with.
#[test]
fn nothing_breaks_where_there_is_none() {
    let outcomes = outcomes(LANES, Some(1 << 20));
    let failed = failures(&outcomes);
    assert!(failed.is_empty(), "{failed:#?}");
    let full = |kernel: &str| {
        let of_kernel = outcomes.iter().filter(|(job, _)| job.kernel == kernel);
        let full = of_kernel.filter(|(_, outcome)| match outcome {
            Ok(Verdict::Ok { note, .. }) => note.contains("heap full"),
            _ => false,
        });
        full.count()
    };
    assert!(full("branches") > 0 && full("blocks") > 0);
}
