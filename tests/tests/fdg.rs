//! What FDGMalloc promises, over two backing allocators, with and without super blocks: in the emulator at
//! all warp widths and under explored schedules, and on the GPUs that are there.

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use warpheap_api::AllocError;
use warpheap_api::host::{DeviceVec, LaunchConfig};
use warpheap_rt::alloc::{ScatterAlloc, WarpHeap};
use warpheap_test_kernels::arena::{
    AFTER_END, ArenaPlan, BORROWED, END, ENDED_TWICE, HAND_OVER, LEAVE_OPEN, NEVER_STARTED,
};
use warpheap_tests::Site;
use warpheap_tests::arena::{ABSENT, Backing, Run};
use warpheap_tests::suite::{ROOMY, least};

/// Every lane takes part: no index leaves this rest.
const ALL: u32 = 4;
const UNSUPPORTED: u32 = AllocError::Unsupported.code();

const PLAN: ArenaPlan = ArenaPlan {
    rounds: 3,
    each: 5,
    least: 1,
    range: 300,
    aligns: 0,
    seed: 7,
    absent: ALL,
    finish: END,
};

/// Blocks that a plan asks for in one round.
fn asked(plan: ArenaPlan, lanes: u32) -> usize {
    let lanes = (0..lanes).filter(|lane| lane % 4 != plan.absent);
    lanes
        .map(|lane| (plan.each - lane % 3 % (plan.each + 1)) as usize)
        .sum()
}

/// Runs a plan on a heap with room for it.
fn roomy<B: Backing>(site: &Site, super_block_bytes: u32, lanes: u32, plan: ArenaPlan) {
    let mut run = Run::<B>::new(site, ROOMY, super_block_bytes, lanes, plan.each);
    for finish in [END, HAND_OVER] {
        let plan = ArenaPlan { finish, ..plan };
        let (mut rows, blocks) = run.rounds(plan);
        let codes: Vec<u32> = blocks.iter().map(|block| block.code).collect();
        assert!(codes.iter().all(|&code| code == 0), "{codes:?}");
        let got = run.judge(&rows, &blocks, finish == HAND_OVER);
        assert_eq!(got, asked(plan, lanes));
        if finish == HAND_OVER {
            rows = run.resumes(plan).0;
            run.judge(&rows, &[], false);
        }
        // Each clean-up of each warp has last lanes.
        let width = site.device.info().warp_width;
        for block in rows.chunks(run.block_dim as usize) {
            for warp in block.chunks(width as usize) {
                let part: Vec<_> = warp.iter().filter(|row| row.code != ABSENT).collect();
                let last: u32 = part.iter().map(|row| row.last).sum();
                assert!(part.is_empty() || last >= plan.rounds, "{part:?}");
            }
        }
        run.is_clean();
    }
}

/// Everything that has to hold on a device, over one backing allocator.
fn all<B: Backing>(site: &Site) {
    // The paper's super blocks, small ones that are full at every call, and none.
    for super_block_bytes in [32 << 10, 1 << 10, 0] {
        let mix = ArenaPlan { aligns: 3, ..PLAN };
        let some = ArenaPlan { absent: 1, ..PLAN };
        let large = ArenaPlan {
            least: 2000,
            range: 20_000,
            each: 3,
            ..PLAN
        };
        for plan in [PLAN, mix, some, large] {
            roomy::<B>(site, super_block_bytes, 330, plan);
        }
    }
    lists_continue::<B>(site);
    handed_over::<B>(site);
    misuses::<B>(site);
    missing_end::<B>(site);
    full::<B>(site);
    super_blocks_are_shared::<B>(site);
}

/// More blocks from the backing allocator than a list has entries, several times over.
fn lists_continue<B: Backing>(site: &Site) {
    let plan = ArenaPlan {
        each: 300,
        range: 60,
        rounds: 2,
        ..PLAN
    };
    for super_block_bytes in [64, 0] {
        roomy::<B>(site, super_block_bytes, 6, plan);
    }
}

