//! What device memory that kernels take in slices and by reference consists of.

use crate::HeapData;

/// What can be an element of a kernel's `&[T]`, `&mut T`, `PerLane<T>`, `Scatter<T>` or `&mut [T]`, and of a
/// `DeviceVec<T>`: all [`HeapData`], and on CUDA and the host the numbers of 8, 16 and 64 bits.
///
/// On Vulkan each of these is a capability of its own, which devices may lack. A kernel with such elements that is
/// compiled for it is an error of the compiler; `#[cfg(not(target_arch = "spirv"))]` keeps the kernel from it.
///
/// What lies in a heap by a handle or in a container is `HeapData`: whole words.
///
/// # Safety
/// The type has no padding, and every bit pattern is a value of it. Its alignment is at most 8.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an element of a kernel's slices or of a `DeviceVec` on this target",
    note = "`HeapData` can, and on CUDA and the host numbers of 8, 16 and 64 bits; for Vulkan take words, two `u32` for \
            a `u64`"
)]
pub unsafe trait Element: Sized + 'static {
    /// Whether values are containers, whose safe methods reach memory of one heap: [`HeapData::OF_HEAP`].
    const CONTAINERS: bool = false;

    /// Whether values are containers that lanes share, or may hold some: [`HeapData::HOLDS_SHARED`].
    const HOLDS_SHARED: bool = false;

    /// The word at `index` of an element that stands for nothing: [`HeapData::zero_word`].
    fn zero_word(index: u32) -> u32 {
        let _ = index;
        0
    }
}

// SAFETY: what `HeapData` promises.
unsafe impl<T: HeapData> Element for T {
    const CONTAINERS: bool = {
        assert!(size_of::<T>() == T::WORDS as usize * 4);
        T::OF_HEAP
    };
    const HOLDS_SHARED: bool = T::HOLDS_SHARED;
    fn zero_word(index: u32) -> u32 {
        T::zero_word(index)
    }
}

/// Numbers that are not of 32 bits.
#[cfg(not(target_arch = "spirv"))]
mod other {
    use super::Element;

    macro_rules! numbers {
        ($($type:ty),*) => {$(
            // SAFETY: a number has no padding, any bits are one, and its alignment is at most its size.
            unsafe impl Element for $type {}
        )*};
    }

    numbers!(u8, i8, u16, i16, u64, i64, f64);
}
