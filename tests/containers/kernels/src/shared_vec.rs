//! A vector that all lanes append to.

use super::list::PENDING;
use warpheap_rt::device::*;

/// What a lane leaves as a code that does not read its own element back.
pub const WRONG: u32 = 77;

/// One lane makes a vector whose first segment has `1 << log2` elements.
///
/// # Errors
/// As `HeapSharedVec::new_in`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn make_shared<A: DeviceAlloc>(
    heap: Heap<A>,
    log2: u32,
    out: &mut [HeapSharedVec<[u32; 2]>],
) -> Result<(), AllocError> {
    if thread::index() == 0 {
        out[0] = HeapSharedVec::new_in(heap, log2)?;
    }
    Ok(())
}

/// Lane `i` appends `[i, k]` for each `k` below `each` that `codes[i * each + k]` says is pending; there it leaves 0
/// or the error, and in `indices` where the element is.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn push_shared<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: HeapSharedVec<[u32; 2]>,
    each: u32,
    codes: &mut [u32],
    indices: &mut [u32],
) {
    let lane = thread::index();
    for k in 0..each {
        let slot = (lane * each + k) as usize;
        if slot < codes.len() && codes[slot] == PENDING {
            match vector.push(heap, [lane, k]) {
                Ok(index) => {
                    indices[slot] = index;
                    let mine = vector.get_or(heap, index, [!lane, !k]);
                    codes[slot] = (mine[0] ^ lane | mine[1] ^ k != 0) as u32 * WRONG;
                }
                Err(error) => codes[slot] = error.code(),
            }
        }
    }
}

/// Lane `i` reads element `i` into `found[i]`, and overwrites it with `value`; lane 0 tells the length.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn read_shared<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: HeapSharedVec<[u32; 2]>,
    value: u32,
    found: &mut [[u32; 2]],
    len: &mut [u32],
) {
    let lane = thread::index();
    if (lane as usize) < found.len() {
        found[lane as usize] = vector.get_or(heap, lane, [PENDING; 2]);
        if lane == 0 {
            len[0] = vector.len(heap);
        }
        let there = vector.set(heap, lane, [value; 2]);
        if there != (lane < vector.len(heap)) {
            len[0] = WRONG;
        }
    }
}

/// One lane frees the vector.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn free_shared<A: DeviceAlloc>(heap: Heap<A>, vector: HeapSharedVec<[u32; 2]>) {
    if thread::index() == 0 {
        let mut vector = vector;
        // SAFETY: the host uses it no more.
        unsafe { vector.free(heap) };
    }
}
