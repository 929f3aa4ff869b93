//! Words of workgroup memory. Atomics are those of storage buffers: the same instructions serve.

use super::AtomicWord;
use core::arch::asm;

/// The words of an array that the lanes of a block share.
#[derive(Clone, Copy)]
pub struct BlockWords<const N: usize> {
    words: &'static [AtomicWord; N],
}

impl<const N: usize> BlockWords<N> {
    /// The words of a workgroup variable.
    ///
    /// # Safety
    /// It is one, which nothing else accesses; the lifetime ends with the kernel, which no handle outlives.
    #[inline(always)]
    pub unsafe fn from_array(words: &[AtomicWord; N]) -> Self {
        BlockWords {
            // SAFETY: as above.
            words: unsafe {
                core::mem::transmute::<&[AtomicWord; N], &'static [AtomicWord; N]>(words)
            },
        }
    }

    /// Plain read.
    #[inline(always)]
    pub fn read(self, index: u32) -> u32 {
        let value: u32;
        // SAFETY: the pointer is to a word of the array.
        unsafe {
            asm!(
                "%u32 = OpTypeInt 32 0",
                "{value} = OpLoad %u32 {pointer} NonPrivatePointer",
                pointer = in(reg) self.words[index as usize].pointer(),
                value = out(reg) value,
            );
        }
        value
    }
    /// Plain write.
    #[inline(always)]
    pub fn write(self, index: u32, value: u32) {
        // SAFETY: the pointer is to a word of the array.
        unsafe {
            asm!(
                "OpStore {pointer} {value} NonPrivatePointer",
                pointer = in(reg) self.words[index as usize].pointer(),
                value = in(reg) value,
            );
        }
    }
}

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl<const N: usize> BlockWords<N> {
            /// Atomic load.
            #[inline(always)]
            pub fn load(self, index: u32) -> u32 {
                self.words[index as usize].load()
            }
            /// Atomic store.
            #[inline(always)]
            pub fn store(self, index: u32, value: u32) {
                self.words[index as usize].store(value)
            }
            /// Compare-and-swap.
            #[inline(always)]
            pub fn compare_exchange(self, index: u32, current: u32, new: u32) -> u32 {
                self.words[index as usize].compare_exchange(current, new)
            }
            $(
                $(#[$doc])*
                #[inline(always)]
                pub fn $name(self, index: u32, value: u32) -> u32 {
                    self.words[index as usize].$name(value)
                }
            )*
        }
    };
}

atomics! {
    /// Addition.
    fetch_add;
    /// Least.
    fetch_min;
    /// Greatest.
    fetch_max;
    /// Bitwise and.
    fetch_and;
    /// Bitwise or.
    fetch_or;
    /// Exchange.
    exchange;
}
