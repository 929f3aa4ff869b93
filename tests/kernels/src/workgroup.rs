//! The calls that a block of lanes (a workgroup) makes together.

use crate::program::{DAMAGED, OK};
use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// What a lane was left with.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Row {
    /// [`OK`], `DAMAGED`, or the code of the error that the last malloc returned.
    pub code: u32,
    /// The memory that its block got in the last round, null if none.
    pub kept: DevicePtr<u8>,
    /// How many rounds were answered with memory.
    pub served: u32,
}

/// Word `i` as the one lane that writes all words leaves it.
fn by_one(block: u32, round: u32, i: u32) -> u32 {
    block * 0x0101_0101 + round * 0x1001 + i
}

/// A lane's own word as it leaves it.
pub fn by_each(index: u32, round: u32) -> u32 {
    !index ^ round << 24
}

/// In each round every block of lanes takes one block of memory with a word for each lane; one lane
/// writes all words, then all write their own, and every time all look at what others wrote. Memory is
/// freed but for the last round's if `keep` is not 0. The memory has room for `size` more bytes.
#[kernel(allocators = all, unsafe(slices))]
pub fn block_calls<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &mut [Row],
    rounds: u32,
    keep: u32,
    size: u32,
) {
    let (index, lane) = (thread::index(), thread::index_in_block());
    let (block, lanes) = (thread::block_index(), thread::block_dim());
    // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
    let words = unsafe { heap.words() };
    let layout = layout::bytes((lanes * 4 + size) as usize);
    let mut row = Row {
        code: OK,
        kept: DevicePtr::NULL,
        served: 0,
    };
    let mut damaged = false;
    let mut round = 0;
    while round < rounds {
        // SAFETY: all lanes of the block call, with the same layout.
        match unsafe { heap.malloc_block(layout) } {
            Ok(ptr) => row.kept = ptr,
            Err(error) => {
                row.kept = DevicePtr::NULL;
                row.code = error.code();
            }
        }
        // The same for all lanes of the block, which is what is tested: where it is not, lanes wait
        // for others in vain.
        if !row.kept.is_null() {
            row.served += 1;
            let first = heap.word_of(row.kept);
            if lane == (block + round) % lanes {
                let mut i = 0;
                while i < lanes {
                    words.write(first + i as usize, by_one(block, round, i));
                    i += 1;
                }
            }
            // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
            unsafe { thread::block_barrier() };
            let found = words.read(first + lane as usize);
            damaged |= found != by_one(block, round, lane);
            // The word that the next lane reads below is written by this one.
            words.write(first + lane as usize, by_each(index, round));
            // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
            unsafe { thread::block_barrier() };
            let next = (lane + 1) % lanes;
            let found = words.read(first + next as usize);
            damaged |= found != by_each(index - lane + next, round);
        }
        if keep == 0 || round + 1 < rounds {
            // SAFETY: all lanes of the block call, with memory that is theirs, or null.
            unsafe { heap.free_block(row.kept, layout) };
            row.kept = DevicePtr::NULL;
        }
        round += 1;
    }
    if damaged {
        row.code = DAMAGED;
    }
    if (index as usize) < rows.len() {
        rows[index as usize] = row;
    }
}
