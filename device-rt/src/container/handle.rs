//! Handles of one word as data.

/// `HeapData` for a generic handle that is one word: what it asks of its type, its field, and the function that makes it
/// from one.
macro_rules! word_handle {
    ($handle:ident: $($bound:ident)+, $field:ident, $from:ident) => {
        // SAFETY: one word, transparent, every bit pattern allowed (methods promise nothing for handles that were not
        // made by this type).
        unsafe impl<T: $($bound +)+> HeapData for $handle<T> {
            const WORDS: u32 = 1;
            const OF_HEAP: bool = true;
            #[inline(always)]
            fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
                Self::$from(memory.read(word))
            }
            #[inline(always)]
            fn put<M: HeapMemory>(self, memory: M, word: usize) {
                memory.write(word, self.$field);
            }
            #[inline(always)]
            unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
                Self::$from(args.words[at])
            }
            #[inline(always)]
            fn word_at(self, index: u32) -> u32 {
                select(index == 0, self.$field, 0)
            }
        }
    };
}

pub(super) use word_handle;
