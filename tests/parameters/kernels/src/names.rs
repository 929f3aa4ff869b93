//! A kernel and parameters whose names entries and launch functions have for themselves.

use warpheap_rt::device::*;

/// Adds `config`, the lane's element of `args` and the length of its list `width` to `pool`, behind a push to that list.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = listed)]
pub fn report<A: DeviceAlloc>(
    heap: Heap<A>,
    pool: &mut u32,
    args: &[u32],
    width: &mut HeapVec<u32>,
    config: u32,
) -> Result<(), AllocError> {
    width.push(heap, config)?;
    *pool += config + args[thread::index() as usize] + width.len();
    Ok(())
}
