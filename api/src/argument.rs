//! Scalars among the arguments of a kernel.

use crate::HeapData;
use crate::abi::ArgBlock;

/// What a kernel can take by value: all [`HeapData`], and the plain numbers that are no whole words or need more than
/// the alignment of one.
///
/// A `bool` takes a word. So do the numbers of 8 and 16 bits, and those of 64 bits take two; these are for CUDA and the
/// host alone, since Vulkan devices need not have them. A `usize` takes two words on every target: it is what the host
/// gave, except on Vulkan, where it has 32 bits and is the lower word.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be passed to a kernel by value on this target",
    note = "`HeapData`, `bool` and `usize` can, and on CUDA and the host numbers of 8, 16 and 64 bits; for Vulkan take \
            words, two `u32` for a `u64`"
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

/// Numbers that are not of 32 bits. On Vulkan each is a capability of its own, which devices may lack.
#[cfg(not(target_arch = "spirv"))]
mod other {
    use super::{ArgBlock, Argument};

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

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::Argument;
    use crate::abi::{ARG_WORDS, ArgBlock};
    use crate::host::{Arg, IntoArg};
    use core::fmt::Debug;

    /// What the host passes is what the kernel takes.
    fn passed<T: Argument + IntoArg + PartialEq + Debug>(value: T) {
        let Arg::Words(words) = value.into_arg() else {
            panic!("{value:?} is no scalar");
        };
        assert_eq!(words.len(), T::WORDS);
        let mut block = ArgBlock {
            words: [u32::MAX; ARG_WORDS],
        };
        block.words[5..5 + words.len()].copy_from_slice(&words);
        // SAFETY: the words are those of this value.
        assert_eq!(unsafe { T::from_args(&block, 5) }, value);
    }

    #[test]
    fn scalars_arrive_as_they_are() {
        for value in [0, 1, i64::MIN, i64::MAX, -3] {
            passed(value);
            passed(value as u64);
            passed(value as usize);
            passed(value as i16);
            passed(value as u16);
            passed(value as i8);
            passed(value as u8);
            passed(value as f64);
            passed(value > 0);
            passed([value as u32, 7]);
        }
    }
}
