//! Programs without mistakes, for `WarpHeap` and each adaptor around it: what an adaptor costs.

use warpheap_rt::api::{HeapMemory, select};
use warpheap_rt::device::*;
use warpheap_rt::sync::hash;

/// Blocks that a lane of [`turns`] has at a time.
const SLOTS: u32 = 4;

/// A block of a lane and the number by which it was asked for.
#[derive(Clone, Copy)]
struct Held {
    ptr: DevicePtr<u8>,
    number: u32,
}

const NOTHING: Held = Held {
    ptr: DevicePtr::NULL,
    number: 0,
};

/// Multiples of 4 from 16 to 1024 bytes.
#[inline(always)]
fn bytes(number: u32) -> usize {
    (16 + hash(number) % 253 * 4) as usize
}

/// Each lane, `rounds` times: picks one of its four slots, frees the block in it, allocates one of another size and writes its ends;
/// in the end it frees all. `wrong` counts ends that are not what was written, and requests that failed.
#[kernel(allocators = [WarpHeap, Checked<WarpHeap>, Limited<WarpHeap>, Counted<WarpHeap>, Traced<WarpHeap>])]
pub fn turns<A: DeviceAlloc>(heap: Heap<A>, wrong: &mut u32, rounds: u32) {
    let mut held = [NOTHING; SLOTS as usize];
    let first = hash(thread::index());
    let mut round = 0;
    while round < rounds + SLOTS {
        let number = first.wrapping_add(round);
        let random = match round < rounds {
            true => hash(number) >> 7,
            false => round - rounds,
        };
        let slot = &mut held[(random % SLOTS) as usize];
        *wrong += give_back(heap, *slot);
        *slot = NOTHING;
        if round < rounds {
            match heap.malloc(layout::bytes(bytes(number))) {
                Ok(ptr) => {
                    *slot = Held { ptr, number };
                    write_ends(heap, *slot);
                }
                Err(_) => *wrong += 1,
            }
        }
        round += 1;
    }
}

/// Each lane has a row, to which it adds a few numbers: rows of a graph that grows. `wrong` counts pushes that failed.
#[kernel(allocators = [WarpHeap, Checked<WarpHeap>, Limited<WarpHeap>, Counted<WarpHeap>, Traced<WarpHeap>])]
pub fn rows<A: DeviceAlloc>(heap: Heap<A>, row: &mut HeapVec<u32>, wrong: &mut u32, round: u32) {
    let random = hash(thread::index() ^ round.wrapping_mul(0x9e37_79b1));
    // Of eight rows one changes, and of those one in sixteen by far more.
    let few = select(random >> 28 == 0, 24, 6);
    let changes = select(random & 7 == 0, few, 0);
    let mut step = 0;
    while step < changes {
        *wrong += row.push(heap, random.wrapping_add(step)).is_err() as u32;
        step += 1;
    }
}

/// Each lane gives its row back.
#[kernel(allocators = [WarpHeap, Checked<WarpHeap>, Limited<WarpHeap>, Counted<WarpHeap>, Traced<WarpHeap>])]
pub fn free_rows<A: DeviceAlloc>(heap: Heap<A>, row: &mut HeapVec<u32>) {
    row.free(heap);
}

/// The last word of a block; the first is where it begins.
#[inline(always)]
fn last<A: DeviceAlloc>(heap: Heap<A>, held: Held) -> usize {
    heap.word_of(held.ptr) + bytes(held.number) / 4 - 1
}

#[inline(always)]
fn write_ends<A: DeviceAlloc>(heap: Heap<A>, held: Held) {
    // SAFETY: the block is the lane's.
    let words = unsafe { heap.words() };
    words.write(heap.word_of(held.ptr), held.number);
    words.write(last(heap, held), held.number);
}

/// Frees a block, if there is one, and counts the ends of it that are not what was written.
#[inline(always)]
fn give_back<A: DeviceAlloc>(heap: Heap<A>, held: Held) -> u32 {
    if held.ptr.is_null() {
        return 0;
    }
    // SAFETY: the block is the lane's.
    let words = unsafe { heap.words() };
    let first = (words.read(heap.word_of(held.ptr)) != held.number) as u32;
    let wrong = first + (words.read(last(heap, held)) != held.number) as u32;
    // SAFETY: the block is the lane's, and of this size.
    unsafe { heap.free(held.ptr, layout::bytes(bytes(held.number))) };
    wrong
}
