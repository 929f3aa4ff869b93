//! Words that the lanes of a block share: memory that the emulator keeps for as long as the block runs.

use super::simt::current;
use super::{AtomicWord, Words};
use std::boxed::Box;
use std::vec::Vec;
use warpheap_api::HeapMemory;

/// The words of an array that the lanes of a block share.
#[derive(Clone, Copy, Debug)]
pub struct BlockWords<const N: usize> {
    atomics: &'static [AtomicWord; N],
    plain: Words,
}

impl<const N: usize> BlockWords<N> {
    /// The array of the calling lane's block for the kernel's parameter with this number.
    ///
    /// # Safety
    /// It is used while the lane runs, and no array of another length has this number.
    #[inline(always)]
    pub unsafe fn of_block(parameter: u32) -> Self {
        let words = match current() {
            Some(slot) => slot.simt().block_memory(&slot.info, parameter, N),
            // Alone, and no emulator knows for how long.
            None => Box::leak(Vec::from_iter((0..N).map(|_| 0u32)).into_boxed_slice()).as_mut_ptr(),
        };
        BlockWords {
            // SAFETY: there are so many, for as long as the block runs, and they are accessed atomically or through `plain`.
            atomics: unsafe { &*words.cast() },
            // SAFETY: the same.
            plain: unsafe { Words::from_address(words.expose_provenance() as u64, N as u64) },
        }
    }

    /// Plain read.
    #[inline(always)]
    #[track_caller]
    pub fn read(self, index: u32) -> u32 {
        self.check(index);
        self.plain.read(index as usize)
    }
    /// Plain write.
    #[inline(always)]
    #[track_caller]
    pub fn write(self, index: u32, value: u32) {
        self.check(index);
        self.plain.write(index as usize, value);
    }
    /// As with slices.
    #[inline(always)]
    #[track_caller]
    fn check(self, index: u32) {
        assert!((index as usize) < N, "word {index} of {N} shared words");
    }
}

macro_rules! atomics {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl<const N: usize> BlockWords<N> {
            /// Atomic load.
            #[inline(always)]
            #[track_caller]
            pub fn load(self, index: u32) -> u32 {
                self.check(index);
                self.atomics[index as usize].load()
            }
            /// Atomic store.
            #[inline(always)]
            #[track_caller]
            pub fn store(self, index: u32, value: u32) {
                self.check(index);
                self.atomics[index as usize].store(value);
            }
            /// Compare-and-swap.
            #[inline(always)]
            #[track_caller]
            pub fn compare_exchange(self, index: u32, current: u32, new: u32) -> u32 {
                self.check(index);
                self.atomics[index as usize].compare_exchange(current, new)
            }
            $(
                $(#[$doc])*
                #[inline(always)]
                #[track_caller]
                pub fn $name(self, index: u32, value: u32) -> u32 {
                    self.check(index);
                    self.atomics[index as usize].$name(value)
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
