//! Kernels that panic.

use alloc::vec::Vec;
use warpheap_rt::device::*;

/// The line of the panic in [`strike`].
pub const STRIKE_LINE: u32 = line!() + 10;

/// Lanes whose index is a multiple of `every` panic; all others add 1 to word 0 of `rest`.
#[kernel]
pub fn strike(every: u32, rest: &[AtomicWord]) {
    let lane = thread::index();
    if lane % every == 0 {
        // A message of more than one part.
        let odd = lane % 2;

        panic!("lane {lane} strikes, {odd} odd");
    }
    rest[0].fetch_add(1);
}

/// Lane 0 reads beyond the end of a vector with `len` elements.
#[kernel(unsafe(slices))]
pub fn beyond(len: u32, out: &mut [u32]) {
    if thread::index() == 0 {
        let numbers: Vec<u32> = (0..len).collect();
        out[0] = numbers[len as usize];
    }
}

/// Every lane asks for a vector of `len` words, and leaves 1 if it got none, 2 if it did.
#[kernel(unsafe(slices))]
pub fn ask(len: u32, out: &mut [u32]) {
    let lane = thread::index() as usize;
    if lane < out.len() {
        let mut numbers = Vec::<u32>::new();
        out[lane] = match numbers.try_reserve(len as usize) {
            Ok(()) => 2,
            Err(_) => 1,
        };
        if out[lane] == 2 {
            numbers.push(1);
        }
    }
}

/// Every lane wants a vector of `len` words.
#[kernel(unsafe(slices))]
pub fn want(len: u32, out: &mut [u32]) {
    let lane = thread::index() as usize;
    if lane < out.len() {
        let numbers = alloc::vec![7u32; len as usize];
        out[lane] = numbers[numbers.len() - 1];
    }
}

/// Every lane adds 1 to its word. It allocates nothing.
#[kernel(unsafe(slices))]
pub fn count(out: &mut [u32]) {
    let lane = thread::index() as usize;
    if lane < out.len() {
        out[lane] += 1;
    }
}
