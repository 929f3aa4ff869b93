//! Kernels with elements that are no whole words, or more than one. Vulkan's devices need not have them.

use warpheap_rt::device::*;

/// Each lane adds up what it finds at its index, where there is something, in its own element.
#[kernel]
pub fn add_widths(bytes: &[u8], halves: &[i16], wides: &[u64], reals: &[f64], sum: &mut i64) {
    let i = thread::index() as usize;
    let mut add = 0;
    if i < bytes.len() {
        add += bytes[i] as i64;
    }
    if i < halves.len() {
        add += halves[i] as i64;
    }
    if i < wides.len() {
        add += wides[i] as i64;
    }
    if i < reals.len() {
        add += (reals[i] * 2.0) as i64;
    }
    *sum += add;
}

/// Each lane has its own element of each width.
#[kernel]
pub fn step_widths(byte: &mut u8, half: &mut i16, wide: &mut u64, real: &mut f64) {
    *byte = byte.wrapping_mul(3);
    *half -= 7;
    *wide = wide.rotate_left(8);
    *real /= 2.0;
}

/// The same through an index, and signs.
#[kernel]
pub fn negate(mut bytes: PerLane<i8>, mut halves: PerLane<u16>, mut wides: PerLane<i64>) {
    if let Some(i) = bytes.lane_index() {
        bytes[i] = -bytes[i];
    }
    if let Some(i) = halves.lane_index() {
        let old = halves.replace(i, 1);
        halves[i] += !old - 1;
    }
    if let Some(i) = wides.lane_index() {
        wides[i] = -wides[i];
    }
}

/// Lane `i` moves element `i` to the place that `places` says: neighbours are written by lanes of other warps.
///
/// # Safety
/// No two of the places are the same.
#[kernel]
pub unsafe fn permute_widths(
    places: &[u16],
    bytes: &[u8],
    to_bytes: Scatter<u8>,
    halves: &[u16],
    to_halves: Scatter<u16>,
) {
    let i = thread::index() as usize;
    if (i < places.len()) & (i < bytes.len()) & (i < halves.len()) {
        let place = places[i] as u32;
        // SAFETY: the caller's promise.
        unsafe {
            to_bytes.write(place, bytes[i]);
            to_halves.write(place, halves[i]);
        }
    }
}

/// Each lane writes its number and its complement into the slices of all.
#[kernel(unsafe(slices))]
pub fn number_widths(wides: &mut [u64], bytes: &mut [i8], reals: &mut [f64]) {
    let i = thread::index();
    let at = i as usize;
    if (at < wides.len()) & (at < bytes.len()) & (at < reals.len()) {
        wides[at] = (i as u64) << 32 | !i as u64;
        bytes[at] = i as i8;
        reals[at] = i as f64 / 8.0;
    }
}
