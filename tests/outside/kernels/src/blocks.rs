//! Blocks of mixed sizes that are got, resized and given back in a long kernel of many functions, each in a branch
//! of its own. Lanes follow scripts that have nothing to do with each other, so a warp is in many of these
//! functions at once.
//!
//! Every block is full of words that tell whose it is. They are checked before it is given back, by kernels that look
//! at all blocks, and by the host.

use crate::numbers::mix;
use warpheap::device::*;

/// Blocks that a lane can have at once.
pub const SLOTS: u32 = 8;
/// Bytes of the largest block.
pub const LARGEST: u32 = 4096;

/// Word of the tally: blocks that did not hold what was written to them. The next three are requests that were not
/// served, by the code of the error.
pub const DAMAGED: usize = 0;
/// Word of the tally: blocks of `calloc` that were not zero.
pub const NOT_ZERO: usize = 4;
/// Word of the tally: blocks that began at an address of another alignment than was asked for.
pub const MISALIGNED: usize = 5;
/// Words of the tally.
pub const TALLY: usize = 6;

/// A block, and what is in it.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Block {
    /// Where it is; null if there is none.
    pub ptr: DevicePtr<u8>,
    /// Bytes that were asked for.
    pub bytes: u32,
    /// Alignment that was asked for.
    pub align: u32,
    /// Whose it is: no two blocks that were filled have the same.
    pub stamp: u32,
}

impl Block {
    /// None.
    pub const NONE: Block = Block {
        ptr: DevicePtr::NULL,
        bytes: 0,
        align: 16,
        stamp: 0,
    };

    /// What it was asked for with.
    #[inline(always)]
    pub fn layout(self) -> Layout {
        layout::aligned(self.bytes as usize, self.align as usize)
    }

    /// Words that it is full of.
    #[inline(always)]
    pub fn words(self) -> u32 {
        self.bytes.div_ceil(4)
    }

    /// Word `k` of it.
    #[inline(always)]
    pub fn word(self, k: u32) -> u32 {
        mix(self.stamp).wrapping_add(k.wrapping_mul(0x9e37_79b1))
    }
}

/// What a lane does in a step, if the slot has no block, or if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The slot.
    pub slot: u32,
    /// What a request is for, 0 to 4, if there is no block: a note, a table, a letter, a picture, an archive.
    pub request: u32,
    /// What is done with a block, 0 to 7: from 5 on it is given back.
    pub change: u32,
    /// A number that sizes follow from.
    pub chance: u32,
    /// What blocks of this step are filled with.
    pub stamp: u32,
}

/// Step `n` of a lane.
#[inline(always)]
pub fn step(lane: u32, n: u32) -> Step {
    let stamp = lane << 8 | (n & 0xff);
    let chance = mix(stamp ^ 0x5bd1_e995);
    Step {
        slot: chance % SLOTS,
        request: (chance >> 3) % 5,
        change: (chance >> 6) % 8,
        chance: chance >> 9,
        stamp,
    }
}

/// Bytes and alignment of a request.
#[inline(always)]
pub fn request(step: Step) -> [u32; 2] {
    let chance = step.chance;
    if step.request == 0 {
        [1 + chance % 64, 16]
    } else if step.request == 1 {
        [65 + chance % 448, 16]
    } else if step.request == 2 {
        [16 * (1 + chance % 32), 16]
    } else if step.request == 3 {
        [513 + chance % 1536, 256]
    } else {
        [LARGEST - chance % 2048, 16]
    }
}

/// Bytes of a block that grows.
#[inline(always)]
pub fn grown(bytes: u32) -> u32 {
    let bytes = bytes * 2 + 1;
    if bytes < LARGEST { bytes } else { LARGEST }
}

/// Bytes of a block that shrinks.
#[inline(always)]
pub fn shrunk(bytes: u32) -> u32 {
    bytes / 2 + 1
}

/// Fills a block.
#[inline(never)]
fn fill<A: DeviceAlloc>(heap: Heap<A>, block: Block) {
    let words: DevicePtr<u32> = block.ptr.cast();
    for k in 0..block.words() {
        // SAFETY: the block is this lane's and has as many words.
        unsafe { heap.store_at(words, k, block.word(k)) };
    }
}

