//! Lanes that pass blocks to each other while all of them allocate.

use crate::pattern::{fill, intact};
use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Index in `counts`: blocks that did not hold what was written to them.
pub const DAMAGED: usize = 0;
/// Index in `counts`: blocks that a lane got from another lane's hands, checked and freed.
pub const RECEIVED: usize = 1;
/// Index in `counts`: mallocs that failed.
pub const FAILED: usize = 2;
/// Number of `counts`.
pub const COUNTS: usize = 3;

/// What an empty box holds.
pub const EMPTY: u32 = u32::MAX;

/// Each lane, for `rounds` rounds and up to two more: allocates a block of `least` to `least + range`
/// bytes, writes it, puts it into a box, and checks and frees the block that was in the box before,
/// whoever put it there. With no rounds, lane `i` empties box `i` instead.
///
/// `least` is at least 8: a block carries its own size and stamp.
#[kernel(allocators = all)]
pub fn hand_over<A: DeviceAlloc>(
    heap: Heap<A>,
    boxes: &[AtomicWord],
    counts: &[AtomicWord],
    rounds: u32,
    least: u32,
    range: u32,
    seed: u32,
) {
    let lane = thread::index();
    let empties = rounds == 0;
    // Some lanes go on when others have left the loop.
    let turns = if empties { 1 } else { rounds + lane % 3 };
    for turn in 0..turns {
        let dice = hash(seed ^ hash(lane.wrapping_mul(0x1_0001) ^ turn));
        let mut at = lane as usize;
        let mut mine = EMPTY;
        if !empties {
            at = (dice >> 8) as usize % boxes.len();
            let size = least + dice % (range + 1);
            match heap.malloc(layout::bytes(size as usize)) {
                Ok(ptr) => {
                    let memory = heap.words();
                    memory.write(ptr.word(), size);
                    memory.write(ptr.word() + 1, dice);
                    fill(heap, ptr, 2, size / 4, dice);
                    mine = ptr.granule();
                }
                Err(_) => {
                    counts[FAILED].fetch_add(1);
                }
            }
        }
        let mut got = EMPTY;
        if at < boxes.len() && (empties || mine != EMPTY) {
            let seen = boxes[at].load();
            heap.words().release();
            // Its own block if another lane was faster.
            got = mine;
            if boxes[at].compare_exchange(seen, mine) == seen {
                got = seen;
            }
            heap.words().acquire();
        }
        if got != EMPTY {
            receive(heap, counts, got, least, range);
        }
    }
}

/// Checks and frees a block.
#[inline(always)]
fn receive<A: DeviceAlloc>(
    heap: Heap<A>,
    counts: &[AtomicWord],
    handle: u32,
    least: u32,
    range: u32,
) {
    let ptr = DevicePtr::<u8>::from_granule(handle);
    let memory = heap.words();
    let size = memory.read(ptr.word());
    let stamp = memory.read(ptr.word() + 1);
    // A size that was overwritten says nothing of where the block ends.
    let sane = size >= least && size - least <= range;
    let words = if sane { size / 4 } else { 2 };
    if sane && intact(heap, ptr, 2, words, words, stamp) {
        counts[RECEIVED].fetch_add(1);
        // SAFETY: the block was put into a box by the lane that got it with this layout, and taken
        // out of it by this lane alone.
        unsafe { heap.free(ptr, layout::bytes(size as usize)) };
    } else {
        counts[DAMAGED].fetch_add(1);
    }
}
