//! The tree of bitmap words under explored schedules: every element has one owner at a time, and when all is
//! quiet the words above tell what lies below.

mod common;

use common::{WIDTHS, args, exploring, heap, launch, words_after_heap};
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceVec, Pool};
use warpheap_rt::alloc::Bump;
use warpheap_rt::bits::VebTree;
use warpheap_rt::sync::hash;
use warpheap_rt::{AtomicWord, thread};

/// Where the tree begins in the heap, behind all that is the allocator's.
const BASE: u32 = 1024;
/// Three levels, and a last word of few bits.
const UNIVERSE: u32 = 1024 + 40;
/// Elements around the edges of words of each level, few enough for lanes to meet.
const EDGES: [u32; 8] = [0, 1, 31, 32, 1023, 1024, 1055, UNIVERSE - 1];

fn tree() -> VebTree {
    VebTree::new(BASE, UNIVERSE)
}

/// Counts the elements as the calling lane's, or back as nobody's, in the words behind the heap; the last
/// of these counts those that two had at a time.
fn own(owners: &[AtomicWord], first: u32, count: u32, sign: u32) {
    for x in first..first + count {
        let before = owners[x as usize].fetch_add(sign);
        if before != u32::from(sign != 1) {
            owners[UNIVERSE as usize].fetch_add(1);
        }
    }
}

/// Lanes take elements in every way, and put back what they have in the end but for one in eight lanes.
unsafe fn take_and_put(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let (memory, owners) = (unsafe { heap(args).words() }, words_after_heap(args));
    for round in 0..4 {
        let dice = hash(thread::index() << 8 | round);
        let edge = EDGES[dice as usize >> 4 & 7];
        let (first, count) = match dice % 4 {
            0 => (tree().claim(memory, edge), 1),
            1 => (tree().remove(memory, edge).then_some(edge), 1),
            2 => (tree().claim_run(memory, 40, 1, 0).ok(), 40),
            _ => (tree().claim_run(memory, 2, 2, 0).ok(), 2),
        };
        let Some(first) = first else { continue };
        own(owners, first, count, 1);
        if !thread::index().is_multiple_of(8) {
            own(owners, first, count, u32::MAX);
            match count {
                1 => assert!(tree().insert(memory, first), "{first} was there"),
                _ => tree().insert_run(memory, first, count),
            }
        }
    }
}

/// Lanes take the same few elements out and put them in again: words are empty and not, all the time.
unsafe fn empty_and_fill(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let memory = unsafe { heap(args).words() };
    for round in 0..6 {
        let dice = hash(thread::index() << 8 | round);
        let x = EDGES[dice as usize >> 4 & 7];
        if dice & 1 == 0 {
            tree().insert(memory, x);
        } else {
            tree().remove(memory, x);
        }
    }
}

/// Searches while others change everything but two elements: what stays is found by looking at the leaves.
unsafe fn search(args: &ArgBlock) {
    // SAFETY: the emulator tells of lanes that do not come.
    let (memory, bad) = (unsafe { heap(args).words() }, &words_after_heap(args)[0]);
    let stays = [500, 1050];
    for round in 0..4 {
        let x = EDGES[hash(thread::index() << 8 | round) as usize & 7];
        match thread::index() % 3 {
            0 => _ = tree().insert(memory, x),
            1 => _ = tree().remove(memory, x),
            _ => {
                let next = tree().scan(memory, x);
                let most = stays.into_iter().find(|&y| y >= x);
                // The edges may be in the set or not; beyond the first that stays nothing is found.
                let wrong = most.is_some_and(|most| next.is_none_or(|next| next > most));
                let below = next.is_some_and(|next| next < x);
                let before = tree().predecessor(memory, x);
                let above = before.is_some_and(|before| before > x);
                bad.fetch_add(u32::from(wrong | below | above));
            }
        }
    }
}

/// A heap with the tree full or empty, a launch of `kernel`, and the words of the tree and behind the heap.
fn run(device: &Device, kernel: unsafe fn(&ArgBlock), full: bool) -> (Vec<u32>, Vec<u32>) {
    let pool: Pool<Bump> = device.reserve(64 << 10).expect("room");
    let buffer = &pool.raw().buffer;
    let bytes = BASE as u64 * 4;
    let words = VebTree::words(UNIVERSE) as u64;
    buffer.fill(bytes, words, 0).expect("it is there");
    let set = |x: u32| {
        for level in 0..tree().levels() {
            let i = x >> (5 * level);
            let place = (tree().first_word(level) + i / 32) as u64 * 4;
            let mut word = [0; 4];
            buffer.read(place, &mut word).expect("it is there");
            let word = u32::from_ne_bytes(word) | 1 << (i % 32);
            buffer.fill(place, 1, word).expect("it is there");
        }
    };
    if full {
        (0..UNIVERSE).for_each(set);
    } else {
        [500, 1050].into_iter().for_each(set);
    }
    let owners = DeviceVec::<u32>::zeroed(device, UNIVERSE as usize + 1).expect("room");
    let both = args([pool.arg(), owners.arg()]);
    let lanes = 3 * device.info().warp_width.min(16);
    launch(device, "veb", kernel, (2, lanes), both).expect("it works");
    let mut bytes = vec![0; words as usize * 4];
    buffer.read(BASE as u64 * 4, &mut bytes).expect("readable");
    let words = bytes.chunks_exact(4);
    let words = words.map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
    (words.collect(), owners.to_vec().expect("readable"))
}

/// Whether the bits above tell which words have bits.
fn check(words: &[u32], what: &str) {
    let tree = VebTree::new(0, UNIVERSE);
    let word = |level, i: u32| words[(tree.first_word(level) + i / 32) as usize];
    for level in 1..tree.levels() {
        for i in 0..tree.bits(level) {
            let says = word(level, i) >> (i % 32) & 1 == 1;
            let has = word(level - 1, i * 32) != 0;
            assert_eq!(says, has, "{what}: level {level}, bit {i}");
        }
    }
}

fn explore(test: impl Fn(&Device, &str)) {
    for width in WIDTHS {
        for seed in 0..200 {
            test(
                &exploring(width, seed),
                &format!("width {width}, seed {seed}"),
            );
        }
    }
}

#[test]
fn an_element_has_one_owner() {
    explore(|device, what| {
        let (words, owners) = run(device, take_and_put, true);
        assert_eq!(owners[UNIVERSE as usize], 0, "{what}: two owners");
        for x in 0..UNIVERSE {
            let there = words[x as usize / 32] >> (x % 32) & 1;
            assert_eq!(there + owners[x as usize], 1, "{what}: {x} is lost");
        }
        check(&words, what);
    });
}

#[test]
fn what_is_above_follows_what_is_below() {
    explore(|device, what| check(&run(device, empty_and_fill, false).0, what));
}

#[test]
fn a_scan_finds_what_stays() {
    explore(|device, what| {
        let (words, bad) = run(device, search, false);
        assert_eq!(bad[0], 0, "{what}: searches that went wrong");
        check(&words, what);
    });
}
