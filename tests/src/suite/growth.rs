//! Heaps that get another size between launches, where they lie; or that say that they cannot.

use super::{Subject, usable};
use crate::heap::{Failures, any_malloc, free, malloc, realloc};
use crate::{Site, TestHeap};
use warpheap_api::host::{
    DeviceBox, DeviceError, DeviceVec, Growth, HostAlloc, LaunchConfig, PlanError, Pool,
};
use warpheap_rt::device::HeapVec;
use warpheap_test_kernels::program::{OK, Op, Outcome};

/// The allocators whose heaps grow.
const GROWS: [&str; 3] = ["WarpHeap", "Bump", "DirectOutput"];

/// Bytes of a heap at first, and as many as it may come to have.
pub(super) const FIRST: u64 = 1 << 20;
const MOST: u64 = 16 << 20;
/// Bytes of blocks, of which the heap holds some hundred at first.
const BLOCK: u64 = 4000;

/// A pool that may grow; nothing if heaps of the allocator have one size, which they say.
pub(super) fn growing<A: HostAlloc>(site: &Site) -> Option<Pool<A>> {
    match site.device.reserve_growing::<A>(FIRST, MOST) {
        Ok(pool) => {
            assert!(GROWS.contains(&A::NAME));
            assert_eq!((pool.bytes(), pool.most_bytes()), (FIRST, MOST));
            Some(pool)
        }
        Err(DeviceError::Plan(PlanError::CannotGrow { allocator })) => {
            assert!(!GROWS.contains(&A::NAME) && allocator == A::NAME);
            None
        }
        Err(other) => panic!("{}: {other}", A::NAME),
    }
}

/// Fills all slots that are empty, as far as the heap has room: how many requests it refused.
fn fill<A: Subject>(heap: &mut TestHeap<'_, A>, size: u64) -> usize {
    let mut program: Vec<Vec<Op>> = vec![Vec::new(); 90];
    for (i, slot) in heap.empty().into_iter().enumerate() {
        program[i % 90].push(malloc(slot, size));
    }
    let outcomes = heap.run(&program, Failures::Any);
    refused(&outcomes)
}

fn refused(outcomes: &[Vec<Outcome>]) -> usize {
    let all = outcomes.iter().flatten();
    all.filter(|outcome| outcome.code != OK).count()
}

/// Fills the heap, which it does to more than half.
pub(super) fn fill_up<A: Subject>(heap: &mut TestHeap<'_, A>) {
    assert!(fill(heap, BLOCK) > 0, "more was handed out than there is");
    let (live, room) = (heap.live_bytes(), usable(&heap.pool));
    assert!(live * 2 > room, "{}: {live} of {room} bytes", A::NAME);
}

pub(super) fn grow<A: HostAlloc>(pool: &mut Pool<A>, bytes: u64) {
    pool.grow_to(bytes).expect("it grows");
    let stats = pool.stats().expect("stats");
    assert_eq!((pool.bytes(), stats.pool_bytes), (bytes, bytes));
    assert_eq!(stats.metadata_bytes, pool.metadata_bytes());
}

/// A full heap that grows keeps its blocks and hands out its new memory; all of it is free after frees, and after a reset.
pub fn while_full<A: Subject>(site: &Site) {
    let Some(pool) = growing::<A>(site) else {
        return;
    };
    let mut heap = TestHeap::over(site, pool, 2000);
    fill_up(&mut heap);
    for bytes in [2 * FIRST, 2 * FIRST + 100_000, 5 * FIRST] {
        let before = heap.pool.bytes();
        grow(&mut heap.pool, bytes);
        heap.check_all();
        fill_up(&mut heap);
        heap.check_all();
        let new = bytes - before;
        assert!(
            heap.end_of_blocks() > before || new < 256 << 10,
            "{}: nothing lies in the new memory",
            A::NAME
        );
    }
    if A::CAPS.frees {
        let all = heap.taken();
        heap.free_all(&all, 77);
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
        fill_up(&mut heap);
        heap.check_all();
    }
    heap.reset();
    assert_eq!(heap.pool.bytes(), 5 * FIRST);
    fill_up(&mut heap);
    heap.check_all();
}

