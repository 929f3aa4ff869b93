//! Prefix sums over a buffer, in steps of [`SPAN`]: sums of spans, sums of those, and so on until one is left, then
//! back down.

use warpheap_rt::device::*;

/// Values that one lane adds up.
pub const SPAN: u32 = 32;

/// Lane `i` adds up span `i` of `values`.
#[kernel(unsafe(slices))]
pub fn scan_up(values: &[u32], sums: &mut [u32]) {
    let i = thread::index() as usize;
    if i < sums.len() {
        let mut at = i * SPAN as usize;
        let mut left = SPAN;
        let mut sum = 0;
        while left > 0 && at < values.len() {
            sum += values[at];
            at += 1;
            left -= 1;
        }
        sums[i] = sum;
    }
}

/// Lane `i` replaces each value of span `i` by the sum of all before it, `sums[i]` of which lie before the span;
/// without `sums` (a buffer of no elements) nothing does.
#[kernel(unsafe(slices))]
pub fn scan_down(values: &mut [u32], sums: &[u32]) {
    let i = thread::index() as usize;
    let mut at = i * SPAN as usize;
    let mut left = SPAN;
    let mut sum = 0;
    if i < sums.len() {
        sum = sums[i];
    }
    while left > 0 && at < values.len() {
        let value = values[at];
        values[at] = sum;
        sum += value;
        at += 1;
        left -= 1;
    }
}
