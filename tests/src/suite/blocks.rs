//! Blocks are as large and as aligned as asked for, disjoint, and keep their contents.

use super::{ROOMY, Subject, roomy};
use crate::heap::{Failures, any_malloc, check, free, malloc, op};
use crate::{Site, TestHeap};
use warpheap_api::AllocError;
use warpheap_test_kernels::program::{ARRAY, CALLOC, MALLOC, OK, Op};

/// Sizes at which allocators change what they do: around powers of two, around pages and parts of
/// them; up to 1 MiB.
pub fn class_edges() -> Vec<u64> {
    let mut sizes = vec![0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13];
    for power in 4..=20 {
        let size = 1u64 << power;
        sizes.extend([size - 1, size, size + 1, size + size / 2 + 1]);
    }
    // A page and what is left of it beside some bookkeeping; parts of a page down to 1/32 and
    // 1/1024; several pages.
    for page in [4096u64, 8192] {
        for parts in [1, 2, 3, 5, 31, 32, 33, 255, 256, 257] {
            let part = page / parts;
            sizes.extend([part - 4, part, part + 4]);
        }
        sizes.extend([page - 64, page - 32, page - 16, 3 * page, 3 * page + 1]);
    }
    sizes.sort_unstable();
    sizes.dedup();
    sizes
}

/// The class edges that the allocator serves.
fn sizes_of<A: Subject>() -> Vec<u64> {
    let mut sizes = class_edges();
    sizes.retain(|&size| size <= A::CAPS.max_size);
    sizes
}

/// Every alignment up to the greatest is honoured, in every lane with another one; greater ones are
/// refused.
pub fn alignments<A: Subject>(site: &Site) {
    let mut aligns: Vec<u32> = (0..=A::CAPS.max_align.ilog2()).map(|i| 1 << i).collect();
    assert!(aligns.len() >= 5, "a granule's alignment at least");
    if let Some(beyond) = A::CAPS.max_align.checked_mul(2) {
        aligns.push(beyond);
    }
    let (lanes, each) = (40, aligns.len());
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * each);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let size = |i: usize| [1, 24, 100, 16][(lane + i) % 4];
            let op = |i| {
                let align = aligns[(lane + i) % each];
                any_malloc(i, lane * each + i, size(i), align)
            };
            (0..each).map(op).collect()
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
    heap.free_all(&heap.taken(), 7);
}

/// All sizes up to 1 MiB where something changes, in lanes of the same warps.
pub fn sizes<A: Subject>(site: &Site) {
    let sizes = sizes_of::<A>();
    let lanes = sizes.len();
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * 2);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let (first, second) = (lane * 2, lane * 2 + 1);
            // Few of the large sizes at a time: half of the lanes give theirs back.
            let mut ops = vec![malloc(first, sizes[lane])];
            if lane % 2 == 0 {
                ops.push(free(first));
            }
            ops.push(malloc(second, sizes[lanes - 1 - lane]));
            ops
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
    heap.free_all(&heap.taken(), lanes);
}

/// Blocks of no bytes are blocks of their own.
pub fn zero_sizes<A: Subject>(site: &Site) {
    let (lanes, each) = (70, 5);
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * each);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let op = |i| any_malloc(i, lane * each + i, 0, 1);
            (0..each).map(op).collect()
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.free_all(&heap.taken(), lanes);
}

/// As many lanes as possible, each with several blocks of sizes that no neighbour asks for, some
/// given back in between.
pub fn mixed_sizes<A: Subject>(site: &Site) {
    let (lanes, each) = (site.many_lanes(), 4);
    let mut heap = TestHeap::<A>::new(site, roomy::<A>(lanes * each), lanes * each);
    let size = |lane: usize, i: usize| ((lane * 37 + i * 101) % 600) as u64;
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let slot = |i| lane * each + i;
            let mut ops: Vec<Op> = (0..each)
                .map(|i| any_malloc(i, slot(i), size(lane, i), 1 << (lane % 6)))
                .collect();
            ops.extend([free(slot(1)), check(slot(0)), free(slot(2))]);
            ops.extend([
                malloc(slot(2), size(lane, 7)),
                malloc(slot(1), size(lane, 9)),
            ]);
            ops.extend((0..each).map(|i| check(slot(i))));
            ops
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
}

/// Only some lanes allocate, in loops of different lengths.
pub fn divergent_callers<A: Subject>(site: &Site) {
    let (lanes, most) = (300, 9);
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * most);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let length = match lane % 4 {
                0 => 0,
                1 => 1,
                2 => lane % most,
                _ => most,
            };
            (0..length)
                .map(|i| malloc(lane * most + i, (lane % 3 * 100 + 20) as u64))
                .collect()
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
}

/// Memory from calloc is zero, also where other contents were before.
pub fn callocs<A: Subject>(site: &Site) {
    let (lanes, each) = (64, 6);
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * each);
    let all = |kind| -> Vec<Vec<Op>> {
        (0..lanes)
            .map(|lane| {
                let size = |i| [1, 3, 16, 30, 200, 5000][i % each];
                (0..each)
                    .map(|i| op(kind, lane * each + i, size(i + lane), 16))
                    .collect()
            })
            .collect()
    };
    // Write to the memory first, and give it back in both ways.
    heap.run(&all(MALLOC), Failures::None);
    heap.free_all(&heap.taken(), lanes);
    heap.run(&all(CALLOC), Failures::None);
    heap.check_all();
    heap.reset();
    heap.run(&all(CALLOC), Failures::None);
    heap.check_all();
}

/// Arrays have room for all their elements.
pub fn arrays<A: Subject>(site: &Site) {
    let (lanes, lengths) = (48, [0, 1, 2, 3, 40, 64, 65, 1000]);
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * lengths.len());
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let slot = |i| lane * lengths.len() + i;
            let op = |i: usize| op(ARRAY, slot(i), lengths[(i + lane) % lengths.len()], 1);
            (0..lengths.len()).map(op).collect()
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
    heap.free_all(&heap.taken(), lanes);
}

/// Requests that no heap serves are refused, by every lane of a warp, between others that are not.
pub fn absurd_requests<A: Subject>(site: &Site) {
    let lanes = 40;
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * 6);
    let beyond = u32::try_from(A::CAPS.max_size + 1).unwrap_or(u32::MAX);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let slot = |i| lane * 6 + i;
            vec![
                malloc(slot(0), 40),
                // 256 GiB: the size in bytes has more than 32 bits.
                op(ARRAY, slot(1), u32::MAX as u64, 1),
                malloc(slot(2), 40),
                malloc(slot(3), u32::MAX as u64),
                op(MALLOC, slot(4), beyond as u64, 16),
                // No alignment at all.
                op(MALLOC, slot(5), 16, 24),
                malloc(slot(5), 40),
            ]
        })
        .collect();
    let outcomes = heap.run(&program, Failures::Any);
    for lane in outcomes {
        let codes: Vec<u32> = lane.iter().map(|outcome| outcome.code).collect();
        assert_eq!([codes[0], codes[2], codes[6]], [OK; 3], "{codes:?}");
        for refused in [1, 5] {
            assert_eq!(codes[refused], AllocError::Unsupported.code(), "{codes:?}");
        }
        for refused in [3, 4] {
            assert_ne!(codes[refused], OK, "{codes:?}");
        }
    }
    heap.check_all();
}
