//! Explore mode: many schedules, each of them exactly the same every time.

mod common;

use common::{args, assert_tells, device, exploring, launch, stopped, words};
use std::collections::{BTreeSet, HashSet};
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{DeviceError, DeviceVec};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, Layout,
};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::Bump;
use warpheap_rt::sync::Group;
use warpheap_rt::{arch, arch::Words, entry, thread as lane};

/// Every lane writes its index, and with how many others it was, at the next place of a log.
unsafe fn log(args: &ArgBlock) {
    let (next, log) = (&words(args, 0)[0], words(args, 1));
    for _ in 0..3 {
        let together = Group::here().count();
        let at = next.fetch_add(1);
        log[at as usize].store(together << 16 | lane::index());
    }
}

fn logged(device: &warpheap_api::host::Device) -> Vec<u32> {
    let next = DeviceVec::<u32>::zeroed(device, 1).expect("room");
    let out = DeviceVec::<u32>::zeroed(device, 3 * 60).expect("room");
    let both = args([next.arg(), out.arg()]);
    launch(device, "log", log, (3, 20), both).expect("it works");
    out.to_vec().expect("readable")
}

#[test]
fn a_seed_replays_and_other_seeds_differ() {
    let mut all = HashSet::new();
    for seed in 0..100 {
        let device = exploring(8, seed);
        let (first, second) = (logged(&device), logged(&device));
        let again = exploring(8, seed);
        assert_eq!(first, logged(&again), "seed {seed}");
        assert_eq!(second, logged(&again), "seed {seed}, second launch");
        assert_ne!(
            first, second,
            "seed {seed}: the launches of a device differ"
        );
        all.insert(first);
    }
    assert_eq!(all.len(), 100);
}

#[test]
fn groups_are_whole_and_split() {
    let mut sizes = BTreeSet::new();
    for seed in 0..100 {
        let log = logged(&exploring(8, seed));
        sizes.extend(log.into_iter().map(|entry| entry >> 16));
    }
    assert_eq!(sizes, (1..=8).collect());
}

/// Adds one, as nobody should.
unsafe fn racy(args: &ArgBlock) {
    let counter = &words(args, 0)[0];
    let value = counter.load();
    counter.store(value + 1);
}

/// How many of 200 seeds show that the counter is wrong.
fn seeds_that_lose(shape: (u32, u32)) -> u32 {
    let lost = |seed: &u64| {
        let device = exploring(4, *seed);
        let counter = DeviceVec::<u32>::zeroed(&device, 1).expect("room");
        launch(&device, "racy", racy, shape, args([counter.arg()])).expect("it ends");
        counter.to_vec().expect("readable")[0] != shape.0 * shape.1
    };
    (0..200).filter(lost).count() as u32
}

#[test]
fn a_race_is_found_inside_a_warp_and_between_warps() {
    for shape in [(1, 4), (2, 1)] {
        let lost = seeds_that_lose(shape);
        assert!((40..=200).contains(&lost), "{shape:?}: {lost} of 200");
    }
}

/// A step that all lanes of warp 0 have to be held back in while one of warp 1 makes all of its
/// many steps: only a schedule that hardly ever switches shows it.
unsafe fn rare(args: &ArgBlock) {
    let (steps, seen) = (&words(args, 0)[0], &words(args, 0)[1]);
    if lane::block_index() == 1 {
        for _ in 0..40 {
            steps.fetch_add(1);
        }
        return;
    }
    let before = steps.load();
    let after = steps.load();
    seen.fetch_max(after - before);
}

#[test]
fn a_lane_is_held_back_for_long_under_some_seeds() {
    let held = |seed: &u64| {
        let device = exploring(1, *seed);
        let both = DeviceVec::<u32>::zeroed(&device, 2).expect("room");
        launch(&device, "rare", rare, (2, 1), args([both.arg()])).expect("it ends");
        both.to_vec().expect("readable")[1] >= 20
    };
    let found = (0..200).filter(held).count();
    assert!((2..150).contains(&found), "{found} of 200");
}

/// Warp 0 of each pair waits for warp 1, within bounds.
unsafe fn other_warp(args: &ArgBlock) {
    let flag = &words(args, 0)[lane::block_index() as usize];
    let waits = lane::index_in_block() < lane::warp_width();
    if !waits {
        flag.fetch_add(1);
        return;
    }
    let mut rounds = 0;
    while flag.load() < lane::warp_width() && rounds < 2_000 {
        rounds += 1;
    }
    let late = flag.load() < lane::warp_width();
    let outcome = if late {
        Err(AllocError::Contended)
    } else {
        Ok(())
    };
    // SAFETY: the emulator passes the report.
    entry::finish(unsafe { arch::report(args) }, outcome);
}

#[test]
fn warps_that_wait_for_other_warps_get_there_under_every_seed() {
    for seed in 0..200 {
        let device = exploring(4, seed);
        let flags = DeviceVec::<u32>::zeroed(&device, 8).expect("room");
        launch(
            &device,
            "other_warp",
            other_warp,
            (8, 8),
            args([flags.arg()]),
        )
        .unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    }
}

