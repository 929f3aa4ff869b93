//! Scalars among the arguments of a kernel.

use crate::HeapData;
use crate::abi::ArgBlock;

/// What a kernel can take by value: all [`HeapData`], and the plain numbers that are no whole words or need more than
/// the alignment of one.
///
/// `bool` and the numbers of 8 and 16 bits take a word each. Those of 64 bits take two; they exist on targets that
/// have them, which Vulkan devices may not. A `usize` takes two words on every target: it is what the host gave,
/// except on Vulkan, where it has 32 bits and is the lower word.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value on this target",
    note = "`HeapData`, `bool`, `usize` and numbers of 8 to 32 bits can; numbers of 64 bits not on Vulkan, where two \
            `u32` do"
)]
pub trait Argument: Copy {
    /// Words that it takes in the block of arguments.
    const WORDS: usize;

    /// Rebuilds the value from the block, beginning at word `at`.
    ///
    /// # Safety
    /// The words are those of a value that the host passed.
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self;
}

impl<T: HeapData + Copy> Argument for T {
    const WORDS: usize = <T as HeapData>::WORDS as usize;
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { <T as HeapData>::from_args(args, at) }
    }
}

macro_rules! narrow {
    ($($type:ty),*) => {$(
        impl Argument for $type {
            const WORDS: usize = 1;
            #[inline(always)]
            unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
                args.words[at] as $type
            }
        }
    )*};
}

narrow!(u8, u16, i8, i16);

impl Argument for bool {
    const WORDS: usize = 1;
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        args.words[at] != 0
    }
}

impl Argument for usize {
    const WORDS: usize = 2;
    #[cfg(target_pointer_width = "32")]
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        args.words[at] as usize
    }
    #[cfg(target_pointer_width = "64")]
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        args.words[at] as usize | (args.words[at + 1] as usize) << 32
    }
}

/// Numbers of two words.
#[cfg(not(target_arch = "spirv"))]
mod wide {
    use super::{ArgBlock, Argument};

    macro_rules! wide {
        ($($type:ty: $from:expr;)*) => {$(
            impl Argument for $type {
                const WORDS: usize = 2;
                #[inline(always)]
                unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
                    $from(args.words[at] as u64 | (args.words[at + 1] as u64) << 32)
                }
            }
        )*};
    }

    wide! {
        u64: |bits: u64| bits;
        i64: |bits: u64| bits as i64;
        f64: f64::from_bits;
    }
}
