//! What allocators promise that only move forward: a lane fails if there is no room for it and not otherwise,
//! however many ask for however much at the same time.

use super::{Subject, usable};
use crate::heap::{Failures, malloc, op};
use crate::{Site, TestHeap};
use warpheap_test_kernels::program::{MALLOC, OK, Op};

/// Makes tests of this module's functions; `fn site() -> Option<Site>` must be in scope.
#[macro_export]
macro_rules! forward_tests {
    () => {
        mod forward_only {
            use super::site;
            use $crate::forward_tests;
            ::warpheap_rt::for_each_allocator_without_frees! { forward_tests }
        }
    };
    ($($allocator:ident),*) => {$(
        #[allow(non_snake_case)]
        mod $allocator {
            use warpheap_rt::alloc::$allocator as Allocator;
            $crate::tests_of! { Allocator:
                forward: large_blocks_for_all, large_among_small, to_the_last_block;
            }
        }
    )*};
}

/// More than a lane adds to a pointer without a look before.
const LARGE: u64 = 100_000;

/// As many lanes as possible ask for a large block, all at the same time, and there is room for all.
pub fn large_blocks_for_all<A: Subject>(site: &Site) {
    let lanes = site.many_lanes();
    let mut heap = TestHeap::<A>::new(site, (lanes as u64 + 1) * (LARGE + 4096), lanes);
    let program: Vec<Vec<Op>> = (0..lanes).map(|lane| vec![malloc(lane, LARGE)]).collect();
    heap.run(&program, Failures::None);
    heap.check_all();
}

/// So do a few of each warp, aligned or not, between others that ask for little.
pub fn large_among_small<A: Subject>(site: &Site) {
    let (lanes, each) = (site.many_lanes(), 2);
    let align = |lane: usize| 16 << (lane % 13);
    let size = |lane: usize, i: usize| match (lane + 3 * i) % 7 {
        0 => LARGE / 2 + lane as u64 % 1000,
        part => part as u64 * 30,
    };
    let all = (0..lanes * each).map(|n| size(n / each, n % each) + align(n / each) as u64 + 4096);
    let mut heap = TestHeap::<A>::new(site, all.sum::<u64>() & !15, lanes * each);
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let one = |i| op(MALLOC, lane * each + i, size(lane, i), align(lane));
            (0..each).map(one).collect()
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
}

/// Of more requests than there is room for exactly as many are served as fit, large ones and small ones.
pub fn to_the_last_block<A: Subject>(site: &Site) {
    let lanes = site.many_lanes();
    for size in [LARGE / 64 * 64, 4096] {
        let room = lanes as u64 * size * 3 / 4;
        let mut heap = TestHeap::<A>::new(site, room & !15, lanes);
        let fit = (usable(&heap.pool) / size) as usize;
        let program: Vec<Vec<Op>> = (0..lanes).map(|lane| vec![malloc(lane, size)]).collect();
        let outcomes = heap.run(&program, Failures::Exhausted);
        let served = outcomes.iter().flatten().filter(|one| one.code == OK);
        assert_eq!(served.count(), fit, "{}: blocks of {size} bytes", A::NAME);
        heap.check_all();
    }
}
