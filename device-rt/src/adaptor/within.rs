//! What every adaptor passes on unchanged to the allocator within, its field `inner`.

/// `HeapHandle` of an adaptor that has no more than the allocator within.
macro_rules! handle_within {
    ($adaptor:ident) => {
        impl<A: HeapHandle<Memory = Words>> HeapHandle for $adaptor<A> {
            #[inline(always)]
            unsafe fn attach(words: Words, params: HeapParams) -> Self {
                $adaptor {
                    // SAFETY: the caller's promise.
                    inner: unsafe { A::attach(words, params) },
                }
            }
        }
    };
}

/// The items of `DeviceAlloc` that say which allocator it is and where its words are. What it serves, `CAPS`, each adaptor says.
macro_rules! named_as_within {
    () => {
        type Memory = Words;
        const NAME: &'static str = A::NAME;
        const LEAN_REGISTERS: u32 = A::LEAN_REGISTERS;
        const GRANULE_SHIFT: u32 = A::GRANULE_SHIFT;

        #[inline(always)]
        fn memory(self) -> Words {
            self.inner.memory()
        }

        #[inline(always)]
        fn header(self) -> Words {
            self.inner.header()
        }
    };
}

/// The items of `DeviceAlloc` by which blocks move: what an adaptor counts stays the same.
macro_rules! moved_as_within {
    () => {
        const COMPACTS: bool = A::COMPACTS;

        #[inline(always)]
        fn begin_compaction(self, percent: u32, index: u32, count: u32) -> u32 {
            self.inner.begin_compaction(percent, index, count)
        }

        #[inline(always)]
        unsafe fn relocate(self, ptr: DevicePtr<u8>, layout: Layout) -> DevicePtr<u8> {
            // SAFETY: the caller's promise.
            unsafe { self.inner.relocate(ptr, layout) }
        }

        #[inline(always)]
        fn end_compaction(self, index: u32, count: u32) {
            self.inner.end_compaction(index, count);
        }
    };
}

pub(super) use {handle_within, moved_as_within, named_as_within};
