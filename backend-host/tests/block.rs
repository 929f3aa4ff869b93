//! What all lanes of a block do together: it waits for each of them, and tells of those that never
//! come.

mod common;

use common::{WIDTHS, args, assert_tells, device, exploring, launch, running, stopped, words};
use std::collections::HashSet;
use std::time::Duration;
use warpheap_api::LaneMask;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceVec};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::{arch, thread as lane};

/// Runs `check` on a device of each mode.
fn in_both_modes(width: u32, check: impl Fn(Device)) {
    check(running(width));
    for seed in 0..20 {
        check(exploring(width, seed));
    }
}

const ROUNDS: u32 = 3;

/// In each round all lanes write a word and then read every word of their block; the last word of a
/// block counts what they read wrong.
unsafe fn meet(args: &ArgBlock) {
    let (lanes, me) = (lane::block_dim(), lane::index_in_block());
    let first = (lane::block_index() * (lanes + 1)) as usize;
    let own = &words(args, 0)[first..][..lanes as usize + 1];
    for round in 1..=ROUNDS {
        own[me as usize].store(round);
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
        let behind = own[..lanes as usize]
            .iter()
            .filter(|word| word.load() != round);
        let behind = behind.count() as u32;
        own[lanes as usize].fetch_add(behind);
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
    }
}

/// Checks what `meet` left: all lanes went all rounds and read nothing wrong.
#[track_caller]
fn assert_met(out: DeviceVec<u32>, block: u32) {
    for words in out.to_vec().expect("readable").chunks(block as usize + 1) {
        let (wrong, written) = words.split_last().expect("not empty");
        assert!(written.iter().all(|word| *word == ROUNDS), "{words:?}");
        assert_eq!(*wrong, 0, "blocks of {block}");
    }
}

#[test]
fn no_lane_passes_a_barrier_before_all_have_come() {
    for width in WIDTHS {
        in_both_modes(width, |device| {
            // One warp in part, several with the last one in part.
            for block in [1, width.div_ceil(2), 2 * width + width.div_ceil(2)] {
                let out = DeviceVec::<u32>::zeroed(&device, 2 * (block as usize + 1));
                let out = out.expect("room");
                launch(&device, "meet", meet, (2, block), args([out.arg()])).expect("it works");
                assert_met(out, block);
            }
        });
    }
}

#[test]
fn warps_beyond_the_window_come_when_the_others_wait_for_them() {
    for seed in 0..50 {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            window: 2,
            ..HostConfig::default()
        });
        let out = DeviceVec::<u32>::zeroed(&device, 3 * 31).expect("room");
        launch(&device, "meet", meet, (3, 30), args([out.arg()])).expect("it works");
        assert_met(out, 30);
    }
}

/// Every lane gets the word of every lane of its block, one after the other, and counts wrong ones.
unsafe fn tell(args: &ArgBlock) {
    for source in 0..lane::block_dim() {
        // SAFETY: the emulator tells of lanes that do not come.
        let got = unsafe { arch::block_broadcast(1000 + lane::index(), source) };
        let want = 1000 + lane::index() - lane::index_in_block() + source;
        words(args, 0)[0].fetch_add((got != want) as u32);
        words(args, 0)[1].fetch_add(1);
    }
}

#[test]
fn all_lanes_get_what_the_source_of_a_broadcast_has() {
    for width in WIDTHS {
        in_both_modes(width, |device| {
            let counts = DeviceVec::<u32>::zeroed(&device, 2).expect("room");
            let block = 2 * width + width.div_ceil(2);
            launch(&device, "tell", tell, (3, block), args([counts.arg()])).expect("it works");
            assert_eq!(counts.to_vec().expect("readable"), [0, 3 * block * block]);
        });
    }
}

/// Notes the order in which lanes leave a barrier.
unsafe fn leave(args: &ArgBlock) {
    let words = words(args, 0);
    // SAFETY: the emulator tells of lanes that do not come.
    unsafe { arch::block_barrier() };
    let turn = words[0].fetch_add(1);
    words[1 + turn as usize].store(lane::index_in_block());
}

#[test]
fn lanes_leave_in_any_order_and_a_seed_replays() {
    let order = |seed| {
        let device = exploring(4, seed);
        let order = DeviceVec::<u32>::zeroed(&device, 13).expect("room");
        launch(&device, "leave", leave, (1, 12), args([order.arg()])).expect("it works");
        order.to_vec().expect("readable")
    };
    let orders: Vec<_> = (0..50).map(order).collect();
    assert_eq!(orders, (0..50).map(order).collect::<Vec<_>>());
    let firsts: HashSet<u32> = orders.iter().map(|order| order[1]).collect();
    assert!(firsts.len() > 6, "{firsts:?}");
    assert!(orders.iter().collect::<HashSet<_>>().len() > 30);
}

/// In block 2, lanes 5 and 9 end and the others wait for them.
unsafe fn two_leave(_: &ArgBlock) {
    let me = lane::index_in_block();
    if lane::block_index() != 2 || (me != 5 && me != 9) {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
    }
}

#[test]
fn a_barrier_that_some_lanes_never_reach_is_stopped() {
    for width in WIDTHS {
        in_both_modes(width, |device| {
            let message = stopped(&device, "two_leave", two_leave, (4, 12), args([]));
            assert_tells(
                &message,
                "two_leave",
                "block 2: divergent collective of the block, it can never complete",
                &[
                    " of the block wait",
                    " at block_barrier; lane",
                    " ended; every lane",
                ],
            );
            assert!(message.contains("5") || message.contains("9"), "{message}");
        });
    }
}

