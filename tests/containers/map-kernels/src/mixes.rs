//! Maps under the mixtures of operations of programs: lanes of a warp do different things at a time, many one after the other.

use super::maps::{NONE, inserted, removed};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// What an operation of [`map_mix`] does: looks for its key, …
pub const READ: u32 = 0;
/// … writes a value for it, whether or not it is there, …
pub const WRITE: u32 = 1;
/// … or adds [`ONE`] to its value.
pub const ADD: u32 = 2;

/// What [`ADD`] adds: counts lie above what tells whose value it is.
pub const ONE: u32 = 1 << 16;

/// What tells that a value is this key's. Never what [`NONE`] has in its place.
#[inline(always)]
pub fn mark(key: u32) -> u32 {
    hash(key) & 0x7fff
}

/// What became of a lane's operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Mixed {
    /// Reads that did not find their key.
    pub missed: u32,
    /// Reads that found a value of another key.
    pub wrong: u32,
    /// Operations that failed.
    pub failed: u32,
    /// Keys that were new.
    pub new: u32,
}

/// The first `lanes` lanes divide `ops` among themselves, each a key and what to do with it.
#[kernel(allocators = [WarpHeap])]
pub fn map_mix<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    ops: &[[u32; 2]],
    lanes: u32,
    mixed: &mut Mixed,
) {
    let mut now = Mixed::default();
    let mut i = thread::index();
    while (i as usize) < ops.len() {
        let [key, op] = ops[i as usize];
        if op == READ {
            let value = map.get_or(heap, key, NONE);
            let missed = value == NONE;
            now.missed += missed as u32;
            now.wrong += (!missed & (value & (ONE - 1) != mark(key))) as u32;
        } else {
            let result = if op == WRITE {
                inserted(map.insert(heap, key, i << 16 | mark(key)))
            } else {
                inserted(map.add(heap, key, ONE))
            };
            now.failed += (result > 1) as u32;
            now.new += (result == 1) as u32;
        }
        i += lanes;
    }
    *mixed = now;
}

/// Keys that each lane of [`map_age`] has for itself.
pub const OWN: u32 = 32;

/// A lane's key of that number.
#[inline(always)]
pub fn own_key(lane: u32, number: u32) -> u32 {
    // An odd factor keeps them distinct.
    (lane * OWN + number).wrapping_mul(0x9e37_79b1)
}

/// The value that a key has as long as it is there; never [`NONE`].
#[inline(always)]
pub fn own_value(key: u32) -> u32 {
    !key & (u32::MAX >> 1)
}

/// A lane's keys after a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Aged {
    /// A bit for each that is in the map.
    pub present: u32,
    /// Answers of the map that were not so.
    pub wrong: u32,
    /// Insertions and removals that failed. They have changed nothing.
    pub failed: u32,
}

/// Each lane looks for one of its keys in each of `steps` steps, and brings it if it is not there, else removes it.
#[kernel(allocators = [WarpHeap])]
pub fn map_age<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    seed: u32,
    steps: u32,
    aged: &mut Aged,
) {
    let mut now = *aged;
    for step in 0..steps {
        let number = hash(thread::index() ^ hash(seed ^ step << 8)) % OWN;
        let key = own_key(thread::index(), number);
        let there = now.present >> number & 1 != 0;
        let expected = if there { own_value(key) } else { NONE };
        now.wrong += (map.get_or(heap, key, NONE) != expected) as u32;
        let result = if there {
            removed(map.remove(heap, key))
        } else {
            inserted(map.insert(heap, key, own_value(key)))
        };
        now.wrong += (result == 0) as u32;
        now.failed += (result > 1) as u32;
        now.present ^= ((result == 1) as u32) << number;
    }
    *aged = now;
}
