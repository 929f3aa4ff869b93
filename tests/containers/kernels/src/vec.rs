//! Vectors that lanes own.

use warpheap_rt::device::*;

/// Lane `i` appends `100 * i + k` to vector `i` for each `k` below `i`.
///
/// # Errors
/// As `HeapVec::push`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn fill_vectors<A: DeviceAlloc>(
    heap: Heap<A>,
    vectors: &mut [HeapVec<u32>],
) -> Result<(), AllocError> {
    let lane = thread::index();
    if (lane as usize) < vectors.len() {
        // SAFETY: the lane has it alone, and puts it back below.
        let mut vector = unsafe { core::ptr::read(&vectors[lane as usize]) };
        let mut result = Ok(());
        for k in 0..lane {
            let pushed = vector.push(heap, lane * 100 + k);
            if pushed.is_err() {
                result = pushed;
            }
        }
        vectors[lane as usize] = vector;
        return result;
    }
    Ok(())
}
