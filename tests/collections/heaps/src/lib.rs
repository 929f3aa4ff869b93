//! Kernels whose collections allocate with the allocator that they are launched with.
#![cfg_attr(target_arch = "nvptx64", no_std)]

extern crate alloc;

use alloc::format;
use alloc::vec::Vec;
use warpheap_rt::allocator_api2;
use warpheap_rt::device::*;

warpheap_rt::device_module!();
warpheap_rt::global_heap!(all);

/// Lane `i` pushes `pushes` numbers that follow from `i` onto a vector, one by one, and leaves their sum.
#[kernel(allocators = all, unsafe(slices))]
pub fn push<A: DeviceAlloc>(_heap: Heap<A>, sums: &mut [u32], pushes: u32) {
    let lane = thread::index() as usize;
    if lane < sums.len() {
        let mut numbers = Vec::new();
        for k in 0..pushes {
            numbers.push(lane as u32 * 31 + k);
        }
        sums[lane] = numbers.iter().fold(0u32, |sum, n| sum.wrapping_add(*n));
    }
}

/// The same with a vector that holds its heap.
///
/// # Errors
/// `Exhausted` if the heap gives no memory.
#[kernel(allocators = all, unsafe(slices))]
pub fn push_in<A: AddressedAlloc>(
    heap: Heap<A>,
    sums: &mut [u32],
    pushes: u32,
) -> Result<(), AllocError> {
    let lane = thread::index() as usize;
    if lane < sums.len() {
        let mut numbers = allocator_api2::vec::Vec::new_in(heap);
        for k in 0..pushes {
            if numbers.try_reserve(1).is_err() {
                return Err(AllocError::Exhausted);
            }
            numbers.push(lane as u32 * 31 + k);
        }
        sums[lane] = numbers.iter().fold(0u32, |sum, n| sum.wrapping_add(*n));
    }
    Ok(())
}

/// Lane `i` leaves the length of a text with its number. It is no allocator's, so on CUDA it has no heap.
#[kernel(unsafe(slices))]
pub fn text(lengths: &mut [u32]) {
    let lane = thread::index() as usize;
    if lane < lengths.len() {
        lengths[lane] = format!("lane {lane}").len() as u32;
    }
}
