//! Memory that the lanes of a block share, and no others.

use crate::arch::BlockWords;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;

/// `N` words of 32 bits that the lanes of a block share while it runs: on CUDA shared memory, on Vulkan workgroup
/// memory. A parameter of a kernel for which the host gives nothing.
///
/// Each block has its own. What they hold when it begins is not specified: write before you read. The parameters of a kernel
/// share less than 48 KiB this way, or it does not compile. A device may have less (Vulkan promises 16 KiB), and refuses the
/// launch then.
///
/// Atomic calls are relaxed. Plain ones, [`read`](Self::read) and [`write`](Self::write), are `unsafe`. What orders both is
/// [`block_barrier`](crate::thread::block_barrier). An index beyond the last is a mistake as with slices.
///
/// ```text
/// #[kernel]
/// fn sums(values: &[u32], sum: SharedWords<1>, mut out: PerLane<u32>) {
///     if thread::index_in_block() == 0 {
///         sum.store(0, 0);
///     }
///     // SAFETY: all lanes are here, and at the next one.
///     unsafe { thread::block_barrier() };
///     let i = thread::index() as usize;
///     if i < values.len() {
///         sum.fetch_add(0, values[i]);
///     }
///     // SAFETY: as above.
///     unsafe { thread::block_barrier() };
///     if let Some(i) = out.lane_index() {
///         out[i] = sum.load(0);
///     }
/// }
/// ```
#[derive(Clone, Copy)]
pub struct SharedWords<'a, const N: usize> {
    words: BlockWords<N>,
    launch: PhantomData<(&'a ArgBlock, *mut ())>,
}

impl<'a, const N: usize> SharedWords<'a, N> {
    /// For the expansion of `#[kernel]`.
    ///
    /// # Safety
    /// The words are the calling lane's block's, while the arguments are valid.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn attach(_args: &'a ArgBlock, words: BlockWords<N>) -> Self {
        SharedWords {
            words,
            launch: PhantomData,
        }
    }

    /// Number of words.
    #[inline(always)]
    pub const fn len(self) -> u32 {
        N as u32
    }

    /// Whether there are none.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        N == 0
    }

    /// Plain read of a word.
    ///
    /// # Safety
    /// No other lane of the block writes the word at the same time: a barrier stands between the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn read(self, index: u32) -> u32 {
        self.words.read(index)
    }

    /// Plain write of a word.
    ///
    /// # Safety
    /// No other lane of the block reads or writes the word at the same time: a barrier stands between the two.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn write(self, index: u32, value: u32) {
        self.words.write(index, value);
    }

    /// Atomic load, relaxed.
    #[inline(always)]
    #[track_caller]
    pub fn load(self, index: u32) -> u32 {
        self.words.load(index)
    }

    /// Atomic store, relaxed.
    #[inline(always)]
    #[track_caller]
    pub fn store(self, index: u32, value: u32) {
        self.words.store(index, value);
    }

    /// Atomic compare-and-swap, relaxed; returns the old value, which is `current` on success.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(self, index: u32, current: u32, new: u32) -> u32 {
        self.words.compare_exchange(index, current, new)
    }
}

macro_rules! changes {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        impl<const N: usize> SharedWords<'_, N> {$(
            $(#[$doc])*
            #[inline(always)]
            #[track_caller]
            pub fn $name(self, index: u32, value: u32) -> u32 {
                self.words.$name(index, value)
            }
        )*}
    };
}

changes! {
    /// Atomic addition (wrapping), relaxed; returns the old value.
    fetch_add;
    /// Atomic minimum, relaxed; returns the old value.
    fetch_min;
    /// Atomic maximum, relaxed; returns the old value.
    fetch_max;
    /// Atomic bitwise and, relaxed; returns the old value.
    fetch_and;
    /// Atomic bitwise or, relaxed; returns the old value.
    fetch_or;
    /// Atomic exchange, relaxed; returns the old value.
    exchange;
}