/// Blocks live until the kernel that took their arena over ends it; it is taken over once.
fn handed_over<B: Backing>(site: &Site) {
    for super_block_bytes in [2 << 10, 0] {
        let plan = ArenaPlan {
            finish: HAND_OVER,
            absent: 2,
            ..PLAN
        };
        let mut run = Run::<B>::new(site, ROOMY, super_block_bytes, 210, plan.each);
        let (rows, blocks) = run.rounds(plan);
        run.judge(&rows, &blocks, true);
        let open = run.counts().open.expect("they are counted");
        let mut handles: Vec<u32> = rows.iter().map(|row| row.handle.granule()).collect();
        handles.retain(|&handle| handle != u32::MAX);
        assert_eq!(handles.len(), 210 * 3 / 4 + 1, "all lanes have a handle");
        handles.sort_unstable();
        handles.dedup();
        assert_eq!(handles.len(), open as usize, "one arena for each warp");
        assert!(run.used() > 0);
        let (rows, blocks) = run.resumes(plan);
        assert!(rows.iter().all(|row| [0, ABSENT].contains(&row.code)));
        assert_eq!(run.judge(&rows, &blocks, false), 2 * asked(plan, 210));
        run.is_clean();
        let (rows, _) = run.resumes(plan);
        assert!(
            rows.iter()
                .all(|row| [UNSUPPORTED, ABSENT].contains(&row.code))
        );
        assert_eq!(run.counts().misuses, 210 * 3 / 4 + 1);
    }
}

/// Calls of lanes that have no part in an arena are refused and counted, and harm nobody.
fn misuses<B: Backing>(site: &Site) {
    let width = site.device.info().warp_width;
    let lanes = (3 * width).max(12);
    let config = LaunchConfig {
        grid_dim: 1,
        block_dim: lanes,
    };
    for kind in [NEVER_STARTED, BORROWED, AFTER_END, ENDED_TWICE] {
        let run = Run::<B>::new(site, ROOMY, 32 << 10, 1, 1);
        let codes = vec![0u32; 3 * lanes as usize];
        let codes = DeviceVec::from_slice(&site.device, &codes).expect("codes");
        site.kernels
            .arena_misuses(&run.pool, config, &codes, kind)
            .expect("it runs");
        let codes = codes.to_vec().expect("codes");
        let mut misuses = 0;
        for (lane, codes) in codes.chunks(3).enumerate() {
            let odd = lane as u32 % width % 2 == 1;
            // What is refused: requests, ends.
            let (first, second, ends) = match kind {
                NEVER_STARTED | BORROWED => (odd, false, odd as u32),
                AFTER_END => (false, true, 0),
                _ => (false, false, odd as u32),
            };
            let code = |refused: bool| if refused { UNSUPPORTED } else { 0 };
            assert_eq!(
                codes[..2],
                [code(first), code(second)],
                "{kind}, lane {lane}"
            );
            misuses += first as u32 + second as u32 + ends;
        }
        assert_eq!(
            run.counts().misuses,
            misuses,
            "kind {kind} at width {width}"
        );
        // Those who did right have ended their arenas.
        assert_eq!(run.counts().open, Some(0), "kind {kind}");
        assert_eq!(run.used(), 0, "kind {kind}");
    }
}

/// An arena that nobody ended is counted, and its memory is in use.
fn missing_end<B: Backing>(site: &Site) {
    let plan = ArenaPlan {
        finish: LEAVE_OPEN,
        ..PLAN
    };
    let mut run = Run::<B>::new(site, ROOMY, 32 << 10, 100, plan.each);
    run.rounds(plan);
    let warps = 100u32.div_ceil(site.device.info().warp_width);
    assert!(run.counts().open >= Some(warps));
    assert!(run.used() > 0);
}

/// On a heap that is too small some requests or starts fail; once all arenas have ended it is empty.
fn full<B: Backing>(site: &Site) {
    for (super_block_bytes, room) in [(4 << 10, 128 << 10), (0, 96 << 10), (64 << 10, 200 << 10)] {
        let plan = ArenaPlan {
            range: 900,
            each: 8,
            finish: HAND_OVER,
            ..PLAN
        };
        let bytes = least::<B>() + room;
        let mut run = Run::<B>::new(site, bytes, super_block_bytes, 200, plan.each);
        for _ in 0..2 {
            let (rows, blocks) = run.rounds(plan);
            let got = run.judge(&rows, &blocks, true);
            let refused = blocks.iter().filter(|block| block.code != 0).count();
            let shut = rows.iter().filter(|row| row.code != 0).count();
            assert!(refused + shut > 0, "{got}: the heap is too large");
            assert!(got > 0 && rows.iter().all(|row| row.code < UNSUPPORTED));
            assert!(blocks.iter().all(|block| block.code < UNSUPPORTED));
            let (rows, blocks) = run.resumes(plan);
            run.judge(&rows, &blocks, false);
            assert_eq!((run.used(), run.counts().open), (0, Some(0)));
        }
    }
}

