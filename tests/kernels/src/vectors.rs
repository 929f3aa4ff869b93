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

/// Each lane `i` carries out the actions `starts[i]..starts[i + 1]` on vector `i`.
#[kernel(allocators = all)]
pub fn run_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: &mut [HeapVec<u32>],
    ops: &[VecOp],
    starts: &[u32],
    outcomes: &mut [VecOutcome],
) {
    let lane = thread::index() as usize;
    if lane < vectors.len() {
        let mut vector = vectors[lane];
        for i in starts[lane]..starts[lane + 1] {
            let op = ops[i as usize];
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
            } else if op.kind == RESERVE {
                result = vector.reserve(heap, op.value);
            } else if op.kind == TRUNCATE {
                vector.truncate(op.index);
            } else {
                vector.free(heap);
            }
            let code = match result {
                Ok(()) => 0,
                Err(error) => error.code(),
            };
            outcomes[i as usize] = VecOutcome {
                code,
                value,
                len: vector.len(),
                capacity: vector.capacity(),
            };
        }
        vectors[lane] = vector;
    }
}

/// What [`nested`] does.
pub const BUILD: u32 = 0;
/// See [`BUILD`].
pub const SUM: u32 = 1;

/// Vectors of vectors. With [`BUILD`], lane `i` fills `outers[i]` with `sizes[i]` vectors, of which
/// number `k` holds `k` elements `i + 1`. With [`SUM`], in another launch, it adds up all elements
/// of all of them and frees them.
///
/// # Errors
/// As `HeapVec::push`; what was built stays reachable.
#[kernel(allocators = all)]
pub fn nested<A: DeviceAlloc>(
    heap: Heap<A>,
    outers: &mut [HeapVec<HeapVec<u32>>],
    sizes: &[u32],
    sums: &mut [u32],
    phase: u32,
) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    let mut result = Ok(());
    if lane < outers.len() {
        let mut outer = outers[lane];
        if phase == BUILD {
            for k in 0..sizes[lane] {
                let mut inner = HeapVec::<u32>::new();
                for _ in 0..k {
                    if result.is_ok() {
                        result = inner.push(heap, lane as u32 + 1);
                    }
                }
                if result.is_ok() {
                    result = outer.push(heap, inner);
                }
                if result.is_err() {
                    inner.free(heap);
                }
            }
        } else {
            let mut sum = 0u32;
            for k in 0..outer.len() {
                let mut inner = outer.get_or(heap, k, HeapVec::new());
                for j in 0..inner.len() {
                    sum = sum.wrapping_add(inner.get_or(heap, j, NONE));
                }
                inner.free(heap);
            }
            outer.free(heap);
            sums[lane] = sum;
        }
        outers[lane] = outer;
    }
    result
}
