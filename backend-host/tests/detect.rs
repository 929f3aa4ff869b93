//! What could not work on a device is stopped, with a message that says where.

mod common;

use common::{
    WIDTHS, args, assert_tells, device, exploring, heap, launch, running, stopped, words,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceVec};
use warpheap_api::{AllocError, HeapMemory, LaneMask};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::Bump;
use warpheap_rt::arch::simt;
use warpheap_rt::sync::Group;
use warpheap_rt::thread as lane;

/// Runs `check` on a device of each mode.
fn in_both_modes(width: u32, check: impl Fn(Device)) {
    check(running(width));
    for seed in 0..20 {
        check(exploring(width, seed));
    }
}

/// All lanes of the warp, however they are scheduled.
fn whole_warp() -> Group {
    // SAFETY: launches that come here have whole warps, and all their lanes do.
    unsafe { Group::of(LaneMask::full(lane::warp_width())) }
}

/// Lanes with an odd index do not come to the ballot of all.
unsafe fn half_votes(_: &ArgBlock) {
    if lane::lane() % 2 == 0 {
        simt::ballot(LaneMask::full(lane::warp_width()), true);
    }
}

#[test]
fn a_collective_that_some_lanes_never_reach_is_stopped() {
    for width in &WIDTHS[1..] {
        in_both_modes(*width, |device| {
            let message = stopped(&device, "half_votes", half_votes, (1, *width), args([]));
            let all = format!("at ballot over lanes 0-{}", width - 1);
            assert_tells(
                &message,
                "half_votes",
                "block 0, warp 0: divergent collective",
                &[&all, " ended"],
            );
        });
    }
}

/// In the second warp of block 2, the lower half votes and the upper half waits.
unsafe fn two_ways(_: &ArgBlock) {
    let all = LaneMask::full(lane::warp_width());
    if (lane::block_index(), lane::index_in_block() / 8) != (2, 1) {
        return;
    }
    if lane::lane() < 4 {
        simt::ballot(all, true);
    } else {
        simt::warp_barrier(all);
    }
}

#[test]
fn lanes_at_different_collectives_are_told_apart() {
    in_both_modes(8, |device| {
        let message = stopped(&device, "two_ways", two_ways, (4, 20), args([]));
        assert_tells(
            &message,
            "two_ways",
            "block 2, warp 1: divergent collective",
            &[
                "lanes 0-3 wait at ballot over lanes 0-7",
                "lanes 4-7 wait at warp_barrier over lanes 0-7",
            ],
        );
    });
}

/// Lane 3 calls a shuffle over lanes that it is not one of.
unsafe fn not_mine(_: &ArgBlock) {
    if lane::lane() == 3 {
        simt::shuffle(LaneMask::full(2), 1, 0);
    }
}

#[test]
fn a_set_without_the_caller_is_stopped() {
    in_both_modes(4, |device| {
        let message = stopped(&device, "not_mine", not_mine, (1, 4), args([]));
        assert_tells(
            &message,
            "not_mine",
            "block 0, warp 0, lane 3: shuffle over lanes 0-1",
            &["does not contain the calling lane"],
        );
    });
}

/// A lane waits until the next lane of its warp has set its word, which lock-step would not allow.
unsafe fn lock_step(args: &ArgBlock) {
    let flags = words(args, 0);
    let next = lane::lane() as usize + 1;
    if let Some(flag) = flags.get(next) {
        let mut rounds = 0u32;
        while flag.load() == 0 && rounds < u32::MAX {
            rounds += 1;
        }
    }
    flags[lane::lane() as usize].store(1);
}

