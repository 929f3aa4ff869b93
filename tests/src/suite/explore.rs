//! Programs under schedules that the emulator explores.
//!
//! A few small warps on a heap that is soon full, so that lanes meet on the same words. Every failure
//! tells the seed and the width with which it happens again.

use super::lifetime::hand_over;
use super::{Subject, tight, usable, warp};
use crate::heap::{Failures, check, free, op, realloc};
use crate::{Site, TestHeap};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use warpheap_test_kernels::program::{CALLOC, MALLOC, Op};
use warpheap_test_kernels::warp::ABSENT;

/// Runs with `seeds` seeds at one warp width.
pub fn schedules<A: Subject>(width: u32, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let run = AssertUnwindSafe(|| one_schedule::<A>(width, seed));
        if let Err(panic) = catch_unwind(run) {
            eprintln!(
                "the failing schedule: {} at width {width}, seed {seed}",
                A::NAME
            );
            resume_unwind(panic);
        }
    }
}

fn one_schedule<A: Subject>(width: u32, seed: u64) {
    let site = Site::explored(width, seed);
    let mut dice = SmallRng::seed_from_u64(seed ^ (width as u64) << 32);
    let warps = if width > 16 {
        2
    } else {
        dice.random_range(2..=4)
    };
    // The last warp is not always full.
    let lanes = (width * warps - dice.random_range(0..width)) as usize;
    match seed % 4 {
        0 => {
            let pool = site.device.reserve::<A>(tight::<A>()).expect("a heap");
            hand_over(&site, &pool, lanes as u32, 3, seed as u32);
        }
        1 => {
            let pool = site.device.reserve::<A>(tight::<A>()).expect("a heap");
            let absent = dice.random_range(0..8);
            let size = [16, 100, (usable(&pool) / lanes as u64) as u32][dice.random_range(0..3)];
            let absent = if absent < 4 { absent } else { ABSENT };
            warp::call(
                &site,
                &pool,
                lanes,
                2,
                size,
                dice.random_range(0..50),
                absent,
            );
        }
        _ => churn::<A>(&site, &mut dice, lanes, width * warps),
    }
}

/// Random actions of every lane, in two launches.
fn churn<A: Subject>(site: &Site, dice: &mut SmallRng, lanes: usize, block_dim: u32) {
    const EACH: usize = 3;
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), lanes * EACH);
    // All lanes in one block, or one block for each warp.
    heap.block_dim = match dice.random() {
        true => block_dim,
        false => site.device.info().warp_width,
    };
    let room = usable(&heap.pool);
    let sizes = [
        16,
        48,
        dice.random_range(0..200),
        dice.random_range(1000..5000),
        room / 16,
        room / 5,
    ];
    for _ in 0..2 {
        let program: Vec<Vec<Op>> = (0..lanes)
            .map(|lane| {
                let mut one = || {
                    let slot = lane * EACH + dice.random_range(0..EACH);
                    let size = sizes[dice.random_range(0..sizes.len())];
                    match dice.random_range(0..10) {
                        0..=3 => op(MALLOC, slot, size, 16),
                        4 => op(CALLOC, slot, size.min(5000), 1 << dice.random_range(0..8)),
                        5 => realloc(slot, size),
                        6 => check(slot),
                        _ => free(slot),
                    }
                };
                (0..6).map(|_| one()).collect()
            })
            .collect();
        heap.run(&program, Failures::Any);
    }
    heap.free_all(&heap.taken(), lanes);
    if A::CAPS.frees {
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}