/// Checks the first words of a block that was filled.
#[inline(never)]
fn check<A: DeviceAlloc>(heap: Heap<A>, block: Block, count: u32, tally: &[AtomicWord]) {
    let words: DevicePtr<u32> = block.ptr.cast();
    let mut wrong = 0;
    for k in 0..count {
        // SAFETY: the block is this lane's and has as many words.
        wrong |= unsafe { heap.load_at(words, k) } ^ block.word(k);
    }
    if wrong != 0 {
        tally[DAMAGED].fetch_add(1);
    }
}

/// The block that a request gave, filled; none, and the error is counted, if it gave none.
#[inline(always)]
fn got<A: DeviceAlloc>(
    heap: Heap<A>,
    answer: Result<DevicePtr<u8>, AllocError>,
    [bytes, align]: [u32; 2],
    stamp: u32,
    tally: &[AtomicWord],
) -> Block {
    match answer {
        Ok(ptr) => {
            if ptr.granule() % (align / 16) != 0 {
                tally[MISALIGNED].fetch_add(1);
            }
            let block = Block {
                ptr,
                bytes,
                align,
                stamp,
            };
            fill(heap, block);
            block
        }
        Err(error) => {
            tally[error.code() as usize].fetch_add(1);
            Block::NONE
        }
    }
}

/// A small block.
#[inline(never)]
fn note<A: DeviceAlloc>(heap: Heap<A>, step: Step, tally: &[AtomicWord]) -> Block {
    let shape = request(step);
    let answer = heap.malloc(layout::bytes(shape[0] as usize));
    got(heap, answer, shape, step.stamp, tally)
}

/// A block of zeros, which is looked at before it is filled.
#[inline(never)]
fn table<A: DeviceAlloc>(heap: Heap<A>, step: Step, tally: &[AtomicWord]) -> Block {
    let shape = request(step);
    let answer = heap.calloc(layout::bytes(shape[0] as usize));
    if let Ok(ptr) = answer {
        let mut union = 0;
        for k in 0..shape[0].div_ceil(4) {
            // SAFETY: the block was just got with as many words.
            union |= unsafe { heap.load_at(ptr.cast::<u32>(), k) };
        }
        if union != 0 {
            tally[NOT_ZERO].fetch_add(1);
        }
    }
    got(heap, answer, shape, step.stamp, tally)
}

/// An array.
#[inline(never)]
fn letter<A: DeviceAlloc>(heap: Heap<A>, step: Step, tally: &[AtomicWord]) -> Block {
    let shape = request(step);
    let answer = match heap.malloc_array::<[u32; 4]>(shape[0] / 16) {
        Ok(array) => Ok(array.cast()),
        Err(error) => Err(error),
    };
    got(heap, answer, shape, step.stamp, tally)
}

/// A block that begins at a multiple of 256 bytes.
#[inline(never)]
fn picture<A: DeviceAlloc>(heap: Heap<A>, step: Step, tally: &[AtomicWord]) -> Block {
    let shape = request(step);
    let answer = heap.malloc(layout::aligned(shape[0] as usize, shape[1] as usize));
    got(heap, answer, shape, step.stamp, tally)
}

/// A large block.
#[inline(never)]
fn archive<A: DeviceAlloc>(heap: Heap<A>, step: Step, tally: &[AtomicWord]) -> Block {
    let shape = request(step);
    let answer = heap.malloc(layout::bytes(shape[0] as usize));
    got(heap, answer, shape, step.stamp, tally)
}

/// Checks a block and gives it back.
#[inline(never)]
fn give_back<A: DeviceAlloc>(heap: Heap<A>, block: Block, tally: &[AtomicWord]) -> Block {
    check(heap, block, block.words(), tally);
    // SAFETY: the block was got with this layout, and its slot forgets it.
    unsafe { heap.free(block.ptr, block.layout()) };
    Block::NONE
}

/// Checks a block and resizes it. What is kept is checked again, and then it is filled anew. Without memory the
/// block stays as it was.
#[inline(never)]
fn resize<A: DeviceAlloc>(
    heap: Heap<A>,
    block: Block,
    bytes: u32,
    stamp: u32,
    tally: &[AtomicWord],
) -> Block {
    check(heap, block, block.words(), tally);
    // SAFETY: the block was got with this layout; if it moves, the slot gets the new handle.
    match unsafe { heap.realloc(block.ptr, block.layout(), bytes as usize) } {
        Ok(ptr) => {
            let mut kept = if bytes < block.bytes {
                bytes
            } else {
                block.bytes
            };
            kept /= 4;
            let moved = Block {
                ptr,
                bytes,
                ..block
            };
            check(heap, moved, kept, tally);
            let new = Block { stamp, ..moved };
            fill(heap, new);
            new
        }
        Err(error) => {
            tally[error.code() as usize].fetch_add(1);
            check(heap, block, block.words(), tally);
            block
        }
    }
}

