//! Hash maps that many lanes use at once.

use warpheap_rt::adaptor::Failing;
use warpheap_rt::device::*;

/// What looking for a key that is not there gives.
pub const NONE: u32 = 0xdead_beef;

#[inline(always)]
pub(crate) fn inserted(result: Result<Before, AllocError>) -> u32 {
    match result {
        Ok(before) => !before.was_there() as u32,
        Err(error) => 100 + error.code(),
    }
}

#[inline(always)]
pub(crate) fn removed(result: Result<Before, AllocError>) -> u32 {
    match result {
        Ok(before) => before.was_there() as u32,
        Err(error) => 100 + error.code(),
    }
}

/// Makes `map[0]` an empty map with `2^root_bits` slots.
///
/// # Errors
/// As `HeapHashMap::init`.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_new<A: DeviceAlloc>(
    heap: Heap<A>,
    map: &mut [HeapHashMap<u32, u32>],
    root_bits: u32,
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if thread::index() == 0 {
        let mut new = HeapHashMap::none();
        result = new.init(heap, root_bits);
        map[0] = new;
    }
    result
}

/// Lane `i` inserts `keys[i]` with `values[i]` and writes to `results[i]` what came of it.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_insert<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    values: &[u32],
    results: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        results[i] = inserted(map.insert(heap, keys[i], values[i]));
    }
}

/// Lane `i` looks for `keys[i]` and writes its value, or [`NONE`].
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_get<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    results: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        results[i] = map.get_or(heap, keys[i], NONE);
    }
}

/// Lane `i` removes `keys[i]`.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_remove<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    results: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        results[i] = removed(map.remove(heap, keys[i]));
    }
}

/// Lane `i` adds `amounts[i]` to `keys[i]`.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_add<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    amounts: &[u32],
    results: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        results[i] = inserted(map.add(heap, keys[i], amounts[i]));
    }
}

/// All lanes together write the pairs of the map to `pairs`, in any order, and their number to `found[0]`,
/// which was zero. Before it does its part, lane `i` inserts `keys[i]`.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_list<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    keys: &[u32],
    found: &[AtomicWord],
    pairs: &mut [[u32; 2]],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < keys.len() {
        map.insert(heap, keys[i], NONE)?;
    }
    let mut cursor = map.cursor(heap, thread::index(), thread::count());
    while cursor.advance(heap) {
        let at = found[0].fetch_add(1) as usize;
        if at < pairs.len() {
            pairs[at] = [cursor.key(heap), cursor.value(heap)];
        }
    }
    Ok(())
}

/// All lanes together free removed keys.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>])]
pub fn map_tidy<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, u32>) {
    // SAFETY: the host launches it when nobody else uses them.
    unsafe { map.tidy_part(heap, thread::index(), thread::count()) };
}

/// All lanes together take all keys out.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>])]
pub fn map_clear<A: DeviceAlloc>(heap: Heap<A>, map: HeapHashMap<u32, u32>) {
    // SAFETY: the host launches it when nobody else uses them.
    unsafe { map.free_part(heap, thread::index(), thread::count()) };
}

/// One lane frees everything.
#[kernel(allocators = [WarpHeap, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn map_free<A: DeviceAlloc>(heap: Heap<A>, map: &mut [HeapHashMap<u32, u32>]) {
    if thread::index() == 0 {
        let mut all = map[0];
        // SAFETY: the host launches it when nobody else uses them.
        unsafe { all.free_all(heap) };
        map[0] = all;
    }
}
