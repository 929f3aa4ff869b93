//! Cycles, and that each kind of fault is found in them: on a heap that is simulated, and can be made to do wrong.

mod simulated;

use super::*;
use crate::soak::dice::Dice;
use crate::soak::sizes::Sizes;
use simulated::{METADATA, Plant, Simulated};

const POOL: u64 = 1 << 20;
const BLOCKS: u32 = 2000;
const FACTS: Facts = Facts {
    frees: true,
    fill: 80,
    one_launch: false,
};

fn worker(kind: Kind, plant: Plant) -> Worker<Simulated> {
    let heap = Simulated::new(POOL, BLOCKS, plant);
    let planner = Planner {
        dice: Dice::new(11),
        sizes: Sizes::new(POOL - METADATA, u64::MAX, 1 << 12),
        lanes: 64,
        width: 32,
    };
    Worker::new(heap, kind, FACTS, planner, BLOCKS)
}

/// Works until so many cycles are over.
fn cycles(worker: &mut Worker<Simulated>, cycles: u64) -> Result<(), Fault> {
    let mut rounds = 0;
    while worker.tally().cycles < cycles {
        worker.round()?;
        rounds += 1;
        assert!(rounds < 100_000, "no end of {:?}", worker.place());
    }
    Ok(())
}

#[test]
fn a_heap_that_does_right_goes_through_its_cycles() {
    for kind in [Kind::Old, Kind::Reset, Kind::Grows(2 * POOL)] {
        let mut worker = worker(kind, Plant::Nothing);
        cycles(&mut worker, 20).expect("all is right");
        let tally = worker.tally();
        assert!(tally.operations > 10_000 && tally.failed > 100, "{tally:?}");
        assert!(tally.looks >= 6 * 20, "{tally:?}");
        assert_eq!(tally.resets, if kind == Kind::Reset { 20 } else { 0 });
        let (grows, old) = (matches!(kind, Kind::Grows(_)), kind == Kind::Old);
        assert_eq!(tally.resizes >= 20, grows, "{tally:?}");
        assert_eq!(worker.ratio.last().is_some(), old);
        let filled = worker.filled.shown(100);
        assert_eq!(filled.is_empty(), !old);
        assert!(filled.iter().all(|share| *share > 50.0), "{filled:?}");
        assert_eq!(worker.empty.last(), old.then_some(0.0));
    }
}

#[test]
fn a_heap_is_filled_drained_and_filled_up() {
    let mut worker = worker(Kind::Old, Plant::Nothing);
    let mut seen: Vec<(Phase, u64)> = Vec::new();
    while worker.tally().cycles < 1 {
        let phase = worker.place().1;
        worker.round().expect("all is right");
        let live = 100 * worker.level().live / worker.room();
        match seen.last_mut() {
            Some((same, last)) if *same == phase => *last = live,
            _ => seen.push((phase, live)),
        }
    }
    let phases: Vec<Phase> = seen.iter().map(|(phase, _)| *phase).collect();
    assert_eq!(phases, Phase::ALL);
    let lives: Vec<u64> = seen.iter().map(|(_, live)| *live).collect();
    let expected = [70..=82, 30..=90, 0..=3, 70..=100, 50..=100, 0..=0];
    for (phase, (live, range)) in phases.iter().zip(lives.iter().zip(expected)) {
        assert!(range.contains(live), "{phase}: {live} %");
    }
}

#[test]
fn each_kind_of_fault_is_found() {
    for (plant, kind, part) in [
        (Plant::Overlap, Kind::Old, "overlap"),
        (Plant::Outside, Kind::Old, "outside of the bytes"),
        (
            Plant::Lost,
            Kind::Old,
            "became none, and what was done with it last is: nothing",
        ),
        (
            Plant::Moved,
            Kind::Old,
            "what was done with it last is: nothing",
        ),
        (
            Plant::Count,
            Kind::Old,
            "frees, and what they were to do comes to",
        ),
        (
            Plant::Damaged,
            Kind::Old,
            "1 blocks did not hold what was written",
        ),
        (
            Plant::Dirty,
            Kind::Old,
            "1 blocks of calloc were not all zero",
        ),
        (
            Plant::Misaligned,
            Kind::Old,
            "does not lie at a multiple of",
        ),
        (Plant::Usage, Kind::Old, "blocks are in use, and there are"),
        (
            Plant::Inconsistent,
            Kind::Old,
            "contradict themselves: chunk 7 is wrong",
        ),
        (
            Plant::Early,
            Kind::Old,
            "were refused as exhausted, and no more than",
        ),
        (
            Plant::Unsupported,
            Kind::Old,
            "1 requests were refused as unsupported",
        ),
        (Plant::Creep, Kind::Old, "tied in an empty heap grows: "),
        (
            Plant::Ratio,
            Kind::Old,
            "what is tied over what blocks have grows: ",
        ),
        (Plant::Leak, Kind::Old, "blocks are in use, and there are"),
        (
            Plant::Stays,
            Kind::Reset,
            "bytes are in use, and there are no blocks",
        ),
        (
            Plant::Size,
            Kind::Grows(2 * POOL),
            "bytes after it was to grow to",
        ),
        (
            Plant::Shrinks,
            Kind::Grows(2 * POOL),
            "outside of the bytes",
        ),
        (Plant::Fails, Kind::Old, "the emulator found"),
    ] {
        let mut worker = worker(kind, plant);
        let fault = cycles(&mut worker, 60).expect_err(part).to_string();
        assert!(fault.contains(part), "{plant:?}: no `{part}` in: {fault}");
    }
}

/// A heap of one unit is full with one small block, for blocks of other sizes.
#[test]
fn a_small_block_may_tie_a_unit() {
    let since = Since {
        asked: 1000,
        largest: 600,
        requests: 2,
    };
    assert_eq!(since.tied(100, 8192), 100 + 2000 + 2 * 8192);
    let many = Since {
        requests: 1000,
        ..since
    };
    assert_eq!(many.tied(100, 8192), 100 + 2000 + UNFILLED * 8192);
}

/// What an allocator that never frees has in use are not the blocks that are there.
#[test]
fn a_heap_that_never_frees_is_made_fresh_each_cycle() {
    let mut worker = worker(Kind::Old, Plant::Never);
    worker.facts.frees = false;
    cycles(&mut worker, 5).expect("all is right");
    assert!(worker.ratio.last().is_none() && worker.empty.last().is_none());
}
