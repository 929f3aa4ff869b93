//! A kernel in whose lanes blocks come and go.

use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// Slots of a lane.
const SLOTS: usize = 4;

/// A block of a lane.
#[derive(Clone, Copy)]
struct Block {
    ptr: DevicePtr<u8>,
    layout: Layout,
}

/// Each lane allocates, fills, resizes, checks and frees blocks of many sizes and alignments, `rounds` times; then frees what it
/// has. It counts words that are not what it wrote.
#[kernel(allocators = listed)]
pub fn churn<A: DeviceAlloc>(heap: Heap<A>, damaged: &mut u32, rounds: u32) {
    let mut blocks = [Block {
        ptr: DevicePtr::NULL,
        layout: layout::bytes(0),
    }; SLOTS];
    let mut random = thread::index().wrapping_mul(0x9e37_79b1) ^ 0x5a5a;
    let mut round = 0;
    while round < rounds {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let slot = (random >> 30) as usize;
        let block = &mut blocks[slot];
        *damaged += wrong_words(heap, *block);
        let size = ((random >> 8) % 700) as usize;
        if block.ptr.is_null() {
            let align = 1 << (random >> 20 & 7);
            let layout = heap.rounded(layout::aligned(size, align));
            if let Ok(ptr) = heap.malloc(layout) {
                *block = Block { ptr, layout };
            }
        } else if random >> 24 & 3 == 0 {
            // SAFETY: the block is this lane's.
            let moved = unsafe { heap.realloc(block.ptr, block.layout, size) };
            if let Ok(ptr) = moved {
                let layout = layout::aligned(size, block.layout.align());
                *block = Block { ptr, layout };
            }
        } else {
            // SAFETY: the block is this lane's.
            unsafe { heap.free(block.ptr, block.layout) };
            block.ptr = DevicePtr::NULL;
        }
        fill(heap, *block);
        round += 1;
    }
    let mut slot = 0;
    while slot < SLOTS {
        let block = blocks[slot];
        *damaged += wrong_words(heap, block);
        // SAFETY: the block is this lane's, or null.
        unsafe { heap.free(block.ptr, block.layout) };
        slot += 1;
    }
}

/// Words of a block that belong to its owner.
fn words_of(block: Block) -> usize {
    match block.ptr.is_null() {
        true => 0,
        false => block.layout.size().div_ceil(4),
    }
}

fn fill<A: DeviceAlloc>(heap: Heap<A>, block: Block) {
    for word in 0..words_of(block) {
        let at = heap.word_of(block.ptr) + word;
        // SAFETY: the block is the lane's.
        unsafe { heap.words() }.write(at, at as u32);
    }
}

fn wrong_words<A: DeviceAlloc>(heap: Heap<A>, block: Block) -> u32 {
    let mut wrong = 0;
    for word in 0..words_of(block) {
        let at = heap.word_of(block.ptr) + word;
        // SAFETY: the block is the lane's.
        wrong += (unsafe { heap.words() }.read(at) != at as u32) as u32;
    }
    wrong
}
