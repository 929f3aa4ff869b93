//! The requests of a trace, made again.
//!
//! The host says which lane makes which [`Step`]s. Blocks have numbers; where they lie stands in a table, so that whichever lane has
//! a step of a block finds it. Two lanes never have steps of one block in the same launch.

use crate::churn::{DAMAGED, FAILED, FREED, add, add_together};
use crate::pattern::{ENDS, damage, words_of, write};
use warpheap_rt::api::select;
use warpheap_rt::device::*;

/// Asks for a block.
pub const MALLOC: u32 = 0;
/// Asks for a block that was not had in the trace.
pub const TRY: u32 = 1;
/// Gives a block back.
pub const FREE: u32 = 2;
/// Gives back what [`TRY`] got, if it got something.
pub const DROP: u32 = 3;
/// Asks for another size of a block.
pub const RESIZE: u32 = 4;

/// Index in `counts`, behind those of [`churn`](mod@crate::churn): blocks that [`MALLOC`] got, and [`RESIZE`] of a block that was not had.
pub const HAD: usize = 3;
/// Index in `counts`: blocks that were resized.
pub const RESIZED: usize = 4;
/// Index in `counts`: frees of blocks that were not had.
pub const SKIPPED: usize = 5;
/// Number of `counts`.
pub const COUNTS: usize = 6;

/// What a lane does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Step {
    /// [`MALLOC`] to [`RESIZE`].
    pub what: u32,
    /// Number of the block.
    pub block: u32,
    /// Bytes that are asked for.
    pub bytes: u32,
}

/// Where a block lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Place {
    /// The block, or the null handle.
    pub block: DevicePtr<u8>,
    /// Its bytes.
    pub bytes: u32,
}

/// Writes the ends of a block; of no bytes there is nothing to write.
#[inline(always)]
fn mark<A: DeviceAlloc>(heap: Heap<A>, place: Place, stamp: u32) {
    if place.bytes != 0 {
        write(heap, place.block, 0, words_of(place.bytes), stamp, ENDS);
    }
}

/// 1 if the ends of the first `bytes` of a block are not what was written.
#[inline(always)]
fn damaged<A: DeviceAlloc>(heap: Heap<A>, block: DevicePtr<u8>, bytes: u32, stamp: u32) -> u32 {
    let mut wrong = 0;
    if bytes != 0 {
        wrong = damage(heap, block, words_of(bytes), stamp, ENDS);
    }
    wrong
}

/// Bytes whose ends are as they were in a block that had `old` bytes and has `new`: of one that shrinks only the first word is, and less
/// than a word is not looked at.
#[inline(always)]
fn kept(old: u32, new: u32) -> u32 {
    let shrinks = new < old;
    let least = select(shrinks, new, old);
    select(least < 4, 0, select(shrinks, 4, old))
}

/// Lane `i` of `lanes` makes the steps `begins[first + i]..begins[first + i + 1]`, in order. A request that fails leaves a block as it
/// was. The ends of each block are written, and checked before it goes.
#[kernel(allocators = all, unsafe(slices))]
pub fn replay<A: DeviceAlloc>(
    heap: Heap<A>,
    steps: &[Step],
    begins: &[u32],
    places: &mut [Place],
    counts: &[AtomicWord],
    first: u32,
    lanes: u32,
) {
    let lane = thread::index();
    let at = (first + lane) as usize;
    if lane < lanes && at + 1 < begins.len() {
        let (mut had, mut resized, mut freed) = (0, 0, 0);
        let (mut failed, mut skipped, mut wrong) = (0, 0, 0);
        let end = select(
            begins[at + 1] < steps.len() as u32,
            begins[at + 1],
            steps.len() as u32,
        );
        for number in begins[at]..end {
            let step = steps[number as usize];
            let i = step.block as usize;
            if i < places.len() {
                let (what, stamp) = (step.what, step.block);
                // What the table has of a block that is yet to come is of the repeat before.
                let new = (what == MALLOC) | (what == TRY);
                let mut place = Place {
                    block: DevicePtr::NULL,
                    bytes: 0,
                };
                if !new {
                    place = places[i];
                }
                let none = place.block.is_null();
                let old = layout::bytes(place.bytes as usize);
                let size = step.bytes as usize;
                if new | (none & (what == RESIZE)) {
                    match heap.malloc(layout::bytes(size)) {
                        Ok(block) => {
                            place = Place {
                                block,
                                bytes: step.bytes,
                            };
                            mark(heap, place, stamp);
                            had += (what != TRY) as u32;
                        }
                        Err(_) => failed += 1,
                    }
                } else if what == RESIZE {
                    // SAFETY: the block of this number, of this layout; no other lane has a step of it now.
                    match unsafe { heap.realloc(place.block, old, size) } {
                        Ok(block) => {
                            wrong += damaged(heap, block, kept(place.bytes, step.bytes), stamp);
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
                    skipped += (what == FREE) as u32;
                } else {
                    wrong += damaged(heap, place.block, place.bytes, stamp);
                    // SAFETY: as above, and it is forgotten below.
                    unsafe { heap.free(place.block, old) };
                    freed += (what == FREE) as u32;
                    place.block = DevicePtr::NULL;
                }
                places[i] = place;
            }
        }
        add(counts, DAMAGED, wrong);
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

    #[test]
    fn what_a_resize_keeps_is_looked_at() {
        assert_eq!([kept(100, 200), kept(200, 100), kept(64, 64)], [100, 4, 64]);
        assert_eq!([kept(3, 50), kept(50, 3), kept(0, 8)], [0, 0, 0]);
    }
}