#[test]
fn a_lane_that_waits_for_another_of_its_warp_is_stopped() {
    let device = device(HostConfig {
        warp_width: 4,
        watchdog: Duration::from_millis(200),
        ..HostConfig::default()
    });
    let flags = DeviceVec::<u32>::zeroed(&device, 4).expect("room");
    let start = Instant::now();
    let message = stopped(&device, "lock_step", lock_step, (1, 4), args([flags.arg()]));
    assert_tells(
        &message,
        "lock_step",
        "block 0, warp 0: deadlock or livelock",
        &["lane 0 is running", "lanes 0-3 could run"],
    );
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_wait_inside_a_warp_is_found_by_exploring() {
    let mut found = 0;
    for seed in 0..50 {
        let device = exploring(4, seed);
        let flags = DeviceVec::<u32>::zeroed(&device, 4).expect("room");
        let result = launch(&device, "lock_step", lock_step, (1, 4), args([flags.arg()]));
        let Err(error) = result else { continue };
        let message = error.to_string();
        for part in [
            "kernel lock_step, block 0, warp 0: deadlock or livelock",
            "in 1000000 steps",
            "is running",
            &format!("WARPHEAP_SEED={seed}, launch 0"),
        ] {
            assert!(message.contains(part), "{message}");
        }
        found += 1;
    }
    // Most kinds of schedule give every lane its turn, as most devices do.
    assert!((5..40).contains(&found), "{found} of 50");
}

/// Waits for a word that nobody sets.
unsafe fn forever(args: &ArgBlock) {
    if lane::index() == 9 {
        let mut rounds = 0u32;
        while words(args, 0)[0].load() == 0 && rounds < u32::MAX {
            rounds += 1;
        }
    }
}

#[test]
fn a_wait_for_nobody_is_stopped_in_both_modes() {
    let config = HostConfig {
        warp_width: 8,
        watchdog: Duration::from_millis(100),
        max_steps: 10_000,
        ..HostConfig::default()
    };
    for mode in (0..20)
        .map(|seed| Mode::Explore { seed })
        .chain([Mode::Run])
    {
        let device = device(HostConfig {
            mode,
            ..config.clone()
        });
        let flag = DeviceVec::<u32>::zeroed(&device, 1).expect("room");
        let message = stopped(&device, "forever", forever, (1, 16), args([flag.arg()]));
        let place = "block 0, warp 1: deadlock or livelock";
        assert_tells(&message, "forever", place, &["lane 1 is running"]);
    }
}

/// Lane 2 of block 1 reads the word after the last one of its heap.
unsafe fn one_too_far(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let words = unsafe { heap(args).words() };
    if (lane::block_index(), lane::index_in_block()) == (1, 2) {
        words.load(words.len());
    }
}

#[test]
fn an_access_outside_the_heap_is_stopped() {
    in_both_modes(4, |device| {
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let message = stopped(
            &device,
            "one_too_far",
            one_too_far,
            (2, 4),
            args([pool.arg()]),
        );
        assert_tells(
            &message,
            "one_too_far",
            "block 1, warp 0, lane 2: access outside the heap",
            &["word 16384 of the heap in argument 1, which has 16384 words"],
        );
    });
}

static UNWOUND: AtomicU32 = AtomicU32::new(0);

/// Counts lanes that are unwound, with a device call on the way.
struct Bell;
impl Drop for Bell {
    fn drop(&mut self) {
        Group::here().ballot(true);
        UNWOUND.fetch_add(1, Ordering::Relaxed);
    }
}

/// Lane 1 of block 3 panics while the others of its warp wait for it.
unsafe fn panics(args: &ArgBlock) {
    let _bell = Bell;
    let all = whole_warp();
    all.barrier();
    let limit = if lane::block_index() == 3 { 1 } else { 100 };
    let too_far = lane::lane() == limit;
    assert!(!too_far, "value {} is wrong", words(args, 0)[0].load());
    all.barrier();
}

#[test]
fn a_panic_in_a_kernel_is_an_error_that_names_the_lane() {
    in_both_modes(4, |device| {
        let value = DeviceVec::<u32>::from_slice(&device, &[77]).expect("room");
        let before = UNWOUND.load(Ordering::Relaxed);
        let message = stopped(&device, "panics", panics, (4, 4), args([value.arg()]));
        assert_tells(
            &message,
            "panics",
            "block 3, lane 1: panic in device code: value 77 is wrong (",
            &["backend-host/tests/detect.rs:"],
        );
        let unwound = UNWOUND.load(Ordering::Relaxed) - before;
        assert!(unwound >= 4, "all lanes of the warp end, {unwound} did");
        // The device can be used after it.
        launch(&device, "leak", increase, (1, 4), args([value.arg()])).expect("it works");
        assert_eq!(value.to_vec().expect("readable"), [81]);
    });
}

unsafe fn increase(args: &ArgBlock) {
    words(args, 0)[0].fetch_add(1);
}

/// Unwinds a thread and launches meanwhile.
struct Launches<'a>(&'a Device, &'a DeviceVec<u32>);
impl Drop for Launches<'_> {
    fn drop(&mut self) {
        let result = launch(self.0, "sums", sums, (2, 4), args([self.1.arg()]));
        assert!(result.is_ok(), "{result:?}");
    }
}

unsafe fn sums(args: &ArgBlock) {
    words(args, 0)[0].fetch_add(whole_warp().ballot(true).count());
}

#[test]
fn a_thread_that_unwinds_can_still_launch() {
    for device in [running(4), exploring(4, 7)] {
        let sum = DeviceVec::<u32>::zeroed(&device, 1).expect("room");
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _launches = Launches(&device, &sum);
            std::panic::resume_unwind(Box::new(AllocError::Exhausted));
        }));
        assert!(caught.is_err());
        // Four votes in each of eight lanes.
        assert_eq!(sum.to_vec().expect("readable"), [32]);
    }
}
