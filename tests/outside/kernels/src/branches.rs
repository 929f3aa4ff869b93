//! Lanes grow vectors of their own, in three branches. Most vectors are short and a few are very long, so the
//! lanes of a warp part at once and stay apart.

use crate::numbers::{TRIES, mix};
use warpheap::device::*;

/// The longest vector.
pub const LONGEST: u32 = 10_000;

/// An element of four words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Reading {
    /// The lane that pushes it.
    pub lane: u32,
    /// Its index.
    pub number: u32,
    /// A value as if by chance.
    pub value: u32,
    /// What the others tell of.
    pub check: u32,
}

/// Elements that a lane pushes: a length `n` or more has the probability `1 / n`. Some lanes are sure to push as
/// many as there can be.
#[inline(always)]
pub fn length(lane: u32) -> u32 {
    let len = 65_536 / ((mix(lane) >> 16) + 1);
    if (len < LONGEST) & (lane % 4096 != 20) {
        len
    } else {
        LONGEST
    }
}

/// Element `k` of a lane of the first branch.
#[inline(always)]
pub fn ascending(lane: u32, k: u32) -> u32 {
    lane.wrapping_mul(31).wrapping_add(k)
}

/// Element `k` of a lane of the second branch.
#[inline(always)]
pub fn scattered(lane: u32, k: u32) -> u32 {
    mix(lane ^ k << 12)
}

/// Element `k` of a lane of the third branch.
#[inline(always)]
pub fn reading(lane: u32, k: u32) -> Reading {
    let value = mix(lane.wrapping_add(k));
    Reading {
        lane,
        number: k,
        value,
        check: lane ^ k ^ value,
    }
}

/// Lane `i` pushes as many elements as [`length`] says to a vector of its own: to `words[i]`, one in three of
/// them to `readings[i]`. One in three makes room for half of them before.
///
/// # Errors
/// As `HeapVec::push`: the vector keeps what it has.
#[kernel(allocators = all)]
pub fn grow<A: DeviceAlloc>(
    heap: Heap<A>,
    words: &mut HeapVec<u32>,
    readings: &mut HeapVec<Reading>,
) -> Result<(), AllocError> {
    let lane = thread::index();
    let mut result = Ok(());
    let len = length(lane);
    let mut tries = 0;
    if lane % 3 == 0 {
        while (words.len() < len) & result.is_ok() {
            match words.push(heap, ascending(lane, words.len())) {
                Ok(()) => {}
                // Rare, and asking again is what to do.
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                Err(error) => result = Err(error),
            }
        }
    } else if lane % 3 == 1 {
        // Without this room the pushes find it.
        let _ = words.reserve(heap, len / 2);
        while (words.len() < len) & result.is_ok() {
            match words.push(heap, scattered(lane, words.len())) {
                Ok(()) => {}
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                Err(error) => result = Err(error),
            }
        }
    } else {
        while (readings.len() < len) & result.is_ok() {
            match readings.push(heap, reading(lane, readings.len())) {
                Ok(()) => {}
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                Err(error) => result = Err(error),
            }
        }
    }
    result
}

/// Lane `i` copies its elements to `out`, from the word `starts[i]` on, and frees its vector.
#[kernel(allocators = all, unsafe(slices))]
pub fn copy_and_free<A: DeviceAlloc>(
    heap: Heap<A>,
    words: &mut HeapVec<u32>,
    readings: &mut HeapVec<Reading>,
    starts: &[u32],
    out: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < starts.len() {
        let mut at = starts[i] as usize;
        if i % 3 == 2 {
            for k in 0..readings.len() {
                let found = readings.get_or(heap, k, reading(0, 0));
                out[at] = found.lane;
                out[at + 1] = found.number;
                out[at + 2] = found.value;
                out[at + 3] = found.check;
                at += 4;
            }
            readings.free(heap);
        } else {
            for k in 0..words.len() {
                out[at] = words.get_or(heap, k, 0);
                at += 1;
            }
            words.free(heap);
        }
    }
}
