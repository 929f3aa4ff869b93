//! Realloc.

use super::{ROOMY, Subject, tight, usable};
use crate::heap::{Failures, check, free, malloc, op, realloc};
use crate::{Site, TestHeap};
use warpheap_test_kernels::program::{CALLOC, MALLOC, OK, Op};

/// Blocks that grow and shrink keep their first bytes and their alignment.
pub fn grows_and_shrinks<A: Subject>(site: &Site) {
    let lanes = 96;
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes);
    let sizes = [10, 100, 5, 4096, 0, 1, 16, 17, 3000, 3001, 9000, 31];
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let kind = if lane % 2 == 0 { MALLOC } else { CALLOC };
            let mut ops = vec![op(kind, lane, 40, 1 << (lane % 8))];
            ops.extend((0..sizes.len()).map(|i| realloc(lane, sizes[(i + lane) % sizes.len()])));
            ops.push(check(lane));
            ops
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
    heap.free_all(&heap.taken(), 5);
    if A::CAPS.frees {
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}

/// A resize that fails leaves the block as it was, to be used and freed.
pub fn keeps_block_on_failure<A: Subject>(site: &Site) {
    let lanes = 40;
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), lanes);
    let whole = usable(&heap.pool);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            vec![
                malloc(lane, 100),
                realloc(lane, whole + 16),
                check(lane),
                realloc(lane, u32::MAX as u64),
                check(lane),
                realloc(lane, 60),
                check(lane),
            ]
        })
        .collect();
    let outcomes = heap.run(&program, Failures::Any);
    for lane in outcomes {
        let codes: Vec<u32> = lane.iter().map(|outcome| outcome.code).collect();
        assert_eq!([codes[0], codes[5]], [OK; 2], "{codes:?}");
        assert!(codes[1] != OK && codes[3] != OK, "{codes:?}");
    }
    heap.run(&vec![vec![]; 1], Failures::None);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| vec![free(lanes - 1 - lane)])
        .collect();
    heap.run(&program, Failures::None);
}