/// A heap gives back what lies behind its last block, keeps all blocks, and grows again.
pub fn shrinks_to_blocks<A: Subject>(site: &Site) {
    let Some(mut pool) = growing::<A>(site) else {
        return;
    };
    grow(&mut pool, 5 * FIRST);
    let mut heap = TestHeap::over(site, pool, 2000);
    for round in 0..2 {
        fill_up(&mut heap);
        let full = heap.pool.bytes();
        heap.pool.shrink_to_fit().expect("it shrinks");
        assert!(heap.pool.bytes() >= heap.end_of_blocks());
        heap.check_all();
        if A::CAPS.frees {
            let slots = heap.taken().into_iter();
            let behind = slots.filter(|&slot| heap.start_of(slot) >= Some(2 * FIRST));
            let behind: Vec<usize> = behind.collect();
            heap.free_all(&behind, 50);
        } else {
            heap.reset();
            heap.run(&[vec![malloc(0, BLOCK)]], Failures::None);
        }
        let before = heap.pool.bytes();
        let given = heap.pool.shrink_to_fit().expect("it shrinks");
        let now = heap.pool.bytes();
        assert_eq!(before - now, given);
        let end = heap.end_of_blocks();
        assert!(
            given > 0 && now >= end && now <= end + (128 << 10),
            "{}: {now} bytes for blocks up to {end}, round {round}",
            A::NAME
        );
        let stats = heap.pool.stats().expect("stats");
        assert!(stats.usage.used_bytes <= now && stats.pool_bytes == now);
        heap.check_all();
        // What is there is full, and does not hand out what is gone.
        fill(&mut heap, BLOCK);
        heap.check_all();
        grow(&mut heap.pool, full);
        heap.check_all();
        assert_eq!(heap.pool.shrink_to_fit().map(drop).ok(), Some(()));
        grow(&mut heap.pool, full);
    }
    // An empty heap keeps some room.
    heap.reset();
    heap.pool.shrink_to_fit().expect("it shrinks");
    assert!(heap.pool.bytes() < FIRST);
    heap.run(&[vec![malloc(0, 16)]], Failures::None);
    heap.check_all();
}

