//! Kernels with Rust's own collections, in branches: compiled to PTX and for the host. They allocate in the heap of
//! whatever allocator they are launched with.
#![cfg_attr(target_arch = "nvptx64", no_std)]

extern crate alloc;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;
use warpheap::device::*;

warpheap::device_module!();
warpheap::global_heap!(all);

/// Bytes of the largest block that a lane asks for.
pub const LARGEST: u32 = 4096;

/// A hash of one more word.
fn hash(so_far: u32, word: u32) -> u32 {
    let mixed = (so_far.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b1);
    mixed ^ mixed >> 15
}

/// Lane `i` uses collections of one kind, which depends on `i % 4`, and leaves what [`answer`] gives.
#[kernel(allocators = all, unsafe(slices))]
pub fn collect<A: DeviceAlloc>(_heap: Heap<A>, answers: &mut [u32]) {
    let lane = thread::index();
    if (lane as usize) < answers.len() {
        answers[lane as usize] = answer(lane);
    }
}

/// What a lane comes to. It depends on everything that it did.
pub fn answer(lane: u32) -> u32 {
    match lane % 4 {
        0 => vectors(lane),
        1 => boxes(lane),
        2 => maps(lane),
        _ => texts(lane),
    }
}

/// Pushes to vectors, most of which are short and some as long as there can be.
fn vectors(lane: u32) -> u32 {
    let len = (4096 / (hash(1, lane) % 4096 + 1)).min(LARGEST / 4);
    let mut numbers = Vec::new();
    for k in 0..len {
        numbers.push(hash(lane, k));
    }
    let mut parts: Vec<Vec<u32>> = Vec::new();
    for k in 0..lane % 5 {
        parts.push((0..k + lane % 3).map(|j| hash(k, j)).collect());
    }
    parts.retain(|part| part.len() % 2 == 0);
    let all = numbers.iter().chain(parts.iter().flatten());
    all.fold(len, |so_far, number| hash(so_far, *number))
}

/// A stack of boxes.
struct Plate {
    number: u32,
    below: Option<Box<Plate>>,
}

/// Puts plates on a stack and takes some off.
fn boxes(lane: u32) -> u32 {
    let mut top: Option<Box<Plate>> = None;
    let mut seen = 0;
    for k in 0..24 {
        let chance = hash(lane, k);
        if chance % 3 != 0 {
            let number = chance;
            let below = top.take();
            top = Some(Box::new(Plate { number, below }));
        } else if let Some(plate) = top.take() {
            seen = hash(seen, plate.number);
            top = plate.below;
        }
    }
    // One after the other: the drop that the compiler makes calls itself for each plate below.
    while let Some(plate) = top.take() {
        seen = hash(seen, plate.number);
        top = plate.below;
    }
    seen
}

/// Counts numbers in a map, and removes some.
fn maps(lane: u32) -> u32 {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for k in 0..40 {
        *counts.entry(hash(lane, k) % 31).or_insert(0) += 1;
    }
    for key in 0..8 {
        counts.remove(&(key * 4));
    }
    let pairs = counts.iter();
    pairs.fold(counts.len() as u32, |so_far, (key, count)| {
        hash(so_far, key << 8 ^ count)
    })
}

/// Writes numbers into a text.
fn texts(lane: u32) -> u32 {
    let mut text = String::from("lane ");
    for k in 0..lane % 6 {
        // Writing to a string does not fail.
        let _ = write!(text, "{} of {lane:#x}, ", k * lane);
    }
    text.push_str("done");
    text.bytes()
        .fold(text.len() as u32, |so_far, byte| hash(so_far, byte.into()))
}
