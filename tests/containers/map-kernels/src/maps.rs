//! Hash maps that many lanes use at once.

use warpheap_rt::adaptor::Failing;
use warpheap_rt::device::*;

/// Insert a key; a value that is there stays.
pub const INSERT: u32 = 0;
/// Insert a key or overwrite its value.
pub const SET: u32 = 1;
/// Insert a key or double its value and add this one.
pub const UPSERT: u32 = 2;
/// Insert a key or add to its value.
pub const ADD: u32 = 3;
/// The value of a key.
pub const GET: u32 = 4;
/// Remove a key.
pub const REMOVE: u32 = 5;

/// What looking for a key that is not there gives.
pub const NONE: u32 = 0xdead_beef;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct MapOp {
    /// What to do: [`INSERT`] and so on.
    pub kind: u32,
    /// The key.
    pub key: u32,
    /// The second word of keys of two.
    pub also: u32,
    /// The value.
    pub value: u32,
}

/// When an action was done, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct MapOutcome {
    /// A number that grows with time, from before the action.
    pub begin: u32,
    /// The same, from after it.
    pub end: u32,
    /// The value that was found, or [`NONE`]; 1 or 0 for true and false; errors are their code and 100.
    pub result: u32,
}

/// What a value of two words is for the word `value`: each half tells what the other is.
#[inline(always)]
pub const fn wide(value: u32) -> [u32; 2] {
    [value, !value]
}

#[inline(always)]
fn inserted(result: Result<Before, AllocError>) -> u32 {
    match result {
        Ok(before) => !before.was_there() as u32,
        Err(error) => 100 + error.code(),
    }
}

#[inline(always)]
fn removed(result: Result<Before, AllocError>) -> u32 {
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
    let mut cursor = map.cursor(thread::index(), thread::count());
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

/// Each lane carries out its actions, `starts[lane]` to `starts[lane + 1]`, one after the other.
#[kernel(allocators = [WarpHeap], unsafe(slices))]
pub fn map_histories<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    ops: &[MapOp],
    starts: &[u32],
    clock: &[AtomicWord],
    outcomes: &mut [MapOutcome],
) {
    let lane = thread::index() as usize;
    if lane + 1 < starts.len() {
        for i in starts[lane]..starts[lane + 1] {
            let op = ops[i as usize];
            let begin = clock[0].fetch_add(1);
            // What others ended before this one began is before it.
            heap.acquire();
            let mut result = 0;
            if op.kind == INSERT {
                result = inserted(map.insert(heap, op.key, op.value));
            } else if op.kind == SET {
                result = inserted(map.set(heap, op.key, op.value));
            } else if op.kind == UPSERT {
                result = inserted(map.upsert(heap, op.key, op.value, |old, new| {
                    old.wrapping_mul(2).wrapping_add(new)
                }));
            } else if op.kind == GET {
                result = map.get_or(heap, op.key, NONE);
            } else if op.kind == REMOVE {
                result = removed(map.remove(heap, op.key));
            } else if op.kind == ADD {
                result = inserted(map.add(heap, op.key, op.value));
            }
            heap.release();
            let end = clock[0].fetch_add(1);
            outcomes[i as usize] = MapOutcome { begin, end, result };
        }
    }
}

/// [`map_histories`] with keys and values of two words, without [`ADD`].
#[kernel(allocators = [WarpHeap], unsafe(slices))]
pub fn map_wide_histories<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<[u32; 2], [u32; 2]>,
    ops: &[MapOp],
    starts: &[u32],
    clock: &[AtomicWord],
    outcomes: &mut [MapOutcome],
) {
    let lane = thread::index() as usize;
    if lane + 1 < starts.len() {
        for i in starts[lane]..starts[lane + 1] {
            let op = ops[i as usize];
            let key = [op.key, op.also];
            let begin = clock[0].fetch_add(1);
            // What others ended before this one began is before it.
            heap.acquire();
            let mut result = 0;
            if op.kind == INSERT {
                result = inserted(map.insert(heap, key, wide(op.value)));
            } else if op.kind == SET {
                result = inserted(map.set(heap, key, wide(op.value)));
            } else if op.kind == UPSERT {
                result = inserted(map.upsert(heap, key, wide(op.value), |old, new| {
                    wide(old[0].wrapping_mul(2).wrapping_add(new[0]))
                }));
            } else if op.kind == GET {
                let value = map.get_or(heap, key, wide(NONE));
                result = if value[1] == !value[0] { value[0] } else { 99 };
            } else if op.kind == REMOVE {
                result = removed(map.remove(heap, key));
            }
            heap.release();
            let end = clock[0].fetch_add(1);
            outcomes[i as usize] = MapOutcome { begin, end, result };
        }
    }
}

/// One lane adds up the first halves of all values, tells how many there are, and frees everything.
#[kernel(allocators = [WarpHeap], unsafe(slices))]
pub fn map_wide_free<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<[u32; 2], [u32; 2]>,
    sums: &mut [u32],
) {
    if thread::index() == 0 {
        let mut cursor = map.cursor(0, 1);
        let mut sum = 0u32;
        let mut count = 0;
        while cursor.advance(heap) {
            sum = sum.wrapping_add(cursor.value_or(heap, wide(NONE))[0]);
            count += 1;
        }
        sums[0] = count;
        sums[1] = sum;
        let mut map = map;
        // SAFETY: the host launches it when nobody else uses them.
        unsafe { map.free_all(heap) };
    }
}
