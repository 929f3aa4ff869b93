//! Words that the lanes of a block share: each block has its own, for as long as it runs, and races on them are found.

mod common;

use common::{args, device, launch, words_after_heap};
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceVec, HostEntry};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::arch::BlockWords;
use warpheap_rt::{alloc::Bump, arch, thread};

const BLOCKS: u32 = 5;
const LANES: u32 = 6;

/// Lane 0 writes a word and all read it, behind a barrier or not.
unsafe fn tells<const BARRIER: bool>(args: &ArgBlock) {
    // SAFETY: this number is that of no other array.
    let words = unsafe { BlockWords::<3>::of_block(0) };
    // SAFETY: the same.
    let others = unsafe { BlockWords::<9>::of_block(1) };
    let block = thread::block_index();
    if thread::index_in_block() == 0 {
        words.write(2, block + 7);
        others.write(2, 1000);
    }
    if BARRIER {
        // SAFETY: all lanes are here.
        unsafe { arch::block_barrier() };
    }
    words_after_heap(args)[0].fetch_add(words.read(2) + others.read(2));
}

/// Adds up what is there when a block begins, and leaves something.
unsafe fn finds(args: &ArgBlock) {
    // SAFETY: this number is that of no other array.
    let words = unsafe { BlockWords::<1>::of_block(0) };
    words_after_heap(args)[0].fetch_max(words.exchange(0, u32::MAX));
}

/// Runs it; what was added to the word behind the heap.
fn run(device: &Device, entry: HostEntry, lanes: u32) -> Result<u32, String> {
    let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
    let word = DeviceVec::<u32>::zeroed(device, 1).expect("room");
    let both = args([pool.arg(), word.arg()]);
    let ran = launch(device, "shares", entry, (BLOCKS, lanes), both);
    ran.map_err(|error| error.to_string())?;
    Ok(word.to_vec().expect("a word")[0])
}

fn modelled(seed: u64) -> Device {
    device(HostConfig {
        warp_width: 4,
        mode: Mode::Explore { seed },
        races: true,
        window: 3,
        ..HostConfig::default()
    })
}

#[test]
fn blocks_have_words_of_their_own_which_others_do_not_race_with() {
    let expected = (0..BLOCKS).map(|block| LANES * (block + 1007)).sum();
    for width in [1, 4, 32] {
        let device = common::running(width);
        assert_eq!(run(&device, tells::<true>, LANES), Ok(expected));
    }
    for seed in 0..100 {
        assert_eq!(run(&modelled(seed), tells::<true>, LANES), Ok(expected));
    }
}

#[test]
fn a_race_on_a_shared_word_is_told() {
    let told = (0..100).find_map(|seed| run(&modelled(seed), tells::<false>, LANES).err());
    let told = told.expect("a race");
    for part in [
        "data race on word 2 of an array that the block shares",
        "backend-host/tests/shared.rs:",
        "WARPHEAP_SEED=",
    ] {
        assert!(told.contains(part), "`{part}` expected: {told}");
    }
}

#[test]
fn a_block_does_not_find_what_another_one_left() {
    for lanes in [1, 4] {
        let found = run(&common::running(4), finds, lanes).expect("it runs");
        // Among the lanes of a block all but the first find what that one left.
        assert_eq!(found == u32::MAX, lanes > 1);
        assert_ne!(found, 0, "zeros would be something to count on");
    }
}
