//! What an event is: four words.
//!
//! | word | what |
//! |---|---|
//! | 0 | index of the lane in its launch |
//! | 1 | granule of the block; of a failure the error's code |
//! | 2 | what happened (3 bits), the unit of the size (1 bit), the size (28 bits) |
//! | 3 | the device's clock, or the number of the place in its ring where there is none |

use warpheap_api::select;

/// A block was handed out.
pub(crate) const MALLOC: u32 = 1;
/// A block is given back.
pub(crate) const FREE: u32 = 2;
/// A request failed.
pub(crate) const FAILED: u32 = 3;
/// A block is resized: what it was. The next event of the ring says what it is.
pub(crate) const RESIZED_FROM: u32 = 4;
/// A block was resized: what it is, where it lies now.
pub(crate) const RESIZED_TO: u32 = 5;
/// A block was not resized, and is what it was.
pub(crate) const NOT_RESIZED: u32 = 6;
/// A kernel made the heap fresh.
pub(crate) const RESET: u32 = 7;

const KIND_SHIFT: u32 = 29;
const SCALED: u32 = 1 << 28;
const SIZE: u32 = SCALED - 1;
/// The logarithm of the unit of sizes that are too large to be counted in bytes.
const UNIT_LOG: u32 = 8;

/// The word of a kind and a size in bytes. From 256 MiB on the size is rounded up to a multiple of 256.
#[inline(always)]
pub(crate) const fn packed(kind: u32, bytes: usize) -> u32 {
    let unit = 1usize << UNIT_LOG;
    let units = bytes / unit + (bytes % unit != 0) as usize;
    let units = select(units > SIZE as usize, SIZE, units as u32);
    let size = select(bytes <= SIZE as usize, bytes as u32, SCALED | units);
    kind << KIND_SHIFT | size
}

/// The kind and the size in bytes of such a word.
#[cfg(feature = "std")]
pub(crate) const fn unpacked(word: u32) -> (u32, u64) {
    let size = (word & SIZE) as u64;
    let bytes = match word & SCALED {
        0 => size,
        _ => size << UNIT_LOG,
    };
    (word >> KIND_SHIFT, bytes)
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_or_rounded_up() {
        let size = |bytes| unpacked(packed(MALLOC, bytes));
        for bytes in [0, 1, 17, SIZE as usize] {
            assert_eq!(size(bytes), (MALLOC, bytes as u64));
        }
        assert_eq!(size(SCALED as usize + 1), (MALLOC, u64::from(SCALED) + 256));
        assert_eq!(size(usize::MAX), (MALLOC, u64::from(SIZE) << 8));
        assert_eq!(unpacked(packed(RESET, 5)), (RESET, 5));
    }
}
