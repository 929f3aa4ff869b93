//! What the lanes of a long run do.
//!
//! As in [`replay`](mod@crate::replay) the host says which lane makes which [`Step`]s, and where blocks lie stands in a table. There
//! are more calls, blocks lie at multiples of what each asks for, and words inside of them are looked at, too.

use crate::churn::{DAMAGED, FAILED, FREED, add, add_together};
use crate::pattern::{word, words_of};
use crate::replay::{HAD, Place, RESIZED, SKIPPED};
use warpheap_rt::api::{HeapMemory, select};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Asks for a block.
pub const MALLOC: u32 = 0;
/// Asks for a block of zeros, and looks whether it is one.
pub const CALLOC: u32 = 1;
/// Gives a block back.
pub const FREE: u32 = 2;
/// Asks for another size of a block.
pub const RESIZE: u32 = 3;
/// [`MALLOC`] of all lanes of a warp together. It is the first step of each of them.
pub const MALLOC_WARP: u32 = 4;
/// [`FREE`] of all lanes of a warp together. It is the first step of each of them; those with [`NONE`] have nothing to give.
pub const FREE_WARP: u32 = 5;

/// The number of no block.
pub const NONE: u32 = u32::MAX;

/// Index in `counts`, behind those of [`replay`](mod@crate::replay): blocks of [`CALLOC`] that were not all zero.
pub const DIRTY: usize = 6;
/// Number of `counts`.
pub const COUNTS: usize = 7;

/// Words of a block that are written and looked at: the first, the last, and others at random.
const MARKS: u32 = 6;

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Step {
    /// [`MALLOC`] to [`FREE_WARP`].
    pub what: u32,
    /// Number of the block.
    pub block: u32,
    /// Bytes that are asked for.
    pub bytes: u32,
    /// The block lies at a multiple of so many bytes: the same in all steps of it.
    pub align: u32,
}

/// A stamp that no other block has, nor this one with another size. Numbers are below 2^20, and there are two tables.
#[inline(always)]
fn stamp_of(side: u32, block: u32, bytes: u32) -> u32 {
    (block << 1 | side) ^ bytes << 21
}

/// Index of one of the words that are written in a block of so many.
#[inline(always)]
fn mark_at(mark: u32, words: u32, stamp: u32) -> u32 {
    let any = hash(stamp ^ mark << 29) % words;
    select(mark == 0, 0, select(mark == 1, words - 1, any))
}

/// Writes words of a block; of no bytes there is nothing to write.
#[inline(always)]
fn mark<A: DeviceAlloc>(heap: Heap<A>, place: Place, stamp: u32) {
    // SAFETY: the words are those of a live block that the lane has.
    let memory = unsafe { heap.words() };
    if place.bytes != 0 {
        let words = words_of(place.bytes);
        let mut k = 0;
        while k < MARKS {
            let i = mark_at(k, words, stamp);
            memory.write(memory.word_of(place.block) + i as usize, word(stamp, i));
            k += 1;
        }
    }
}

/// 1 if the words that [`mark`] wrote to a block of `bytes` bytes are not there, as far as they are among the first `kept` words. Lanes
/// with blocks of any sizes go the same way if nothing was to be lost.
#[inline(always)]
fn damaged<A: DeviceAlloc>(
    heap: Heap<A>,
    block: DevicePtr<u8>,
    bytes: u32,
    kept: u32,
    stamp: u32,
) -> u32 {
    // SAFETY: the words are those of a live block that the lane has.
    let memory = unsafe { heap.words() };
    let words = words_of(bytes);
    let mut wrong = 0;
    let mut k = 0;
    while k < MARKS {
        let i = mark_at(k, words, stamp);
        if i < kept {
            wrong |= memory.read(memory.word_of(block) + i as usize) ^ word(stamp, i);
        }
        k += 1;
    }
    (wrong != 0) as u32
}

/// Words of a block whose contents are known, of `bytes` bytes: all that were written.
#[inline(always)]
fn known(bytes: u32) -> u32 {
    select(bytes == 0, 0, words_of(bytes))
}

/// Words that a block keeps which had `old` bytes and has `new`.
#[inline(always)]
fn kept(old: u32, new: u32) -> u32 {
    select(old < new, old, new) / 4
}

/// 1 if a word of a block is not zero that its bytes are part of.
#[inline(always)]
fn dirty<A: DeviceAlloc>(heap: Heap<A>, block: DevicePtr<u8>, bytes: u32) -> u32 {
    // SAFETY: the words are those of a live block that the lane has.
    let memory = unsafe { heap.words() };
    let words = bytes / 4 + (bytes % 4 != 0) as u32;
    let mut found = 0;
    let mut i = 0;
    while i < words {
        found |= memory.read(memory.word_of(block) + i as usize);
        i += 1;
    }
    (found != 0) as u32
}