/// Notes how many blocks have begun and not ended.
unsafe fn alive(args: &ArgBlock) {
    let (now, most) = (&words(args, 0)[0], &words(args, 0)[1]);
    most.fetch_max(now.fetch_add(1) + 1);
    for _ in 0..10 {
        words(args, 0)[2].fetch_add(1);
    }
    now.fetch_add(u32::MAX);
}

#[test]
fn no_more_warps_than_the_window_are_alive() {
    let mut most = 0;
    for seed in 0..50 {
        let device = device(HostConfig {
            warp_width: 1,
            mode: Mode::Explore { seed },
            window: 3,
            ..HostConfig::default()
        });
        let counts = DeviceVec::<u32>::zeroed(&device, 3).expect("room");
        launch(&device, "alive", alive, (40, 1), args([counts.arg()])).expect("it ends");
        let counts = counts.to_vec().expect("readable");
        assert_eq!((counts[0], counts[2]), (0, 400));
        most = most.max(counts[1]);
    }
    assert_eq!(most, 3);
}

/// An allocator with the race of `racy` in it.
#[derive(Clone, Copy)]
struct Racy(Words);

const NEXT: usize = 1024;

// SAFETY: none, that is the point; nothing is stored in its blocks.
unsafe impl DeviceAlloc for Racy {
    type Memory = Words;
    const NAME: &'static str = "Racy";
    const CAPS: Caps = Bump::CAPS;
    fn memory(self) -> Words {
        self.0
    }
    fn malloc(self, _: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let next = self.0.load(NEXT);
        self.0.store(NEXT, next + 1);
        Ok(DevicePtr::from_granule(512 + next))
    }
    unsafe fn free(self, _: DevicePtr<u8>, _: Layout) {}
}

impl HeapHandle for Racy {
    unsafe fn attach(memory: Words, _: HeapParams) -> Self {
        Racy(memory)
    }
}

unsafe fn take(args: &ArgBlock) {
    // SAFETY: the test passes a heap there, with zeros where the allocator wants them.
    let heap = unsafe { entry::heap::<Racy>(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) };
    let _ = heap.malloc(Layout::new::<[u32; 4]>());
}

#[test]
fn blocks_that_overlap_are_found_with_a_seed_that_shows_it_again() {
    let try_seed = |seed| {
        let device = exploring(4, seed);
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        launch(&device, "take", take, (2, 8), args([pool.arg()]))
    };
    let found = (0..200).find_map(|seed| Some((seed, try_seed(seed).err()?)));
    let (seed, error) = found.expect("some seed shows it");
    let DeviceError::Emulator(message) = error else {
        panic!("{error}");
    };
    assert!(message.starts_with("kernel take, block "), "{message}");
    let place = ", lane ";
    for part in [
        place,
        "the heap in argument 1 handed out a block of 16 bytes at offset 0x20",
        "that overlaps the live block of 16 bytes at offset 0x20",
        &format!("WARPHEAP_SEED={seed}, launch 0 of the device"),
    ] {
        assert!(message.contains(part), "`{part}`: {message}");
    }
    for _ in 0..3 {
        match try_seed(seed) {
            Err(DeviceError::Emulator(again)) => assert_eq!(again, message),
            other => panic!("the same seed says the same: {other:?}"),
        }
    }
}

/// Lanes share blocks and note which.
unsafe fn share(args: &ArgBlock) {
    // SAFETY: each lane that comes here takes part.
    if let Ok(ptr) = unsafe { common::heap(args).malloc_shared(Layout::new::<[u32; 64]>()) } {
        common::words_after_heap(args)[lane::index() as usize].store(ptr.granule());
    }
}

/// One lane frees each of the blocks.
unsafe fn unshare(args: &ArgBlock) {
    let ptr =
        DevicePtr::from_granule(common::words_after_heap(args)[lane::index() as usize].load());
    // SAFETY: the host passes each block that was shared once.
    unsafe { common::heap(args).free(ptr, Layout::new::<[u32; 64]>()) };
}

#[test]
fn blocks_that_lanes_share_are_live_once() {
    for seed in 0..40 {
        let device = exploring(8, seed);
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let shared = DeviceVec::<u32>::zeroed(&device, 32).expect("room");
        let both = args([pool.arg(), shared.arg()]);
        launch(&device, "share", share, (2, 16), both).expect("they share");
        let unique: BTreeSet<u32> = shared.to_vec().expect("readable").into_iter().collect();
        let unique = DeviceVec::from_slice(&device, &Vec::from_iter(unique)).expect("room");
        let both = args([pool.arg(), unique.arg()]);
        let shape = (1, unique.len() as u32);
        launch(&device, "unshare", unshare, shape, both.clone()).expect("each is live once");
        let message = stopped(&device, "unshare", unshare, shape, both);
        assert!(message.contains("was freed before"), "{message}");
    }
}

/// Never ends, one look at who is here after the other.
unsafe fn circles(_: &ArgBlock) {
    let mut rounds = 0u32;
    while Group::here().count() != 0 && rounds < u32::MAX {
        rounds += 1;
    }
}

#[test]
fn a_loop_of_collectives_alone_is_stopped() {
    for seed in 0..20 {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            max_steps: 5_000,
            ..HostConfig::default()
        });
        let message = stopped(&device, "circles", circles, (1, 4), args([]));
        let place = "block 0, warp 0: deadlock or livelock";
        assert_tells(&message, "circles", place, &["in 5000 steps"]);
    }
}
