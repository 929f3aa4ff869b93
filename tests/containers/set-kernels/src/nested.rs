//! Containers in containers: a map whose values are vectors of strings.

use warpheap_rt::device::*;

/// A vector of strings as the map holds it, whose values are plain data: its block, length and capacity.
pub type Kept = [u32; 3];

/// A vector, kept.
#[inline(always)]
fn keep(strings: HeapVec<HeapString>) -> Kept {
    let (block, len, capacity) = strings.into_raw_parts();
    [block.granule(), len, capacity]
}

/// The vector that was kept.
///
/// # Safety
/// No other lane makes a vector of these parts.
#[inline(always)]
unsafe fn taken([granule, len, capacity]: Kept) -> HeapVec<HeapString> {
    // SAFETY: the parts are those of a vector; the rest is the caller's promise.
    unsafe { HeapVec::from_raw_parts(DevicePtr::from_granule(granule), len, capacity) }
}

/// Strings in the vector of key `i`.
#[inline(always)]
pub fn strings_of(i: u32) -> u32 {
    i % 4
}

/// Lane `i` below `count` makes a vector of strings, `"{i}.{k}"` for each `k` below `strings_of(i)`, and inserts it as
/// the value of `i`. Without memory it keeps nothing.
///
/// # Errors
/// As the containers'.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn nest<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, Kept>,
    count: u32,
) -> Result<(), AllocError> {
    let i = thread::index();
    if i >= count {
        return Ok(());
    }
    let mut strings = HeapVec::<HeapString>::new();
    let mut result = Ok(());
    for k in 0..strings_of(i) {
        if result.is_ok() {
            result = push_name(heap, &mut strings, i, k);
        }
    }
    let kept = keep(strings);
    if result.is_ok() {
        match map.insert(heap, i, kept) {
            Ok(_) => {}
            Err(error) => result = Err(error),
        }
    }
    if result.is_err() {
        // SAFETY: the map has not got it.
        free(heap, unsafe { taken(kept) });
    }
    result
}

#[inline(always)]
fn push_name<A: DeviceAlloc>(
    heap: Heap<A>,
    strings: &mut HeapVec<HeapString>,
    i: u32,
    k: u32,
) -> Result<(), AllocError> {
    let mut name = HeapString::new();
    let mut result = name.push_decimal(heap, i);
    if result.is_ok() {
        result = name.push_byte(heap, b'.' as u32);
    }
    if result.is_ok() {
        result = name.push_decimal(heap, k);
    }
    if result.is_ok() {
        // Room first: what cannot be pushed would be lost.
        result = strings.reserve(heap, 1);
    }
    if result.is_err() {
        name.free(heap);
        return result;
    }
    strings.push(heap, name)
}

#[inline(always)]
fn free<A: DeviceAlloc>(heap: Heap<A>, strings: HeapVec<HeapString>) {
    let mut strings = strings;
    while !strings.is_empty() {
        let mut name = strings.pop_or(heap, HeapString::new());
        name.free(heap);
    }
    strings.free(heap);
}

/// Lane `i` below the number of `found` finds the vector of key `i`: `found[i]` is the sum of all its bytes, each times
/// its place in the string counted from 1, or `u32::MAX` if there is none. It frees the strings and their vector, and
/// removes the key.
///
/// # Errors
/// As `HeapHashMap::remove`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn unnest<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, Kept>,
    found: &mut [u32],
) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) >= found.len() {
        return Ok(());
    }
    let mut sum = u32::MAX;
    let mut result = Ok(());
    if map.contains(heap, i) {
        // SAFETY: this lane alone has the key, and frees what is taken only when the map names it no more.
        let strings = unsafe { taken(map.get_or(heap, i, keep(HeapVec::new()))) };
        sum = 0;
        for k in 0..strings.len() {
            sum += strings.with(heap, k, 0, |name| weight(heap, name));
        }
        match map.remove(heap, i) {
            Ok(_) => free(heap, strings),
            Err(error) => result = Err(error),
        }
    }
    found[i as usize] = sum;
    result
}

/// The sum of a string's bytes, each times its place counted from 1.
#[inline(always)]
fn weight<A: DeviceAlloc>(heap: Heap<A>, name: &HeapString) -> u32 {
    let mut sum = 0;
    for at in 0..name.len() {
        sum += name.byte(heap, at).unwrap_or(0) * (at + 1);
    }
    sum
}

/// The first lane makes an empty map of none, and none of a map whose keys own nothing any more.
///
/// # Errors
/// As `HeapHashMap::init`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn nested_own<A: DeviceAlloc>(
    heap: Heap<A>,
    map: &mut [HeapHashMap<u32, Kept>],
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if thread::index() == 0 {
        let mut own = map[0];
        if own.is_none() {
            result = own.init(heap, 3);
        } else {
            // SAFETY: the other lanes leave it alone, and no copy is used afterwards.
            unsafe { own.free_all(heap) };
        }
        map[0] = own;
    }
    result
}
