//! Growing vectors, and vectors of vectors.

use warpheap_rt::device::*;

/// Append `value`.
pub const PUSH: u32 = 0;
/// Remove the last element.
pub const POP: u32 = 1;
/// Read the element at `index`.
pub const GET: u32 = 2;
/// Overwrite the element at `index` with `value`.
pub const SET: u32 = 3;
/// Make room for `value` more elements.
pub const RESERVE: u32 = 4;
/// Keep `index` elements.
pub const TRUNCATE: u32 = 5;
/// Give the memory back.
pub const FREE: u32 = 6;
/// Let the vector move.
pub const RELOCATE: u32 = 7;
/// Begin a compaction of what is less than `value` percent in use, or end it if that is 0: the lane's share.
pub const COMPACT: u32 = 8;

/// What reading beyond the end gives.
pub const NONE: u32 = 0xdead_beef;

/// One action on a lane's vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct VecOp {
    /// What to do: [`PUSH`] and so on.
    pub kind: u32,
    /// Index or length.
    pub index: u32,
    /// The element, or a number of elements.
    pub value: u32,
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct VecOutcome {
    /// 0 or the code of the error.
    pub code: u32,
    /// The element that was read, [`NONE`] if there was none; 1 or 0 for a set that found its
    /// element or not.
    pub value: u32,
    /// Number of elements afterwards.
    pub len: u32,
    /// Capacity afterwards.
    pub capacity: u32,
}

/// Each lane `i` carries out action `starts[i]` on vector `i`, unless that is `starts[i + 1]`: any but
/// what changes no element, from [`RESERVE`] on but for [`TRUNCATE`].
#[kernel(allocators = all, unsafe(slices))]
pub fn use_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    ops: &[VecOp],
    starts: &[u32],
    outcomes: &mut [VecOutcome],
) {
    let lane = thread::index() as usize;
    let i = starts[lane] as usize;
    if i < starts[lane + 1] as usize {
        let op = ops[i];
        let mut result = Ok(());
        let mut value = 0;
        if op.kind == PUSH {
            result = vector.push(heap, op.value);
        } else if op.kind == POP {
            value = match vector.pop(heap) {
                Some(value) => value,
                None => NONE,
            };
        } else if op.kind == GET {
            value = match vector.get(heap, op.index) {
                Some(value) => value,
                None => NONE,
            };
        } else if op.kind == SET {
            value = vector.set(heap, op.index, op.value) as u32;
        } else if op.kind == TRUNCATE {
            vector.truncate(op.index);
        }
        outcomes[i] = outcome(result, value, vector);
    }
}

/// [`use_vectors`] for these.
#[kernel(allocators = all, unsafe(slices))]
pub fn size_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vector: &mut HeapVec<u32>,
    ops: &[VecOp],
    starts: &[u32],
    outcomes: &mut [VecOutcome],
) {
    let lane = thread::index() as usize;
    let i = starts[lane] as usize;
    if i < starts[lane + 1] as usize {
        let op = ops[i];
        let mut result = Ok(());
        if op.kind == RESERVE {
            result = vector.reserve(heap, op.value);
        } else if op.kind == FREE {
            vector.free(heap);
        } else if op.kind == RELOCATE {
            vector.relocate(heap);
        } else if op.kind == COMPACT {
            let (index, count) = (lane as u32, starts.len() as u32 - 1);
            if op.value == 0 {
                heap.end_compaction(index, count);
            } else {
                heap.begin_compaction(op.value, index, count);
            }
        }
        outcomes[i] = outcome(result, 0, vector);
    }
}

#[inline(always)]
fn outcome(result: Result<(), AllocError>, value: u32, vector: &HeapVec<u32>) -> VecOutcome {
    let code = match result {
        Ok(()) => 0,
        Err(error) => error.code(),
    };
    VecOutcome {
        code,
        value,
        len: vector.len(),
        capacity: vector.capacity(),
    }
}

/// Moves a vector into a vector: lane `i` appends `inners[first + i]` to `outers[i]` and leaves an
/// empty one in its place.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = all, unsafe(slices))]
pub fn nest<A: DeviceAlloc>(
    heap: Heap<A>,
    outer: &mut HeapVec<HeapVec<u32>>,
    inners: &mut [HeapVec<u32>],
    first: u32,
) -> Result<(), AllocError> {
    // Room first: what cannot be pushed would be lost.
    outer.reserve(heap, 1)?;
    let inner = &mut inners[(first + thread::index()) as usize];
    outer.push(heap, core::mem::take(inner))
}

/// Adds up all elements of all vectors in `outers[i]`, in lane `i`, and frees all of them.
#[kernel(allocators = all)]
pub fn sum_nested<A: DeviceAlloc>(heap: Heap<A>, outer: &mut HeapVec<HeapVec<u32>>, sum: &mut u32) {
    *sum = 0;
    while !outer.is_empty() {
        let mut inner = outer.pop_or(heap, HeapVec::new());
        for j in 0..inner.len() {
            *sum = sum.wrapping_add(inner.get_or(heap, j, NONE));
        }
        inner.free(heap);
    }
    outer.free(heap);
}
