//! The calls that a warp makes together.

use crate::pattern::{fill, intact, words_of};
use crate::program::{DAMAGED, OK};
use warpheap_rt::api::HeapMemory;
use warpheap_rt::device::*;

/// What a lane was left with.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Row {
    /// [`OK`], `DAMAGED`, or the code of the error that the last malloc returned; 1000 for a lane
    /// that did not call.
    pub code: u32,
    /// The block that it kept.
    pub kept: DevicePtr<u8>,
    /// Bytes of that block.
    pub size: u32,
    /// What the block is filled with.
    pub stamp: u32,
    /// The block of one word for each lane of the warp that its lanes share, null if there is none.
    pub shared: DevicePtr<u8>,
    /// Index of the lane in its warp.
    pub lane: u32,
}

/// The code of a lane that did not call.
pub const ABSENT: u32 = 1000;

/// The lanes of a warp together: malloc, write and check, and unless they keep the block, free. Lane
/// `i` asks for `size + i % 3 * spread` bytes. Lanes whose index leaves the rest `absent` when
/// divided by 4 do not call.
#[kernel(allocators = all, unsafe(slices))]
pub fn warp_calls<A: DeviceAlloc>(
    heap: Heap<A>,
    rows: &mut [Row],
    keep: u32,
    size: u32,
    spread: u32,
    absent: u32,
) {
    let index = thread::index();
    let mut row = Row {
        code: ABSENT,
        kept: DevicePtr::NULL,
        size: size + index % 3 * spread,
        stamp: index + 1,
        shared: DevicePtr::NULL,
        lane: thread::lane(),
    };
    if (index as usize) < rows.len() {
        if index % 4 != absent {
            row.code = OK;
            let words = words_of(row.size);
            let layout = layout::bytes(row.size as usize);
            // SAFETY: whichever lanes are here call.
            match unsafe { heap.malloc_warp(layout) } {
                Ok(ptr) => {
                    row.kept = ptr;
                    fill(heap, ptr, 0, words, row.stamp);
                    if !intact(heap, ptr, 0, words, words, row.stamp) {
                        row.code = DAMAGED;
                    }
                }
                Err(error) => row.code = error.code(),
            }
            if keep == 0 {
                // SAFETY: the block is this lane's, or null; whichever lanes are here call.
                unsafe { heap.free_warp(row.kept, layout) };
                row.kept = DevicePtr::NULL;
            }
        }
        rows[index as usize] = row;
    }
}

/// One block for the lanes of a warp that call: those that called before. Each writes its word of it.
#[kernel(allocators = all, unsafe(slices))]
pub fn warp_shares<A: DeviceAlloc>(heap: Heap<A>, rows: &mut [Row]) {
    let index = thread::index() as usize;
    if index < rows.len() {
        let mut row = rows[index];
        if row.code != ABSENT {
            let layout = layout::bytes(thread::warp_width() as usize * 4);
            // SAFETY: whichever lanes are here call, all with the same layout.
            match unsafe { heap.malloc_shared(layout) } {
                Ok(ptr) => {
                    row.shared = ptr;
                    // SAFETY: words of blocks that the lane has, or of the mailboxes that the host made.
                    unsafe { heap.words() }.write(heap.word_of(ptr) + row.lane as usize, row.stamp);
                }
                Err(error) => row.code = error.code(),
            }
            rows[index] = row;
        }
    }
}
