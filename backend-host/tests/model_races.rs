//! Races in the model of memory: what stops a launch, what it says, and what must not stop one.

mod common;

use common::{args, device, heap, launch, words_after_heap};
use warpheap_api::HeapMemory;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{DeviceVec, HostEntry};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::Bump;
use warpheap_rt::{arch, thread as lane};

const NONE: u32 = 0;
const RELEASE: u32 = 1;
const ACQUIRE: u32 = 2;

/// A plain word of a heap that nobody has.
const FREE_WORD: usize = 4096;

/// A message whose data is plain.
unsafe fn plain_message<const FENCES: u32>(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let (memory, flag) = (unsafe { heap(args).words() }, &words_after_heap(args)[0]);
    if lane::block_index() == 0 {
        memory.write(FREE_WORD, 1);
        if FENCES & RELEASE != 0 {
            memory.release();
        }
        flag.store(1);
    } else {
        let seen = flag.load();
        if FENCES & ACQUIRE != 0 {
            memory.acquire();
        }
        if seen == 1 {
            memory.read(FREE_WORD);
        }
    }
}

/// What the first of 200 seeds says that stops it, in two blocks of one lane.
fn told(entry: HostEntry) -> Option<String> {
    told_of(entry, 2)
}

/// The same in so many blocks, of which three are there at a time.
fn told_of(entry: HostEntry, blocks: u32) -> Option<String> {
    (0..200).find_map(|seed| {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            races: true,
            window: 3,
            ..HostConfig::default()
        });
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let flag = DeviceVec::<u32>::zeroed(&device, 2).expect("room");
        let both = args([pool.arg(), flag.arg()]);
        match launch(&device, "plain", entry, (blocks, 1), both) {
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        }
    })
}

#[test]
fn a_race_names_both_lanes_both_lines_and_what_is_missing() {
    assert_eq!(told(plain_message::<{ RELEASE | ACQUIRE }>), None);
    for (entry, missing) in [
        (plain_message::<NONE> as HostEntry, "has not released since"),
        (plain_message::<ACQUIRE>, "has not released since"),
        (plain_message::<RELEASE>, "but has not acquired"),
    ] {
        let message = told(entry).expect("a race");
        for part in [
            "kernel plain, block 1, warp 0, lane 0: data race on word 4096 of the heap in argument 1",
            "lane 0 of block 0 wrote it (plain) at backend-host/tests/model_races.rs:",
            "then lane 0 of block 1 read it (plain) at backend-host/tests/model_races.rs:",
            "WARPHEAP_SEED=",
            missing,
        ] {
            assert!(message.contains(part), "`{part}` expected: {message}");
        }
        assert_eq!(message.matches("data race").count(), 1);
    }
}

/// Lane after lane gets the same block from an allocator without any order.
unsafe fn handed_on(args: &ArgBlock) {
    let (heap, turn) = (heap(args), &words_after_heap(args)[0]);
    let block = warpheap_api::DevicePtr::<u8>::from_granule(FREE_WORD as u32 / 4);
    let layout = warpheap_api::layout::bytes(64);
    if turn.compare_exchange(0, 1) == 0 {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { heap.words() }.note_malloc(block, layout);
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { heap.words() }.note_free(block, layout);
        turn.store(2);
    } else if turn.load() == 2 {
        // SAFETY: the emulator tells of lanes that do not come.
        unsafe { heap.words() }.note_malloc(block, layout);
    }
}

#[test]
fn a_block_that_is_handed_on_without_order_races_though_nobody_touches_it() {
    let message = told(handed_on).expect("a race");
    assert!(
        message.contains("freed its block") && message.contains("got its block from malloc"),
        "{message}"
    );
}

/// Lanes subtract themselves from a count; the last one writes over the count, as who is given its block next would.
unsafe fn counted_out<const ITSELF: bool>(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let words = unsafe { heap(args).words() };
    let before = if ITSELF {
        words.release_sub(FREE_WORD, 1)
    } else {
        words.release();
        words.fetch_sub(FREE_WORD, 1)
    };
    if before == 1u32.wrapping_neg() {
        words.acquire();
        words.write(FREE_WORD, 7);
    }
}

#[test]
fn a_count_that_is_freed_with_its_block_is_part_of_its_release() {
    assert_eq!(told(counted_out::<true>), None);
    let message = told(counted_out::<false>).expect("a race");
    assert!(message.contains("wrote it (plain)"), "{message}");
}

/// Lanes that meet in a counter pass a guard on, a few times; every third one writes a word while it has it.
unsafe fn guarded(args: &ArgBlock) {
    let (heap, flags) = (heap(args), words_after_heap(args));
    let (guard, met) = (&flags[0], &flags[1]);
    for _ in 0..4 {
        arch::release();
        met.fetch_add(1);
        arch::acquire();
        if guard.compare_exchange(0, 1) == 0 {
            arch::acquire();
            if lane::block_index().is_multiple_of(3) {
                // SAFETY: the emulator tells of lanes that do not come.
                unsafe { heap.words() }.write(FREE_WORD, 1);
            }
            arch::release();
            guard.store(0);
        }
    }
}

#[test]
fn what_others_pass_on_of_an_earlier_lane_in_ones_own_seat_is_known() {
    assert_eq!(told_of(guarded, 200), None);
}