/// Half of the lanes of a block wait, the others broadcast; the last block broadcasts from two lanes.
unsafe fn two_calls(args: &ArgBlock) {
    let half = lane::index_in_block() * 2 / lane::block_dim();
    if words(args, 0)[0].load() != 0 {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_broadcast(0, half) };
    } else if half == 0 {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
    } else {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_broadcast(0, 7) };
    }
}

#[test]
fn lanes_at_different_calls_of_the_block_are_told_apart() {
    for width in WIDTHS {
        in_both_modes(width, |device| {
            let parts = [
                ["at block_barrier; ", "at block_broadcast from lane 7; "],
                [
                    "at block_broadcast from lane 0; ",
                    "at block_broadcast from lane 1; ",
                ],
            ];
            for (sources, [one, other]) in parts.into_iter().enumerate() {
                let sources = DeviceVec::from_slice(&device, &[sources as u32]).expect("room");
                let given = args([sources.arg()]);
                let message = stopped(&device, "two_calls", two_calls, (1, 12), given);
                let place = "block 0: divergent collective of the block";
                assert_tells(&message, "two_calls", place, &[one, "of the block is "]);
                assert!(message.contains(other), "{message}");
            }
        });
    }
}

/// Broadcasts from a lane that the block does not have.
unsafe fn from_nobody(_: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    unsafe { arch::block_broadcast(1, lane::block_dim()) };
}

#[test]
fn a_broadcast_from_outside_the_block_is_stopped() {
    in_both_modes(4, |device| {
        let message = stopped(&device, "from_nobody", from_nobody, (1, 10), args([]));
        let parts = ["from lane 10: the block has only lanes 0-9"];
        assert_tells(&message, "from_nobody", "block 0: block_broadcast", &parts);
    });
}

/// Lane 1 of the second warp waits for its block, its others for their warp.
unsafe fn across(_: &ArgBlock) {
    if lane::index_in_block() < lane::warp_width() || lane::lane() == 1 {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
    } else {
        arch::simt::warp_barrier(LaneMask::full(lane::warp_width()));
    }
}

#[test]
fn a_warp_and_a_block_that_wait_for_each_other_are_stopped() {
    for width in &WIDTHS[1..] {
        in_both_modes(*width, |device| {
            let message = stopped(&device, "across", across, (1, 2 * width), args([]));
            let parts = [
                "lane 1 waits at block_barrier",
                "at warp_barrier over lanes 0-",
            ];
            let place = "block 0, warp 1: divergent collective";
            assert_tells(&message, "across", place, &parts);
        });
    }
}

/// A lane waits for a word that another one sets once it has passed the barrier.
unsafe fn too_late(args: &ArgBlock) {
    let word = &words(args, 0)[0];
    let mut rounds = 0u32;
    while lane::index_in_block() == 6 && word.load() == 0 && rounds < u32::MAX {
        rounds += 1;
    }
    // SAFETY: the emulator tells of lanes that do not come.
    unsafe { arch::block_barrier() };
    word.store(1);
}

#[test]
fn a_lane_that_keeps_a_barrier_waiting_is_stopped() {
    for mode in (0..20)
        .map(|seed| Mode::Explore { seed })
        .chain([Mode::Run])
    {
        let device = device(HostConfig {
            warp_width: 4,
            watchdog: Duration::from_millis(100),
            max_steps: 10_000,
            mode,
            ..HostConfig::default()
        });
        let word = DeviceVec::<u32>::zeroed(&device, 1).expect("room");
        let message = stopped(&device, "too_late", too_late, (1, 12), args([word.arg()]));
        let place = "block 0, warp 1: deadlock or livelock";
        assert_tells(&message, "too_late", place, &["lane 2 is running"]);
    }
}

/// Tells how many lanes were unwound or ended.
struct Bell<'a>(&'a arch::AtomicWord);

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        // A lane that is unwound waits for nobody.
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { arch::block_barrier() };
        // SAFETY: the emulator tells of lanes that do not come.
        assert_eq!(unsafe { arch::block_broadcast(3, 1) }, 3);
        self.0.fetch_add(1);
    }
}

/// The last lane panics while all others wait for it.
unsafe fn one_panics(args: &ArgBlock) {
    let _bell = Bell(&words(args, 0)[0]);
    assert!(lane::index_in_block() != 9, "not me");
    // SAFETY: the emulator tells of lanes that do not come.
    unsafe { arch::block_barrier() };
}

#[test]
fn lanes_that_wait_for_one_that_panics_are_unwound() {
    in_both_modes(4, |device| {
        let rung = DeviceVec::<u32>::zeroed(&device, 1).expect("room");
        let message = stopped(
            &device,
            "one_panics",
            one_panics,
            (1, 10),
            args([rung.arg()]),
        );
        let place = "block 0, lane 9: panic in device code: not me (backend-host/tests/block.rs:";
        assert_tells(&message, "one_panics", place, &[]);
        let rung = rung.to_vec().expect("readable")[0];
        assert!((1..=10).contains(&rung), "{rung}");
        // The device still works.
        let out = DeviceVec::<u32>::zeroed(&device, 11).expect("room");
        launch(&device, "meet", meet, (1, 10), args([out.arg()])).expect("it works");
    });
}
