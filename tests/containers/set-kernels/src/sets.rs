//! Hash sets, and hash maps with lists of values, that many lanes use at once.

use warpheap_rt::device::*;

/// Lane `i` inserts `keys[i]` and writes whether it was there.
///
/// # Errors
/// As `HeapHashSet::insert`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn set_insert<A: DeviceAlloc>(
    heap: Heap<A>,
    set: HeapHashSet<[u32; 2]>,
    keys: &[[u32; 2]],
    was_there: &mut [u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < keys.len() {
        was_there[i] = set.insert(heap, keys[i])?.was_there() as u32;
    }
    Ok(())
}

/// Lane `i` writes whether `keys[i]` is there, and removes it if `remove` is not 0.
///
/// # Errors
/// As `HeapHashSet::remove`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn set_ask<A: DeviceAlloc>(
    heap: Heap<A>,
    set: HeapHashSet<[u32; 2]>,
    keys: &[[u32; 2]],
    was_there: &mut [u32],
    remove: u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < keys.len() {
        if remove != 0 {
            was_there[i] = set.remove(heap, keys[i])?.was_there() as u32;
        } else {
            was_there[i] = set.contains(heap, keys[i]) as u32;
        }
    }
    Ok(())
}

/// One lane makes `set[0]` a set, or counts the keys of the one that is there and frees it.
///
/// # Errors
/// As `HeapHashSet::init`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn set_own<A: DeviceAlloc>(
    heap: Heap<A>,
    set: &mut [HeapHashSet<[u32; 2]>],
    count: &mut [u32],
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if thread::index() == 0 {
        let mut own = set[0];
        if own.is_none() {
            result = own.init(heap, 4);
        } else {
            let mut keys = 0;
            let mut cursor = own.cursor(heap, 0, 1);
            while cursor.advance(heap) {
                keys += 1;
            }
            count[0] = keys;
            // SAFETY: the host launches it when nobody else uses them.
            unsafe { own.free_all(heap) };
        }
        set[0] = own;
    }
    result
}

/// Lane `i` pushes `values[i]` to `keys[i]`.
///
/// # Errors
/// As `HeapMultiMap::push`.
#[kernel(allocators = [WarpHeap, RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn multi_push<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapMultiMap<u32, u32>,
    keys: &[u32],
    values: &[u32],
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    if i < keys.len() {
        map.push(heap, keys[i], values[i])?;
    }
    Ok(())
}

/// Lane `i` writes number and sum of the values of `keys[i]`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn multi_sum<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapMultiMap<u32, u32>,
    keys: &[u32],
    sums: &mut [[u32; 2]],
) {
    let i = thread::index() as usize;
    if i < keys.len() {
        let mut sum = 0u32;
        let mut values = map.values(heap, keys[i]);
        while !values.is_done() {
            sum = sum.wrapping_add(values.next_or(heap, 0));
        }
        sums[i] = [map.len(heap, keys[i]), sum];
    }
}

/// One lane makes `map[0]`. In a launch of its own: others would find the handle before they know the root.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn multi_begin<A: DeviceAlloc>(
    heap: Heap<A>,
    map: &mut [HeapMultiMap<u32, u32>],
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if thread::index() == 0 {
        let mut own = map[0];
        result = own.init(heap, 4);
        map[0] = own;
    }
    result
}

/// Counts the values of `map[0]` and frees all but its root.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn multi_own<A: DeviceAlloc>(
    heap: Heap<A>,
    map: &mut [HeapMultiMap<u32, u32>],
    counts: &mut [u32],
) {
    let i = thread::index();
    let own = map[0];
    let mut values = 0;
    // The shares of free_part, so that nobody looks at what another lane frees.
    if i < 16 {
        let mut cursor = own.cursor(heap, i, 16);
        while cursor.advance(heap) {
            values += cursor.len(heap);
        }
        // SAFETY: the host launches it when nobody else uses them.
        unsafe { own.free_part(heap, i, 16) };
    }
    counts[i as usize] = values;
}

/// One lane frees the root of `map[0]`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn multi_end<A: DeviceAlloc>(heap: Heap<A>, map: &mut [HeapMultiMap<u32, u32>]) {
    if thread::index() == 0 {
        let mut own = map[0];
        // SAFETY: the host launches it when nobody else uses them.
        unsafe { own.free(heap) };
        map[0] = own;
    }
}
