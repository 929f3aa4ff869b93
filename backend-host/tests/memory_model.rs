//! The model of memory: what lanes may see of each other's accesses. Each shape is run under many
//! seeds; the outcomes that are seen are all that the model allows, `docs/ordering.md` compares them with PTX's and
//! Vulkan's.

mod common;

use common::{args, device, launch, words};
use std::collections::BTreeSet;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{DeviceVec, HostEntry};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::sync::Group;
use warpheap_rt::{AtomicWord, arch, thread as lane};

/// Seeds of each shape. The rarest outcome is seen once in a hundred.
const SEEDS: u64 = 4000;

/// All outcomes of a shape: what the lanes left in so many words of the second slice.
fn outcomes(entry: HostEntry, shape: (u32, u32), results: usize) -> BTreeSet<Vec<u32>> {
    let run = |seed| {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            races: true,
            ..HostConfig::default()
        });
        let memory = DeviceVec::<u32>::zeroed(&device, 8).expect("room");
        let out = DeviceVec::<u32>::zeroed(&device, results).expect("room");
        launch(
            &device,
            "litmus",
            entry,
            shape,
            args([memory.arg(), out.arg()]),
        )
        .expect("it ends");
        out.to_vec().expect("readable")
    };
    (0..SEEDS).map(run).collect()
}

/// The outcomes as a set of pairs.
fn pairs(entry: HostEntry, shape: (u32, u32)) -> BTreeSet<(u32, u32)> {
    let all = outcomes(entry, shape, 2);
    all.into_iter().map(|seen| (seen[0], seen[1])).collect()
}

const NONE: u32 = 0;
const RELEASE: u32 = 1;
const ACQUIRE: u32 = 2;

/// The memory and the results of a shape.
fn slices<'a>(args: &ArgBlock) -> (&'a [AtomicWord], &'a [AtomicWord]) {
    (words(args, 0), words(args, 1))
}

/// One lane writes data, then a flag; the other reads the flag, then the data.
unsafe fn message<const FENCES: u32>(args: &ArgBlock) {
    let (memory, out) = slices(args);
    if lane::block_index() == 0 {
        memory[0].store(1);
        if FENCES & RELEASE != 0 {
            arch::release();
        }
        memory[1].store(1);
    } else {
        let flag = memory[1].load();
        if FENCES & ACQUIRE != 0 {
            arch::acquire();
        }
        out[0].store(flag);
        out[1].store(memory[0].load());
    }
}

#[test]
fn message_passing_needs_both_fences() {
    let all = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(pairs(message::<NONE>, (2, 1)), all);
    assert_eq!(pairs(message::<RELEASE>, (2, 1)), all);
    assert_eq!(pairs(message::<ACQUIRE>, (2, 1)), all);
    let ordered = BTreeSet::from([(0, 0), (0, 1), (1, 1)]);
    assert_eq!(pairs(message::<{ RELEASE | ACQUIRE }>, (2, 1)), ordered);
}

/// Each lane writes a word and reads the other one's.
unsafe fn store_buffering<const FENCES: u32>(args: &ArgBlock) {
    let (memory, out) = slices(args);
    let me = lane::block_index() as usize;
    memory[me].store(1);
    if FENCES != 0 {
        arch::release();
        arch::acquire();
    }
    out[me].store(memory[1 - me].load());
}

#[test]
fn stores_may_stay_unseen_by_both_whatever_fences_there_are() {
    let all = BTreeSet::from([(0, 0), (0, 1), (1, 0), (1, 1)]);
    assert_eq!(pairs(store_buffering::<NONE>, (2, 1)), all);
    assert_eq!(pairs(store_buffering::<{ RELEASE | ACQUIRE }>, (2, 1)), all);
}

/// The same, but each lane looks by a change of nothing.
unsafe fn store_buffering_changes(args: &ArgBlock) {
    let (memory, out) = slices(args);
    let me = lane::block_index() as usize;
    memory[me].fetch_add(1);
    arch::release();
    let other = memory[1 - me].fetch_add(0);
    arch::acquire();
    out[me].store(other);
}

#[test]
fn of_two_who_look_by_changes_one_sees_the_other() {
    let seen = pairs(store_buffering_changes, (2, 1));
    assert_eq!(seen, BTreeSet::from([(0, 1), (1, 0), (1, 1)]));
}

/// Each lane reads one word and writes the other.
unsafe fn load_buffering(args: &ArgBlock) {
    let (memory, out) = slices(args);
    let me = lane::block_index() as usize;
    out[me].store(memory[me].load());
    memory[1 - me].store(1);
}

/// PTX and Vulkan allow (1, 1), too. No lane runs ahead of itself here.
#[test]
fn loads_see_nothing_from_the_future() {
    let seen = pairs(load_buffering, (2, 1));
    assert_eq!(seen, BTreeSet::from([(0, 0), (0, 1), (1, 0)]));
}

