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

pub(super) use {handle_within, named_as_within};
