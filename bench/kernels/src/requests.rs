//! One request per lane, each lane keeping the handle of its block in a slice.
//!
//! Sizes are arguments and not constants: what an allocator computes from a size counts. Kernels that do
//! nothing else are compiled for the number of registers that their allocator likes best, but for those in which lanes ask
//! for different sizes: that is the number for the quick way, which these do not take.

use crate::mix::Mix;
use warpheap_rt::device::*;

/// Lane `i` allocates `size` bytes and stores the handle in `blocks[i]`, the null handle if there was
/// none. Lanes call by themselves.
#[kernel(allocators = all, max_registers = lean, unsafe(slices))]
pub fn malloc<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    size: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let block = heap.malloc(layout::bytes(size as usize));
        return keep(blocks, i, block);
    }
    Ok(())
}

/// Lane `i` frees `blocks[i]`, of `size` bytes. Lanes call by themselves.
#[kernel(allocators = all, max_registers = lean)]
pub fn free<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], size: u32) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        // SAFETY: the index was checked. The block is `malloc`'s, of this size, and freed once: the
        // host queues one `free` for each `malloc`.
        unsafe { heap.free(*blocks.get_unchecked(i), layout::bytes(size as usize)) };
    }
}

/// Like [`malloc`], the lanes of a warp together.
#[kernel(allocators = all, max_registers = lean, unsafe(slices))]
pub fn malloc_warp<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    size: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < blocks.len() {
        // SAFETY: the lanes of a warp with a place in the slice come here together.
        let block = unsafe { heap.malloc_warp(layout::bytes(size as usize)) };
        return keep(blocks, i, block);
    }
    Ok(())
}

/// Like [`free`], the lanes of a warp together.
#[kernel(allocators = all, max_registers = lean)]
pub fn free_warp<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], size: u32) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        // SAFETY: as in `free`, and the lanes of a warp with a place in the slice come here together.
        unsafe { heap.free_warp(*blocks.get_unchecked(i), layout::bytes(size as usize)) };
    }
}

/// Like [`malloc`], each lane the size of its request of `mix`.
#[kernel(allocators = all, unsafe(slices))]
pub fn malloc_mixed<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    mix: Mix,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let block = heap.malloc(layout::bytes(mix.size(i as u32) as usize));
        return keep(blocks, i, block);
    }
    Ok(())
}

/// Like [`free`], for blocks of [`malloc_mixed`].
#[kernel(allocators = all, max_registers = lean)]
pub fn free_mixed<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], mix: Mix) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let layout = layout::bytes(mix.size(i as u32) as usize);
        // SAFETY: as in `free`.
        unsafe { heap.free(*blocks.get_unchecked(i), layout) };
    }
}

/// Like [`malloc_mixed`], the lanes of a warp together.
#[kernel(allocators = all, unsafe(slices))]
pub fn malloc_mixed_warp<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    mix: Mix,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let layout = layout::bytes(mix.size(i as u32) as usize);
        // SAFETY: as in `malloc_warp`.
        let block = unsafe { heap.malloc_warp(layout) };
        return keep(blocks, i, block);
    }
    Ok(())
}

/// Like [`free_mixed`], the lanes of a warp together.
#[kernel(allocators = all, max_registers = lean)]
pub fn free_mixed_warp<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], mix: Mix) {
    let i = thread::index() as usize;
    if i < blocks.len() {
        let layout = layout::bytes(mix.size(i as u32) as usize);
        // SAFETY: as in `free_warp`.
        unsafe { heap.free_warp(*blocks.get_unchecked(i), layout) };
    }
}

/// Stores the outcome of a request; `i` is less than the length of `blocks`.
#[inline(always)]
fn keep(
    blocks: &mut [DevicePtr<u8>],
    i: usize,
    outcome: Result<DevicePtr<u8>, AllocError>,
) -> Result<(), AllocError> {
    match outcome {
        Ok(block) => {
            // SAFETY: the callers checked the index.
            unsafe { *blocks.get_unchecked_mut(i) = block };
            Ok(())
        }
        Err(error) => {
            // SAFETY: the callers checked the index.
            unsafe { *blocks.get_unchecked_mut(i) = DevicePtr::NULL };
            Err(error)
        }
    }
}