/// One lane writes a word twice, the other reads it twice.
unsafe fn coherence(args: &ArgBlock) {
    let (memory, out) = slices(args);
    if lane::block_index() == 0 {
        memory[0].store(1);
        memory[0].store(2);
    } else {
        out[0].store(memory[0].load());
        out[1].store(memory[0].load());
    }
}

#[test]
fn a_word_never_goes_back() {
    let seen = pairs(coherence, (2, 1));
    assert!(
        seen.iter().all(|(first, second)| first <= second),
        "{seen:?}"
    );
    assert_eq!(seen.len(), 6);
}

/// Two lanes write a word each, two read both in different orders.
unsafe fn independent_reads(args: &ArgBlock) {
    let (memory, out) = slices(args);
    let me = lane::block_index() as usize;
    if me < 2 {
        arch::release();
        memory[me].store(1);
    } else {
        let first = memory[me - 2].load();
        arch::acquire();
        let second = memory[3 - me].load();
        out[me - 2].store(first << 1 | second);
    }
}

#[test]
fn readers_may_disagree_on_the_order_of_independent_writes() {
    let seen = pairs(independent_reads, (4, 1));
    // Both saw their first word written and their second not.
    assert!(seen.contains(&(2, 2)), "{seen:?}");
    assert_eq!(seen.len(), 16);
}

/// A message that a third lane passes on: by a change of the flag, or by a store of its own.
unsafe fn passed_on<const BY_CHANGE: bool>(args: &ArgBlock) {
    let (memory, out) = slices(args);
    match lane::block_index() {
        0 => {
            memory[0].store(1);
            arch::release();
            memory[1].store(1);
        }
        1 if BY_CHANGE => {
            memory[1].compare_exchange(1, 2);
        }
        1 => {
            if memory[1].load() == 1 {
                memory[1].store(2);
            }
        }
        _ => {
            let flag = memory[1].load();
            arch::acquire();
            out[0].store(flag);
            out[1].store(memory[0].load());
        }
    }
}

#[test]
fn changes_carry_on_what_a_release_covers_and_stores_do_not() {
    let carried = pairs(passed_on::<true>, (3, 1));
    assert!(
        !carried.contains(&(2, 0)) && carried.contains(&(2, 1)),
        "{carried:?}"
    );
    let dropped = pairs(passed_on::<false>, (3, 1));
    assert!(dropped.contains(&(2, 0)), "{dropped:?}");
}

/// A message along two flags.
unsafe fn chain<const ACQUIRES: bool>(args: &ArgBlock) {
    let (memory, out) = slices(args);
    match lane::block_index() {
        0 => {
            memory[0].store(1);
            arch::release();
            memory[1].store(1);
        }
        1 => {
            let flag = memory[1].load();
            if ACQUIRES {
                arch::acquire();
            }
            arch::release();
            memory[2].store(flag);
        }
        _ => {
            let flag = memory[2].load();
            arch::acquire();
            out[0].store(flag);
            out[1].store(memory[0].load());
        }
    }
}

#[test]
fn fences_are_cumulative() {
    assert!(!pairs(chain::<true>, (3, 1)).contains(&(1, 0)));
    assert!(pairs(chain::<false>, (3, 1)).contains(&(1, 0)));
}

const VOTE: u32 = 0;
const WARP: u32 = 1;
const BLOCK: u32 = 2;

/// Lane 0 of a block writes a word, and after something that all reach the last lane reads it.
unsafe fn together<const HOW: u32>(args: &ArgBlock) {
    let (memory, out) = slices(args);
    let last = lane::index_in_block() == lane::block_dim() - 1;
    // As one warp, whichever lanes the scheduler lets meet.
    // SAFETY: the launch has one warp of four lanes, all of which come here.
    let group = unsafe { Group::of(warpheap_api::LaneMask::full(4)) };
    if lane::index_in_block() == 0 {
        memory[0].store(1);
    }
    match HOW {
        VOTE => {
            group.any(true);
        }
        WARP => group.barrier(),
        // SAFETY: the emulator tells of lanes that do not come.
        _ => unsafe { arch::block_barrier() },
    }
    if last {
        out[0].store(1);
        out[1].store(memory[0].load());
    }
}

#[test]
fn barriers_order_and_votes_do_not() {
    let both = BTreeSet::from([(1, 0), (1, 1)]);
    let ordered = BTreeSet::from([(1, 1)]);
    assert_eq!(pairs(together::<VOTE>, (1, 4)), both);
    assert_eq!(pairs(together::<WARP>, (1, 4)), ordered);
    assert_eq!(pairs(together::<BLOCK>, (1, 4)), ordered);
}
