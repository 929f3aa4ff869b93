//! Blocks that move out of nearly empty regions.

use super::{ROOMY, Subject};
use crate::heap::{Failures, begin_compaction, end_compaction, free, malloc, relocate};
use crate::{Site, TestHeap};

/// Lanes of a launch that begins or ends a compaction.
const SHARES: usize = 96;

/// Begins a compaction of what is less than so full, and gives the number of regions that are to be left.
pub fn begin<A: Subject>(heap: &mut TestHeap<'_, A>, percent: u32) -> u32 {
    let program: Vec<_> = (0..SHARES)
        .map(|index| vec![begin_compaction(percent, index, SHARES)])
        .collect();
    let outcomes = heap.run(&program, Failures::None);
    outcomes.iter().flatten().map(|begun| begun.granule).sum()
}

/// Ends it.
pub fn end<A: Subject>(heap: &mut TestHeap<'_, A>) {
    let program: Vec<_> = (0..SHARES)
        .map(|index| vec![end_compaction(index, SHARES)])
        .collect();
    heap.run(&program, Failures::None);
}

/// Lets every block move.
pub fn move_all<A: Subject>(heap: &mut TestHeap<'_, A>) {
    let taken = heap.taken();
    let program: Vec<_> = taken.into_iter().map(|slot| vec![relocate(slot)]).collect();
    heap.run(&program, Failures::None);
}

/// A compaction moves blocks with what they hold, and no more is tied up afterwards; the heap works as before, also while it is under way.
pub fn keeps_contents<A: Subject>(site: &Site) {
    let lanes = 1500;
    let mut heap = TestHeap::<A>::new(site, ROOMY, 2 * lanes);
    let sizes = [16, 100, 500, 64, 3000, 16_000];
    let ask = |slot: usize| {
        vec![malloc(
            slot,
            sizes[slot % sizes.len()].min(A::CAPS.max_size),
        )]
    };
    let program: Vec<_> = (0..lanes).map(ask).collect();
    heap.run(&program, Failures::None);
    let program: Vec<_> = (0..lanes)
        .map(|slot| match slot % 7 {
            0 => vec![],
            _ => vec![free(slot)],
        })
        .collect();
    heap.run(&program, Failures::None);
    let tied = |heap: &TestHeap<'_, A>| heap.pool.stats().expect("stats").usage;
    let before = tied(&heap);
    let marked = begin(&mut heap, 60);
    assert!(A::COMPACTS || marked == 0, "{marked} marked");
    assert_eq!(tied(&heap), before, "a mark is not a use");
    move_all(&mut heap);
    let moved = tied(&heap);
    if A::CAPS.frees {
        assert_eq!(moved.used_bytes, before.used_bytes, "{marked} marked");
    }
    end(&mut heap);
    let after = tied(&heap);
    if A::CAPS.frees {
        assert_eq!(after.used_bytes, before.used_bytes, "{marked} marked");
    }
    assert!(
        after.committed_bytes <= before.committed_bytes,
        "{marked} marked: {after:?} instead of {before:?}"
    );
    heap.check_all();

    // Begun and not ended, with blocks that come and go.
    begin(&mut heap, 90);
    let program: Vec<_> = (lanes..2 * lanes).map(ask).collect();
    heap.run(&program, Failures::None);
    let program: Vec<_> = heap
        .taken()
        .into_iter()
        .map(|slot| match slot % 3 {
            0 => vec![free(slot)],
            _ => vec![relocate(slot)],
        })
        .collect();
    heap.run(&program, Failures::None);
    end(&mut heap);
    heap.check_all();
    heap.free_all(&heap.taken(), 50);
    if A::CAPS.frees {
        let usage = tied(&heap);
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}