/// With super blocks a warp asks the backing allocator once for many blocks, without for each call.
fn super_blocks_are_shared<B: Backing>(site: &Site) {
    let plan = ArenaPlan {
        rounds: 1,
        each: 20,
        range: 0,
        least: 48,
        finish: LEAVE_OPEN,
        ..PLAN
    };
    let blocks_of = |super_block_bytes| {
        let mut run = Run::<B>::new(site, ROOMY, super_block_bytes, 1, plan.each);
        run.rounds(plan);
        let blocks = run.pool.stats().expect("stats").usage.live_blocks;
        blocks.expect("the backing allocators count blocks")
    };
    // A header, and one super block or a block for each request.
    assert_eq!((blocks_of(32 << 10), blocks_of(0)), (2, 21));
}

macro_rules! at_widths {
    ($($name:ident: $backing:ident $width:literal;)*) => {$(
        #[test]
        fn $name() {
            all::<$backing>(&Site::host($width));
        }
    )*};
}

at_widths! {
    warp_heap_width_1: WarpHeap 1;
    warp_heap_width_4: WarpHeap 4;
    warp_heap_width_8: WarpHeap 8;
    warp_heap_width_32: WarpHeap 32;
    warp_heap_width_64: WarpHeap 64;
    scatter_width_1: ScatterAlloc 1;
    scatter_width_4: ScatterAlloc 4;
    scatter_width_8: ScatterAlloc 8;
    scatter_width_32: ScatterAlloc 32;
    scatter_width_64: ScatterAlloc 64;
}

#[cfg(any(feature = "cuda", feature = "vulkan"))]
macro_rules! on_gpus {
    ($($name:ident: $backing:ident $site:ident $feature:literal;)*) => {$(
        #[cfg(feature = $feature)]
        #[test]
        fn $name() {
            if let Some(site) = Site::$site() {
                all::<$backing>(&site);
            }
        }
    )*};
}

#[cfg(any(feature = "cuda", feature = "vulkan"))]
on_gpus! {
    warp_heap_on_vulkan: WarpHeap vulkan "vulkan";
    warp_heap_on_cuda: WarpHeap cuda "cuda";
}

/// One explored schedule: small warps, small super blocks, heaps that may be full.
fn one_schedule<B: Backing>(width: u32, seed: u64, with_super_blocks: bool) {
    let site = Site::explored(width, seed);
    let mut dice = SmallRng::seed_from_u64(seed ^ (width as u64) << 32);
    let super_block_bytes = match with_super_blocks {
        true => [64, 512, 4096][dice.random_range(0..3)],
        false => 0,
    };
    let plan = ArenaPlan {
        rounds: dice.random_range(1..=3),
        each: dice.random_range(1..=4),
        range: [0, 100, 2000][dice.random_range(0..3)],
        aligns: dice.random_range(0..=3),
        absent: dice.random_range(0..8),
        seed: seed as u32,
        finish: dice.random_range(END..=HAND_OVER),
        ..PLAN
    };
    let lanes = dice.random_range(1..=2 * width);
    let room = dice.random_range(1u64 << 10..256 << 10) & !15;
    let mut run = Run::<B>::new(
        &site,
        least::<B>() + room,
        super_block_bytes,
        lanes,
        plan.each,
    );
    run.block_dim = lanes.min(100);
    let (rows, blocks) = run.rounds(plan);
    run.judge(&rows, &blocks, plan.finish == HAND_OVER);
    if plan.finish == HAND_OVER && rows.iter().all(|row| [0, ABSENT].contains(&row.code)) {
        let (rows, blocks) = run.resumes(plan);
        run.judge(&rows, &blocks, false);
    }
    if plan.finish == END {
        run.is_clean();
    }
}

macro_rules! explored {
    ($($name:ident: $backing:ident $with:literal;)*) => {$(
        #[test]
        fn $name() {
            for seed in 0..250u64 {
                let width = [1, 4, 8, 32, 64][seed as usize % 5];
                let run = AssertUnwindSafe(|| one_schedule::<$backing>(width, seed, $with));
                if let Err(panic) = catch_unwind(run) {
                    eprintln!("the failing schedule: width {width}, seed {seed}");
                    resume_unwind(panic);
                }
            }
        }
    )*};
}

explored! {
    explored_over_warp_heap: WarpHeap true;
    explored_over_warp_heap_without_super_blocks: WarpHeap false;
    explored_over_scatter: ScatterAlloc true;
    explored_over_scatter_without_super_blocks: ScatterAlloc false;
}
