//! A hash map of words, filled by one launch and asked by another: what the map and the allocator below it can do.

use warpheap_rt::device::*;

/// Lane `i` inserts `keys[i]` with the value `values[i]`. `fresh[i]` becomes 1 if it was not there, 0 otherwise.
///
/// # Errors
/// As `HeapHashMap::insert`.
#[kernel(allocators = all, unsafe(slices))]
pub fn map_insert<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    values: &[u32],
    fresh: &mut [u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < keys.len() {
        let before = map.insert(heap, keys[i], values[i])?;
        fresh[i] = !before.was_there() as u32;
    }
    Ok(())
}

/// Lane `i` writes the value of `keys[i]` to `values[i]`, `u32::MAX` if it is not there.
#[kernel(allocators = all, unsafe(slices))]
pub fn map_find<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    values: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        values[i] = map.get_or(heap, keys[i], u32::MAX);
    }
}
