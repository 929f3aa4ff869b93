//! Binary search in a buffer.

/// The first index of `begin..end` whose value is not less than `value`; `end` if there is none.
#[inline(always)]
pub fn lower_bound(values: &[u32], begin: u32, end: u32, value: u32) -> u32 {
    let (mut low, mut high) = (begin, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if values[middle as usize] < value {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
