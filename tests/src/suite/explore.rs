//! Programs under schedules that the emulator explores.
//!
//! A few small warps on a heap that is soon full, so that lanes meet on the same words. Every failure
//! tells the seed and the width with which it happens again.

use super::lifetime::hand_over;
use super::{Subject, least, tight, usable, warp};
use crate::heap::{Failures, begin_compaction, check, end_compaction, free, op, realloc, relocate};
use crate::{Site, TestHeap};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use warpheap_test_kernels::program::{CALLOC, MALLOC, Op};
use warpheap_test_kernels::warp::ABSENT;

/// Runs with `seeds` seeds at one warp width.
pub fn schedules<A: Subject>(width: u32, seeds: Range<u64>) {
    schedules_on::<A>(Site::explored, width, seeds);
}

/// The same on devices that `site` makes of a width and a seed.
pub fn schedules_on<A: Subject>(site: fn(u32, u64) -> Site, width: u32, seeds: Range<u64>) {
    for seed in seeds {
        let run = AssertUnwindSafe(|| one_schedule::<A>(site(width, seed), width, seed));
        if let Err(panic) = catch_unwind(run) {
            eprintln!(
                "the failing schedule: {} at width {width}, seed {seed}",
                A::NAME
            );
            resume_unwind(panic);
        }
    }
}

fn one_schedule<A: Subject>(site: Site, width: u32, seed: u64) {
    let mut dice = SmallRng::seed_from_u64(seed ^ (width as u64) << 32);
    let warps = if width > 16 {
        2
    } else {
        dice.random_range(2..=4)
    };
    // The last warp is not always full.
    let lanes = (width * warps - dice.random_range(0..width)) as usize;
    // From the smallest heap of all to one with room for a few blocks of each lane.
    let bytes = match dice.random_range(0..3) {
        0 => least::<A>(),
        1 => least::<A>() + (dice.random_range(0..16 << 10) & !15),
        _ => tight::<A>(),
    };
    match seed % 5 {
        0 => {
            let pool = site.device.reserve::<A>(bytes).expect("a heap");
            // Of one size, too: whole warps ask for that in another way.
            let range = [300, 0][dice.random_range(0..2)];
            hand_over(&site, &pool, lanes as u32, 3, seed as u32, range);
        }
        1 => {
            let pool = site.device.reserve::<A>(bytes).expect("a heap");
            let absent = dice.random_range(0..8);
            let share = (usable(&pool) / lanes as u64).min(A::CAPS.max_size - 100);
            let size = [16, 100, share as u32][dice.random_range(0..3)];
            let absent = if absent < 4 { absent } else { ABSENT };
            let spread = dice.random_range(0..50);
            warp::call(&site, &pool, lanes, 2, size, spread, absent);
        }
        2 => {
            let mut heap = TestHeap::<A>::new(&site, bytes, lanes * EACH);
            churn(&mut heap, &mut dice, lanes, width * warps);
        }
        3 => {
            let lanes = (width * warps) as usize;
            let mut heap = TestHeap::<A>::new(&site, bytes, lanes * EACH);
            flood(&mut heap, &mut dice, lanes);
        }
        _ => {
            let mut heap = TestHeap::<A>::new(&site, bytes, lanes);
            alternate(&mut heap, &mut dice, lanes, width * warps);
        }
    }
}

/// Slots of each lane in [`churn`] and [`flood`].
const EACH: usize = 3;

/// Two launches, then all is freed.
fn run_twice<A: Subject>(
    heap: &mut TestHeap<'_, A>,
    lanes: usize,
    mut program: impl FnMut(usize) -> Vec<Op>,
) {
    for _ in 0..2 {
        let program: Vec<Vec<Op>> = (0..lanes).map(&mut program).collect();
        heap.run(&program, Failures::Any);
    }
    heap.free_all(&heap.taken(), lanes);
    if A::CAPS.frees {
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}

/// All lanes in one block, or one block for each warp.
fn some_block_dim<A>(heap: &TestHeap<'_, A>, dice: &mut SmallRng, all: u32) -> u32 {
    match dice.random() {
        true => all,
        false => heap.site.device.info().warp_width,
    }
}

/// Every lane has one block after the other, of a few sizes: the same memory changes what it is used
/// for again and again.
fn alternate<A: Subject>(
    heap: &mut TestHeap<'_, A>,
    dice: &mut SmallRng,
    lanes: usize,
    block_dim: u32,
) {
    heap.block_dim = some_block_dim(heap, dice, block_dim);
    let sizes: [u64; 2] = [dice.random_range(0..300), dice.random_range(100..3000)];
    run_twice(heap, lanes, |lane| {
        let mut ops = Vec::new();
        for _ in 0..5 {
            ops.push(op(MALLOC, lane, sizes[dice.random_range(0..2)], 16));
            ops.push(free(lane));
        }
        ops
    });
}

/// Lanes of whole warps ask for the same small size; some of them free one and ask again.
fn flood<A: Subject>(heap: &mut TestHeap<'_, A>, dice: &mut SmallRng, lanes: usize) {
    heap.block_dim = some_block_dim(heap, dice, lanes as u32);
    let size = 16 << dice.random_range(0..3);
    run_twice(heap, lanes, |lane| {
        let slots = lane * EACH..(lane + 1) * EACH;
        let mut ops: Vec<Op> = slots.map(|slot| op(MALLOC, slot, size, 16)).collect();
        if dice.random() {
            ops.extend([free(lane * EACH), op(MALLOC, lane * EACH, size, 16)]);
        }
        ops
    });
}

/// Random actions of every lane.
fn churn<A: Subject>(
    heap: &mut TestHeap<'_, A>,
    dice: &mut SmallRng,
    lanes: usize,
    block_dim: u32,
) {
    heap.block_dim = some_block_dim(heap, dice, block_dim);
    let room = usable(&heap.pool);
    let sizes = [
        16,
        48,
        dice.random_range(0..200),
        dice.random_range(1000..5000),
        room / 16,
        room / 5,
    ];
    run_twice(heap, lanes, |lane| {
        let mut one = || {
            let slot = lane * EACH + dice.random_range(0..EACH);
            let size = sizes[dice.random_range(0..sizes.len())];
            match dice.random_range(0..14) {
                0..=3 => op(MALLOC, slot, size, 16),
                10..=11 => relocate(slot),
                12 => begin_compaction(50, dice.random_range(0..3), 3),
                13 => end_compaction(dice.random_range(0..3), 3),
                4 => op(CALLOC, slot, size.min(5000), 1 << dice.random_range(0..8)),
                5 => realloc(slot, size),
                6 => check(slot),
                _ => free(slot),
            }
        };
        (0..6).map(|_| one()).collect()
    });
}
