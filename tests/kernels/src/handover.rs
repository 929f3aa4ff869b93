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

/// What the lanes do in all rounds: allocate blocks of `least` to `least + range` bytes.
///
/// `least` is at least 8: a block carries its own size and stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Plan {
    /// The smallest block, in bytes.
    pub least: u32,
    /// How many bytes more the largest has.
    pub range: u32,
    /// Makes the sizes and the order of boxes.
    pub seed: u32,
}

/// Each lane, for `rounds` rounds and up to two more: allocates a block, writes it, puts it into a
/// box, and checks and frees the block that was in the box before, whoever put it there.
#[kernel(allocators = all)]
pub fn hand_over<A: DeviceAlloc>(
    heap: Heap<A>,
    boxes: &[AtomicWord],
    counts: &[AtomicWord],
    plan: Plan,
    rounds: u32,
) {
    // Some lanes go on when others have left the loop.
    for round in 0..rounds_of(rounds, thread::index()) {
        exchange(heap, boxes, counts, plan, round, true);
    }
}

/// [`hand_over`] for one round, without a loop around the allocator's code.
#[kernel(allocators = all)]
pub fn hand_over_once<A: DeviceAlloc>(
    heap: Heap<A>,
    boxes: &[AtomicWord],
    counts: &[AtomicWord],
    plan: Plan,
    rounds: u32,
    round: u32,
) {
    if round < rounds_of(rounds, thread::index()) {
        exchange(heap, boxes, counts, plan, round, true);
    }
}

/// After [`hand_over`]: lane `i` checks and frees what is in box `i`.
#[kernel(allocators = all)]
pub fn empty_boxes<A: DeviceAlloc>(
    heap: Heap<A>,
    boxes: &[AtomicWord],
    counts: &[AtomicWord],
    plan: Plan,
) {
    exchange(heap, boxes, counts, plan, 0, false);
}

/// Rounds of a lane, if all have `rounds` at least.
#[inline(always)]
pub fn rounds_of(rounds: u32, lane: u32) -> u32 {
    rounds + lane % 3
}

/// Puts a new block, or nothing, into a box; receives what was in it.
#[inline(always)]
fn exchange<A: DeviceAlloc>(
    heap: Heap<A>,
    boxes: &[AtomicWord],
    counts: &[AtomicWord],
    plan: Plan,
    round: u32,
    allocates: bool,
) {
    let lane = thread::index();
    let dice = hash(plan.seed ^ hash(lane.wrapping_mul(0x1_0001) ^ round));
    let mut at = lane as usize;
    let mut mine = EMPTY;
    if allocates {
        at = (dice >> 8) as usize % boxes.len();
        let size = plan.least + dice % (plan.range + 1);
        match heap.malloc(layout::bytes(size as usize)) {
            Ok(ptr) => {
                // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
                let memory = unsafe { heap.words() };
                memory.write(memory.word_of(ptr), size);
                memory.write(memory.word_of(ptr) + 1, dice);
                fill(heap, ptr, 2, size / 4, dice);
                mine = ptr.granule();
            }
            Err(_) => {
                counts[FAILED].fetch_add(1);
            }
        }
    }
    let mut got = EMPTY;
    if at < boxes.len() && (!allocates || mine != EMPTY) {
        let seen = boxes[at].load();
        heap.release();
        // Its own block if another lane was faster.
        got = mine;
        if boxes[at].compare_exchange(seen, mine) == seen {
            got = seen;
        }
        heap.acquire();
    }
    if got != EMPTY {
        receive(heap, counts, got, plan.least, plan.range);
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
    // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
    let memory = unsafe { heap.words() };
    let size = memory.read(memory.word_of(ptr));
    let stamp = memory.read(memory.word_of(ptr) + 1);
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
