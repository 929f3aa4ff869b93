//! Actions of lanes on a map, one after the other, with times.

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
        let mut cursor = map.cursor(heap, 0, 1);
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