/// Gives a block back and gets a smaller or larger one for it.
#[inline(never)]
fn replace<A: DeviceAlloc>(heap: Heap<A>, block: Block, step: Step, tally: &[AtomicWord]) -> Block {
    give_back(heap, block, tally);
    if step.chance & 1 == 0 {
        archive(heap, Step { request: 4, ..step }, tally)
    } else {
        note(heap, Step { request: 0, ..step }, tally)
    }
}

/// Uses two blocks for a while, beside the one in the slot.
#[inline(never)]
fn scratch<A: DeviceAlloc>(heap: Heap<A>, block: Block, step: Step, tally: &[AtomicWord]) -> Block {
    let first = table(heap, Step { request: 1, ..step }, tally);
    let other = !step.stamp;
    let second = picture(
        heap,
        Step {
            request: 3,
            stamp: other,
            ..step
        },
        tally,
    );
    check(heap, block, block.words(), tally);
    if !first.ptr.is_null() {
        give_back(heap, first, tally);
    }
    if !second.ptr.is_null() {
        give_back(heap, second, tally);
    }
    block
}

/// Each lane does `count` steps of its script, from step `first` on. Lane `i` has [`SLOTS`] slots, from `i` times as
/// many on.
#[kernel(allocators = all, unsafe(slices))]
pub fn churn<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &mut [Block],
    tally: &[AtomicWord],
    first: u32,
    count: u32,
) {
    let lane = thread::index();
    if ((lane * SLOTS + SLOTS) as usize) <= slots.len() {
        for n in first..first + count {
            let step = step(lane, n);
            let at = (lane * SLOTS + step.slot) as usize;
            let block = slots[at];
            slots[at] = if block.ptr.is_null() {
                if step.request == 0 {
                    note(heap, step, tally)
                } else if step.request == 1 {
                    table(heap, step, tally)
                } else if step.request == 2 {
                    letter(heap, step, tally)
                } else if step.request == 3 {
                    picture(heap, step, tally)
                } else {
                    archive(heap, step, tally)
                }
            } else if step.change < 2 {
                resize(heap, block, grown(block.bytes), step.stamp, tally)
            } else if step.change == 2 {
                resize(heap, block, shrunk(block.bytes), step.stamp, tally)
            } else if step.change == 3 {
                replace(heap, block, step, tally)
            } else if step.change == 4 {
                scratch(heap, block, step, tally)
            } else {
                give_back(heap, block, tally)
            };
        }
    }
}

/// Looks at all blocks: counts the damaged ones, and leaves the first and the last word of each.
#[kernel(allocators = all, unsafe(slices))]
pub fn audit<A: DeviceAlloc>(
    heap: Heap<A>,
    slots: &[Block],
    tally: &[AtomicWord],
    ends: &mut [[u32; 2]],
) {
    let lane = thread::index();
    for slot in lane * SLOTS..lane * SLOTS + SLOTS {
        let at = slot as usize;
        if (at < slots.len()) & (at < ends.len()) && !slots[at].ptr.is_null() {
            let block = slots[at];
            let words: DevicePtr<u32> = block.ptr.cast();
            check(heap, block, block.words(), tally);
            // SAFETY: nobody changes the block in this launch, and it has a word or more.
            let begin = unsafe { heap.load(words) };
            // SAFETY: as above.
            let end = unsafe { heap.load_at(words, block.words() - 1) };
            ends[at] = [begin, end];
        }
    }
}

/// Gives all blocks back.
#[kernel(allocators = all, unsafe(slices))]
pub fn clear<A: DeviceAlloc>(heap: Heap<A>, slots: &mut [Block], tally: &[AtomicWord]) {
    let lane = thread::index();
    for slot in lane * SLOTS..lane * SLOTS + SLOTS {
        let at = slot as usize;
        if at < slots.len() && !slots[at].ptr.is_null() {
            slots[at] = give_back(heap, slots[at], tally);
        }
    }
}
