//! Collections that hold the heap that they are in, and Rust's own formatting into strings of a heap.

use core::fmt::Write;
use warpheap_rt::adaptor::Failing;
use warpheap_rt::allocator_api2::boxed::Box;
use warpheap_rt::allocator_api2::vec::Vec;
use warpheap_rt::device::*;

/// Lane `i` pushes `pushes` numbers onto a vector in the heap, keeps half of them, gives the rest of the
/// memory back if `shrinks` is not 0, boxes their sum in the heap and leaves it.
///
/// # Errors
/// `Exhausted` if the heap gives no memory.
#[kernel(allocators = [WarpHeap, Gallatin, Failing<WarpHeap>], unsafe(slices))]
pub fn push_in<A: AddressedAlloc>(
    heap: Heap<A>,
    sums: &mut [u32],
    pushes: u32,
    shrinks: u32,
) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    if lane < sums.len() {
        let mut numbers = Vec::new_in(heap);
        for k in 0..pushes {
            if numbers.try_reserve(1).is_err() {
                return Err(AllocError::Exhausted);
            }
            numbers.push(lane as u32 * 31 + k);
        }
        numbers.truncate(pushes as usize / 2);
        // No memory for that is a panic.
        if shrinks != 0 {
            numbers.shrink_to_fit();
        }
        let sum = numbers.iter().fold(0u32, |sum, n| sum.wrapping_add(*n));
        match Box::try_new_in(sum, heap) {
            Ok(sum) => sums[lane] = *sum,
            Err(_) => return Err(AllocError::Exhausted),
        }
    }
    Ok(())
}

/// Each lane appends its number and this one to its string with Rust's own formatting, or frees the string if `frees` is not 0.
///
/// # Errors
/// What the last write failed with.
#[kernel(allocators = [WarpHeap, Failing<WarpHeap>])]
pub fn write_in<A: DeviceAlloc>(
    heap: Heap<A>,
    string: &mut HeapString,
    number: u64,
    frees: u32,
) -> Result<(), AllocError> {
    if frees != 0 {
        string.free(heap);
        return Ok(());
    }
    let mut writer = string.writer(heap);
    let (lane, real) = (thread::index(), number as f64);
    match write!(writer, "{lane:?} {number:>20} {real:e} {:?}", "grün") {
        Ok(()) => Ok(()),
        // There is always one then, and never this one here.
        Err(_) => Err(writer.error().unwrap_or(AllocError::Contended)),
    }
}
