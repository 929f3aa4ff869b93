//! Containers in containers: a map whose values are vectors of strings.

use warpheap_rt::device::*;

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
    map: HeapHashMap<u32, HeapVec<HeapString>>,
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
    if result.is_ok() {
        match map.insert(heap, i, strings) {
            Ok(_) => {}
            Err(error) => result = Err(error),
        }
    }
    if result.is_err() {
        free(heap, strings);
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
        result = strings.push(heap, name);
    }
    if result.is_err() {
        name.free(heap);
    }
    result
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
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn unnest<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, HeapVec<HeapString>>,
    found: &mut [u32],
) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) >= found.len() {
        return Ok(());
    }
    let mut sum = u32::MAX;
    let mut result = Ok(());
    if map.contains(heap, i) {
        let strings = map.get_or(heap, i, HeapVec::new());
        sum = 0;
        for k in 0..strings.len() {
            let name = strings.get_or(heap, k, HeapString::new());
            for at in 0..name.len() {
                sum += name.byte(heap, at).unwrap_or(0) * (at + 1);
            }
        }
        match map.remove(heap, i) {
            Ok(_) => free(heap, strings),
            Err(error) => result = Err(error),
        }
    }
    found[i as usize] = sum;
    result
}

/// The first lane makes an empty map of none, and none of a map whose keys own nothing any more.
///
/// # Errors
/// As `HeapHashMap::init`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>])]
pub fn nested_own<A: DeviceAlloc>(
    heap: Heap<A>,
    map: &mut [HeapHashMap<u32, HeapVec<HeapString>>],
) -> Result<(), AllocError> {
    let mut result = Ok(());
    if thread::index() == 0 {
        let mut own = map[0];
        if own.is_none() {
            result = own.init(heap, 3);
        } else {
            own.free_all(heap);
        }
        map[0] = own;
    }
    result
}