/// Lane `i` of `lanes` makes the steps `begins[i]..begins[i + 1]`, in order, on the table with the number `side`. A request that fails
/// leaves a block as it was. Words of each block are written, and checked before it goes.
///
/// Where a lane's first step is of its warp together, that of the others is, too.
#[kernel(allocators = all, unsafe(slices))]
pub fn soak<A: DeviceAlloc>(
    heap: Heap<A>,
    steps: &[Step],
    begins: &[u32],
    places: &mut [Place],
    counts: &[AtomicWord],
    side: u32,
    lanes: u32,
) {
    let lane = thread::index() as usize;
    if lane < lanes as usize && lane + 1 < begins.len() {
        let (mut had, mut resized, mut freed) = (0, 0, 0);
        let (mut failed, mut skipped) = (0, 0);
        let (mut wrong, mut unclean) = (0, 0);
        let end = select(
            begins[lane + 1] < steps.len() as u32,
            begins[lane + 1],
            steps.len() as u32,
        );
        let mut begin = begins[lane];
        let mut together = Step {
            what: FREE,
            block: NONE,
            bytes: 0,
            align: 16,
        };
        if begin < end {
            together = steps[begin as usize];
        }
        // In front of all that lanes do each by itself, behind which they need not meet again.
        let i = together.block as usize;
        if together.what == MALLOC_WARP && i < places.len() {
            let layout = layout::aligned(together.bytes as usize, together.align as usize);
            let mut place = Place {
                block: DevicePtr::NULL,
                bytes: together.bytes,
            };
            // SAFETY: the lanes of the warp come here together, as the host planned.
            match unsafe { heap.malloc_warp(layout) } {
                Ok(block) => {
                    place.block = block;
                    mark(heap, place, stamp_of(side, together.block, place.bytes));
                    had += 1;
                }
                Err(_) => failed += 1,
            }
            places[i] = place;
            begin += 1;
        }
        if together.what == FREE_WARP {
            let mut place = Place {
                block: DevicePtr::NULL,
                bytes: 0,
            };
            if i < places.len() {
                place = places[i];
            }
            let stamp = stamp_of(side, together.block, place.bytes);
            let there = !place.block.is_null();
            let words = select(there, known(place.bytes), 0);
            wrong += damaged(heap, place.block, place.bytes, words, stamp);
            let layout = layout::aligned(place.bytes as usize, together.align as usize);
            // SAFETY: the block of this number, of this layout, that is forgotten below; no other lane has a step of it now. The lanes
            // of the warp come here together, as the host planned.
            unsafe { heap.free_warp(place.block, layout) };
            freed += there as u32;
            if i < places.len() {
                place.block = DevicePtr::NULL;
                places[i] = place;
            }
            begin += 1;
        }
        for number in begin..end {
            let step = steps[number as usize];
            let i = step.block as usize;
            if i < places.len() {
                let what = step.what;
                // What the table has of a block that is yet to come is of the one before.
                let new = (what == MALLOC) | (what == CALLOC);
                let mut place = Place {
                    block: DevicePtr::NULL,
                    bytes: 0,
                };
                if !new {
                    place = places[i];
                }
                let none = place.block.is_null();
                let align = step.align as usize;
                let old = layout::aligned(place.bytes as usize, align);
                let old_stamp = stamp_of(side, step.block, place.bytes);
                let stamp = stamp_of(side, step.block, step.bytes);
                let size = step.bytes as usize;
                if new | (none & (what == RESIZE)) {
                    let mut block = DevicePtr::NULL;
                    if what == CALLOC {
                        if let Ok(zeros) = heap.calloc(layout::aligned(size, align)) {
                            unclean += dirty(heap, zeros, step.bytes);
                            block = zeros;
                        }
                    } else if let Ok(any) = heap.malloc(layout::aligned(size, align)) {
                        block = any;
                    }
                    if block.is_null() {
                        failed += 1;
                    } else {
                        place = Place {
                            block,
                            bytes: step.bytes,
                        };
                        mark(heap, place, stamp);
                        had += 1;
                    }
                } else if what == RESIZE {
                    // SAFETY: the block of this number, of this layout; no other lane has a step of it now.
                    match unsafe { heap.realloc(place.block, old, size) } {
                        Ok(block) => {
                            let words = kept(place.bytes, step.bytes);
                            wrong += damaged(heap, block, place.bytes, words, old_stamp);
                            place = Place {
                                block,
                                bytes: step.bytes,
                            };
                            mark(heap, place, stamp);
                            resized += 1;
                        }
                        Err(_) => failed += 1,
                    }
                } else if none {
                    skipped += 1;
                } else {
                    let words = known(place.bytes);
                    wrong += damaged(heap, place.block, place.bytes, words, old_stamp);
                    // SAFETY: as above, and it is forgotten below.
                    unsafe { heap.free(place.block, old) };
                    freed += 1;
                    place.block = DevicePtr::NULL;
                }
                places[i] = place;
            }
        }
        add(counts, DAMAGED, wrong);
        add(counts, DIRTY, unclean);
        add_together(counts, FAILED, failed);
        add_together(counts, FREED, freed);
        add_together(counts, HAD, had);
        add_together(counts, RESIZED, resized);
        add_together(counts, SKIPPED, skipped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn what_a_resize_keeps_is_looked_at() {
        assert_eq!([kept(100, 200), kept(200, 100), kept(64, 64)], [25, 25, 16]);
        assert_eq!([kept(3, 50), kept(50, 3), kept(0, 8)], [0, 0, 0]);
        assert_eq!([known(0), known(1), known(8), known(11)], [0, 1, 2, 2]);
    }

    #[test]
    fn marks_lie_in_a_block_at_its_ends_and_anywhere() {
        let mut inside = HashSet::new();
        for stamp in 0..200 {
            for words in [1, 2, 3, 100] {
                let at = |mark| mark_at(mark, words, stamp_of(1, stamp, words * 4));
                assert_eq!([at(0), at(1)], [0, words - 1]);
                let others = (2..MARKS).map(at);
                others.for_each(|i| {
                    assert!(i < words);
                    inside.insert((words, i));
                });
            }
        }
        assert!(inside.len() > 100, "{} words", inside.len());
    }

    #[test]
    fn blocks_have_stamps_of_their_own() {
        let last = (1 << 20) - 1;
        let blocks = [(0, 0), (1, 0), (0, 1), (1, last), (0, last)];
        let all: HashSet<u32> = blocks
            .iter()
            .flat_map(|&(side, block)| [0, 1, 2047].map(|bytes| stamp_of(side, block, bytes)))
            .collect();
        assert_eq!(all.len(), 15);
    }
}
