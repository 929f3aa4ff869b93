//! Plain data that may live in a heap.

use crate::{ArrayHandle, DevicePtr, HeapMemory, select};

/// Plain data that is stored as whole 32-bit words: in a heap, in a device buffer, in the arguments
/// of a kernel.
///
/// Derive it for a `#[repr(C)]` struct whose fields are `HeapData`. Words are the unit because
/// some Vulkan devices have neither 8-, 16- nor 64-bit integers.
///
/// # Safety
/// The type has exactly `WORDS * 4` bytes, alignment of at most 4, no padding, and every bit
/// pattern is a value of it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no `HeapData`: it can neither be passed to a kernel nor lie in a heap",
    note = "`u32`, `i32`, `f32`, handles and arrays of them are, and so is a #[repr(C)] struct of such \
            fields with #[derive(Clone, Copy, HeapData)]"
)]
pub unsafe trait HeapData: Sized + 'static {
    /// Size in 32-bit words.
    const WORDS: u32;

    /// Whether values are containers, whose safe methods reach memory of one heap. Of which heap those in a vector
    /// are is remembered on the host, and no launch takes them with another one.
    const OF_HEAP: bool = false;

    /// Whether values are containers that lanes share, or may hold some. These are `Copy`, and a kernel can leave one there whose
    /// owner is the host: the host then keeps it for as long. It is enough that this is true where it has to be.
    const HOLDS_SHARED: bool = Self::OF_HEAP;

    /// The word at `index` of a value that stands for nothing: null for handles, an empty one for containers, zero for numbers. It is
    /// what `DeviceVec::zeroed` fills memory with.
    fn zero_word(index: u32) -> u32 {
        let _ = index;
        0
    }

    /// Reads a value from `memory`, beginning at index `word`.
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self;

    /// Writes this value to `memory`, beginning at index `word`.
    fn put<M: HeapMemory>(self, memory: M, word: usize);

    /// Rebuilds a value from the block of kernel arguments, beginning at word `at`.
    ///
    /// # Safety
    /// The words are those of a value that the host passed. Others would make a container of memory that is not its own.
    unsafe fn from_args(args: &crate::abi::ArgBlock, at: usize) -> Self;

    /// The word at `index` of those that [`put`](Self::put) writes; 0 beyond the last. For what needs a
    /// value's words without memory, such as hashing a key.
    fn word_at(self, index: u32) -> u32;
}

macro_rules! word_data {
    ($($type:ty: $from:expr, $to:expr;)*) => {$(
        // SAFETY: four bytes, no padding, any bit pattern is valid.
        unsafe impl HeapData for $type {
            const WORDS: u32 = 1;
            #[inline(always)]
            #[track_caller]
            fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
                $from(memory.read(word))
            }
            #[inline(always)]
            #[track_caller]
            fn put<M: HeapMemory>(self, memory: M, word: usize) {
                memory.write(word, $to(self));
            }
            #[inline(always)]
            unsafe fn from_args(args: &crate::abi::ArgBlock, at: usize) -> Self {
                $from(args.words[at])
            }
            #[inline(always)]
            fn word_at(self, index: u32) -> u32 {
                select(index == 0, $to(self), 0)
            }
        }
    )*};
}

word_data! {
    u32: |w: u32| w, |v: u32| v;
    i32: |w: u32| w as i32, |v: i32| v as u32;
    f32: f32::from_bits, f32::to_bits;
}

// SAFETY: one word, transparent over u32.
unsafe impl<T: 'static> HeapData for DevicePtr<T> {
    const WORDS: u32 = 1;
    fn zero_word(_: u32) -> u32 {
        DevicePtr::NULL_GRANULE
    }
    #[inline(always)]
    #[track_caller]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        DevicePtr::from_granule(memory.read(word))
    }
    #[inline(always)]
    #[track_caller]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        memory.write(word, self.granule());
    }
    #[inline(always)]
    unsafe fn from_args(args: &crate::abi::ArgBlock, at: usize) -> Self {
        DevicePtr::from_granule(args.words[at])
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        select(index == 0, self.granule(), 0)
    }
}

// SAFETY: two words in a repr(C) struct, transparent.
unsafe impl<T: 'static> HeapData for DevicePtr<[T]> {
    const WORDS: u32 = 2;
    fn zero_word(index: u32) -> u32 {
        select(index == 0, DevicePtr::NULL_GRANULE, 0)
    }
    #[inline(always)]
    #[track_caller]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        DevicePtr::<T>::get(memory, word).with_len(memory.read(word + 1))
    }
    #[inline(always)]
    #[track_caller]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        self.first().put(memory, word);
        memory.write(word + 1, self.len());
    }
    #[inline(always)]
    unsafe fn from_args(args: &crate::abi::ArgBlock, at: usize) -> Self {
        // SAFETY: the caller's promise.
        unsafe { DevicePtr::<T>::from_args(args, at) }.with_len(args.words[at + 1])
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        HeapData::word_at(self.first(), index) | select(index == 1, self.len(), 0)
    }
}

// SAFETY: an array of data without padding has none itself.
unsafe impl<T: HeapData + Copy, const N: usize> HeapData for [T; N] {
    const WORDS: u32 = T::WORDS * N as u32;
    const OF_HEAP: bool = T::OF_HEAP;
    const HOLDS_SHARED: bool = T::HOLDS_SHARED;
    fn zero_word(index: u32) -> u32 {
        T::zero_word(index % T::WORDS.max(1))
    }
    #[inline(always)]
    #[track_caller]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        let mut values = [T::get(memory, word); N];
        let mut i = 1;
        while i < N {
            values[i] = T::get(memory, word + i * T::WORDS as usize);
            i += 1;
        }
        values
    }
    #[inline(always)]
    #[track_caller]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        let mut i = 0;
        while i < N {
            self[i].put(memory, word + i * T::WORDS as usize);
            i += 1;
        }
    }
    #[inline(always)]
    unsafe fn from_args(args: &crate::abi::ArgBlock, at: usize) -> Self {
        // SAFETY: the caller's promise, of each element.
        let mut values = [unsafe { T::from_args(args, at) }; N];
        let mut i = 1;
        while i < N {
            // SAFETY: the same.
            values[i] = unsafe { T::from_args(args, at + i * T::WORDS as usize) };
            i += 1;
        }
        values
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        // An element gives 0 for every index that is not its own, also for those that wrapped.
        let mut word = 0;
        let mut i = 0;
        while i < N {
            word |= self[i].word_at(index.wrapping_sub(i as u32 * T::WORDS));
            i += 1;
        }
        word
    }
}

static_assertions::assert_eq_size!(ArrayHandle, [u32; 2]);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_order_and_none_beyond() {
        let words = |value: [[u32; 2]; 2]| [0, 1, 2, 3, 4, u32::MAX].map(|i| value.word_at(i));
        assert_eq!(words([[7, 8], [9, 10]]), [7, 8, 9, 10, 0, 0]);
        assert_eq!(
            (1.5f32.word_at(0), 1.5f32.word_at(1)),
            (1.5f32.to_bits(), 0)
        );
        let array = DevicePtr::<u32>::from_granule(5).with_len(6);
        assert_eq!([0, 1, 2].map(|i| array.word_at(i)), [5, 6, 0]);
    }
}
