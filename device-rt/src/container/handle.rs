//! Handles of one word as data.

/// `HeapData` for a generic handle that is one word: what it asks of its type, its field, the function that makes it from one,
/// and whether it may hold what lanes share.
macro_rules! word_handle {
    ($handle:ident<$element:ident>: $($bound:ident)+, $field:ident, $from:ident, $holds_shared:expr) => {
        // SAFETY: one word, transparent, every bit pattern allowed (methods promise nothing for handles that were not
        // made by this type).
        unsafe impl<$element: $($bound +)+> HeapData for $handle<$element> {
            const WORDS: u32 = 1;
            const OF_HEAP: bool = true;
            const HOLDS_SHARED: bool = $holds_shared;
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

/// [`HeapData::HOLDS_SHARED`](warpheap_api::HeapData::HOLDS_SHARED) of a container that lanes share. It is there many times, so nobody
/// could tell whom to keep for containers in it: the host, which asks for this, passes none that has some.
pub(super) const fn holds_shared(elements_are_containers: bool) -> bool {
    assert!(
        !elements_are_containers,
        "a container that lanes share has plain elements, no containers: keep these in a vector, and their numbers here"
    );
    true
}
