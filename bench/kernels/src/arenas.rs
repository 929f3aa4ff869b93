//! Arenas of warps: each lane a request, and the end of the arena instead of frees.

use crate::contents;
use crate::mix::Mix;
use warpheap_rt::device::*;

/// Each warp starts an arena and hands it over; lane `i` allocates request `i` of `mix` from it. The block
/// goes to `blocks[i]` and the arena to `arenas[i]`, null handles if there was none.
#[kernel(allocators = [FdgMalloc<WarpHeap>], unsafe(slices))]
pub fn arena_malloc<A: WarpArena>(
    heap: Heap<A>,
    blocks: &mut [DevicePtr<u8>],
    arenas: &mut [DevicePtr<u8>],
    mix: Mix,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    let mut outcome = Ok(());
    if (i < blocks.len()) & (i < arenas.len()) {
        let mut block = DevicePtr::NULL;
        let mut handle = DevicePtr::NULL;
        // SAFETY: the lanes of a warp with a place in the slices come here together.
        match unsafe { heap.allocator().start() } {
            Ok(arena) => {
                let layout = layout::bytes(mix.size(i as u32) as usize);
                // SAFETY: as above; the arena is this warp's.
                match unsafe { heap.allocator().alloc(arena, layout) } {
                    Ok(ptr) => block = ptr,
                    Err(error) => outcome = Err(error),
                }
                // SAFETY: as above.
                handle = unsafe { heap.allocator().hand_over(arena) };
            }
            Err(error) => outcome = Err(error),
        }
        blocks[i] = block;
        arenas[i] = handle;
    }
    outcome
}

/// Each warp takes its arena of [`arena_malloc`] over and ends it.
#[kernel(allocators = [FdgMalloc<WarpHeap>])]
pub fn arena_end<A: WarpArena>(heap: Heap<A>, arenas: &[DevicePtr<u8>]) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < arenas.len() {
        // SAFETY: as in `arena_malloc`, whose blocks are used no more.
        match unsafe { heap.allocator().take_over(arenas[i]) } {
            Ok(arena) => {
                // SAFETY: as above.
                unsafe { heap.allocator().end(arena) };
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// [`contents::mark`] of blocks of [`arena_malloc`].
#[kernel(allocators = [FdgMalloc<WarpHeap>])]
pub fn arena_mark<A: DeviceAlloc>(heap: Heap<A>, blocks: &[DevicePtr<u8>], mix: Mix, seed: u32) {
    contents::mark(heap, blocks, mix, seed);
}

/// [`contents::verify`] of blocks of [`arena_malloc`].
#[kernel(allocators = [FdgMalloc<WarpHeap>])]
pub fn arena_verify<A: DeviceAlloc>(
    heap: Heap<A>,
    blocks: &[DevicePtr<u8>],
    counts: &[AtomicWord],
    mix: Mix,
    seed: u32,
) {
    contents::verify(heap, blocks, counts, mix, seed);
}