/// Programs of all actions keep what they have while the heap grows and shrinks between them.
pub fn changes_in_between<A: Subject>(site: &Site) {
    let Some(pool) = growing::<A>(site) else {
        return;
    };
    let lanes = if site.compiles_slowly() { 100 } else { 250 };
    let mut heap = TestHeap::over(site, pool, lanes * 2);
    let mut random = 1u32;
    let mut next = |below: u64| {
        random = random.wrapping_mul(0x9e37_79b1).rotate_left(13) ^ 0x85eb_ca6b;
        (random >> 8) as u64 % below
    };
    for round in 0..12 {
        let program: Vec<Vec<Op>> = (0..lanes)
            .map(|lane| {
                let (one, other) = (lane * 2, lane * 2 + 1);
                // Blocks of slabs, of units and of runs.
                let size = match next(8) {
                    0 => next(90_000),
                    1 | 2 => next(9000),
                    _ => next(400),
                };
                match next(4) {
                    0 => vec![any_malloc(lane, one, size, 16), free(other)],
                    1 => vec![free(one), any_malloc(lane, other, size, 16)],
                    2 => vec![realloc(other, size)],
                    _ => vec![
                        any_malloc(lane, one, size, 16),
                        any_malloc(lane, other, size, 16),
                    ],
                }
            })
            .collect();
        heap.run(&program, Failures::Any);
        match round % 3 {
            0 => {
                let more = (FIRST + next(FIRST)) & !15;
                let bytes = (heap.pool.bytes() + more).min(MOST);
                grow(&mut heap.pool, bytes);
            }
            1 => {}
            _ => drop(heap.pool.shrink_to_fit().expect("it shrinks")),
        }
        heap.check_all();
    }
    if A::CAPS.frees {
        let all = heap.taken();
        heap.free_all(&all, 60);
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}

/// What the host owns in a heap stays, also what streams and launches of before work with.
pub fn host_keeps<A: Subject>(site: &Site) {
    let Some(mut pool) = growing::<A>(site) else {
        return;
    };
    let data: Vec<u32> = (0..5000).collect();
    let vec = DeviceVec::from_slice_in(&pool, &data).expect("a vector");
    let boxed = DeviceBox::new_in(&pool, [7u32, 8]).expect("a box");
    let launch = site
        .kernels
        .increment_launch(LaunchConfig::for_num_elems(5000), &vec);
    let stream = site.device.stream().expect("a stream");
    let queued = 40;
    for _ in 0..queued {
        launch.clone().on(&stream).expect("it is queued");
    }
    // What is queued comes first.
    grow(&mut pool, 3 * FIRST);
    assert!(stream.is_idle().expect("the device answers"));
    launch.clone().run().expect("it runs");
    launch.on(&stream).expect("it is queued");
    pool.shrink_to_fit().expect("it shrinks");
    grow(&mut pool, 2 * FIRST);
    let expected: Vec<u32> = data.iter().map(|value| value + queued + 2).collect();
    assert_eq!(vec.to_vec().expect("the vector"), expected);
    assert_eq!(boxed.get().expect("the box"), [7, 8]);
    stream.wait().expect("all ran");
    drop((vec, boxed));
    if A::CAPS.frees {
        assert_eq!(pool.stats().expect("stats").usage.used_bytes, 0);
    }
}

/// A launch that finds the heap full runs again in a larger one, until that may not grow either.
pub fn runs_again<A: Subject>(site: &Site) {
    let Some(mut pool) = growing::<A>(site) else {
        return;
    };
    let device = &site.device;
    let lanes = 64u32;
    let mut outers =
        DeviceVec::<HeapVec<HeapVec<u32>>>::zeroed(device, lanes as usize).expect("vectors");
    let inners = DeviceVec::<HeapVec<u32>>::zeroed(device, lanes as usize).expect("vectors");
    let shape = LaunchConfig {
        grid_dim: 2,
        block_dim: 48,
    };
    let nest = site
        .kernels
        .nest_launch(&pool, shape, &mut outers, &inners, 0);
    // Something large besides, so that few launches fill the heap.
    let ballast = usable(&pool) as usize / 4 * 3;
    let _ballast = DeviceVec::<u8>::uninit_in(&pool, ballast).expect("a vector");
    let growth = Growth::by(FIRST / 2).at_most(2 * FIRST);
    let mut grown = 0;
    let last = (0..20_000).find_map(|_| {
        let before = pool.bytes();
        let done = pool.launch_or_grow(&nest, growth);
        grown += (pool.bytes() != before) as u32;
        done.err()
    });
    match last {
        Some(DeviceError::Kernel(failure)) => assert!(failure.by_cause[0] > 0, "{failure}"),
        other => panic!("{}: {other:?}", A::NAME),
    }
    assert_eq!((pool.bytes(), grown), (2 * FIRST, 2), "{}", A::NAME);
    // Another heap's launch, and one without a heap.
    let other = device.reserve::<A>(FIRST).expect("a heap");
    let foreign = site
        .kernels
        .nest_launch(&other, shape, &mut outers, &inners, 0);
    let codes = DeviceVec::from_slice(device, &[1u32]).expect("codes");
    let without = site.kernels.fail_launch(shape, &codes);
    for launch in [foreign, without] {
        match pool.launch_or_grow(&launch, Growth::double()) {
            Err(DeviceError::BadLaunch { .. }) => {}
            other => panic!("{}: {other:?}", A::NAME),
        }
    }
    assert_eq!(pool.bytes(), 2 * FIRST);
}

/// Two heaps grow beside each other.
pub fn two_heaps<A: Subject>(site: &Site) {
    let (Some(one), Some(other)) = (growing::<A>(site), growing::<A>(site)) else {
        return;
    };
    let mut heaps = [one, other].map(|pool| TestHeap::over(site, pool, 700));
    for bytes in [FIRST, 2 * FIRST] {
        for heap in &mut heaps {
            grow(&mut heap.pool, bytes);
            fill_up(heap);
        }
        heaps.iter_mut().for_each(TestHeap::check_all);
    }
}

/// What cannot be is refused, and the heap is as before.
fn refused_sizes<A: Subject>(pool: &mut Pool<A>, sizes: &[u64]) {
    let before = (pool.bytes(), pool.raw().params());
    for &bytes in sizes {
        match pool.grow_to(bytes) {
            Err(
                DeviceError::CannotResize { .. }
                | DeviceError::OutOfMemory { .. }
                | DeviceError::TooLarge { .. },
            ) => {}
            other => panic!("{}: {bytes} bytes: {other:?}", A::NAME),
        }
        assert_eq!((pool.bytes(), pool.raw().params()), before);
    }
    pool.grow_to(before.0 / 2).expect("it has as many");
    assert_eq!(pool.bytes(), before.0);
}

/// Growth beyond what was reserved, or what the device has; and of heaps that were made with one size.
pub fn impossible<A: Subject>(site: &Site) {
    let mut fixed = site.device.reserve::<A>(super::ROOMY).expect("a heap");
    refused_sizes(&mut fixed, &[super::ROOMY + 16, u64::MAX]);
    match fixed.shrink_to_fit() {
        Err(DeviceError::CannotResize { why, .. }) => assert!(why.contains("reserve_growing")),
        other => panic!("{}: {other:?}", A::NAME),
    }
    assert_eq!(fixed.most_bytes(), super::ROOMY);
    let Some(mut pool) = growing::<A>(site) else {
        return;
    };
    refused_sizes(&mut pool, &[MOST + 16, 64 << 30, u64::MAX]);
    grow(&mut pool, MOST);
    let mut heap = TestHeap::over(site, pool, 40);
    assert_eq!(fill(&mut heap, 100_000), 0, "there is room for all");
    heap.check_all();
    let least = match site.device.reserve_growing::<A>(16, MOST) {
        Err(DeviceError::Plan(PlanError::TooSmall { least, .. })) => least,
        other => panic!("{}: {other:?}", A::NAME),
    };
    let pool = site.device.reserve_growing::<A>(least, MOST);
    assert_eq!(pool.expect("it is enough").bytes(), least);
    let info = site.device.info();
    let beyond = info.memory_bytes + (1 << 30);
    if beyond < 64 << 30 && info.memory_bytes != 0 {
        // A system may refuse to reserve more than it has.
        match site.device.reserve_growing::<A>(beyond / 32, beyond) {
            Ok(mut pool) => refused_sizes(&mut pool, &[beyond]),
            Err(DeviceError::OutOfMemory { .. }) => {}
            Err(other) => panic!("{}: {other}", A::NAME),
        }
    }
}
