//! The rules of sizes and alignments, and layouts that cannot fail to build.
//!
//! | request | answer of every allocator |
//! |---|---|
//! | size 0 | served like size 1: a block of its own that must be freed |
//! | alignment up to the allocator's [`Caps::max_align`](crate::Caps::max_align) | honoured, relative to the start of the heap; backends place heaps at multiples of 64 KiB, so machine addresses are aligned as well |
//! | greater alignment | [`AllocError::Unsupported`](crate::AllocError::Unsupported) |
//! | size above [`Caps::max_size`](crate::Caps::max_size), or a size whose computation overflowed | `Unsupported` |
//! | anything else that does not fit now | [`AllocError::Exhausted`](crate::AllocError::Exhausted) |
//!
//! `core::alloc::Layout`'s own constructors return a `Result` around a two-word struct, which the
//! SPIR-V compiler cannot translate. The constructors here *saturate* instead: a layout whose size
//! overflowed is one that no heap holds.

use crate::{DevicePtr, HeapData, select};
use core::alloc::Layout;

/// The greatest size a layout can name; what overflowing computations saturate to. No heap serves
/// it.
pub const ABSURD: usize = (isize::MAX as usize) & !0xffff;

/// A layout of `size` bytes at the alignment of a granule (16 bytes).
#[inline(always)]
pub const fn bytes(size: usize) -> Layout {
    aligned(size, DevicePtr::GRANULE_BYTES)
}

/// A layout of `size` bytes at `align`, a power of two up to 64 KiB. Any other alignment becomes
/// an [`ABSURD`] request, which no allocator serves.
#[inline(always)]
pub const fn aligned(size: usize, align: usize) -> Layout {
    let good = (align != 0)
        & (align & align.wrapping_sub(1) == 0)
        & (align <= 0x1_0000)
        & (size <= ABSURD);
    let size = select_size(good, size, ABSURD);
    let align = select_size(good, align, 1);
    // SAFETY: align is a power of two and size, rounded up to it, does not exceed isize::MAX
    // because ABSURD is a multiple of the greatest alignment allowed here.
    unsafe { Layout::from_size_align_unchecked(size, align) }
}

/// A layout for one value of `T`, at the alignment of a granule.
#[inline(always)]
pub const fn of<T: HeapData>() -> Layout {
    bytes(T::WORDS as usize * 4)
}

/// A layout for `len` values of `T`; saturates to [`ABSURD`] on overflow.
#[inline(always)]
pub const fn array<T: HeapData>(len: u32) -> Layout {
    let word_bytes = T::WORDS as usize * 4;
    // Nothing at all may be had as often as one likes.
    let most = ABSURD / (word_bytes + (word_bytes == 0) as usize);
    let size = (len as usize).wrapping_mul(word_bytes);
    bytes(select_size(len as usize > most, ABSURD, size))
}

/// Granules that hold a block of this layout: at least one.
///
/// Saturates to `u32::MAX` for layouts beyond the reach of a handle, [`ABSURD`] ones among them also
/// where `usize` has 32 bits.
#[inline(always)]
pub const fn granules(layout: Layout) -> u32 {
    let size = layout.size();
    // No size of a layout is so large that this could wrap, and `div_ceil` is more work on a GPU.
    #[allow(clippy::manual_div_ceil)]
    let count = (size + (DevicePtr::GRANULE_BYTES - 1)) / DevicePtr::GRANULE_BYTES;
    let count = count + (size == 0) as usize;
    let beyond = (size >= ABSURD) | (count >= u32::MAX as usize);
    select(beyond, u32::MAX, count as u32)
}

/// The alignment of a layout in granules: at least one.
#[inline(always)]
pub const fn align_granules(layout: Layout) -> u32 {
    // A power of two, so less than a granule leaves nothing of it.
    let granules = (layout.align() / DevicePtr::GRANULE_BYTES) as u32;
    granules + (granules == 0) as u32
}

/// The same alignment and the size of so many granules; the layout as it is if that would be less, or more than a layout
/// can have. For [`rounded`](crate::DeviceAlloc::rounded).
#[inline(always)]
pub const fn with_granules(layout: Layout, granules: u32) -> Layout {
    let size = (granules as usize).wrapping_mul(DevicePtr::GRANULE_BYTES);
    let possible =
        (granules as usize <= ABSURD / DevicePtr::GRANULE_BYTES) & (size >= layout.size());
    aligned(select_size(possible, size, layout.size()), layout.align())
}

/// The layout with size and alignment divided by two to the power of `shift`, rounded up: what a heap of larger granules asks of one of
/// 16 bytes each. An [`ABSURD`] size stays one.
#[inline(always)]
pub const fn divided(layout: Layout, shift: u32) -> Layout {
    let (size, align) = (layout.size(), layout.align());
    let less = (size >> shift) + (size & ((1 << shift) - 1) != 0) as usize;
    let less_align = align >> shift;
    aligned(
        select_size(size >= ABSURD, ABSURD, less),
        less_align + (less_align == 0) as usize,
    )
}

/// The layout `of` with the size of `whole` times two to the power of `shift`; as it is if that would be less, or more than a layout can
/// have: the way back from [`divided`], for a size that was rounded meanwhile.
#[inline(always)]
pub const fn multiplied(whole: Layout, shift: u32, of: Layout) -> Layout {
    let size = whole.size().wrapping_shl(shift);
    let possible = (whole.size() <= ABSURD >> shift) & (size >= of.size());
    aligned(select_size(possible, size, of.size()), of.align())
}

/// [`select`] for sizes.
#[inline(always)]
const fn select_size(condition: bool, yes: usize, no: usize) -> usize {
    no ^ ((yes ^ no) & (condition as usize).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn granules_round_up_and_saturate() {
        assert_eq!(granules(bytes(0)), 1);
        assert_eq!(granules(bytes(1)), 1);
        assert_eq!(granules(bytes(16)), 1);
        assert_eq!(granules(bytes(17)), 2);
        assert_eq!(granules(bytes(ABSURD)), u32::MAX);
    }

    #[test]
    fn granules_become_a_size_that_is_no_less() {
        let of = |size, granules| with_granules(aligned(size, 64), granules);
        assert_eq!((of(17, 3).size(), of(17, 3).align()), (48, 64));
        assert_eq!(of(49, 3).size(), 49);
        assert_eq!(of(0, u32::MAX).size(), u32::MAX as usize * 16);
        assert_eq!(of(ABSURD, u32::MAX).size(), ABSURD);
    }

    #[test]
    fn overflow_and_bad_alignments_become_absurd() {
        assert_eq!(array::<[u32; 4]>(u32::MAX).size(), 16 * u32::MAX as usize);
        assert_eq!(aligned(8, 3).size(), ABSURD);
        assert_eq!(aligned(8, 0x2_0000).size(), ABSURD);
        assert_eq!(aligned(usize::MAX, 16).size(), ABSURD);
        assert_eq!(aligned(8, 0x1_0000).align(), 0x1_0000);
    }
}
