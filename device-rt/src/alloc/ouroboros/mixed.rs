//! Instances of different kinds in one heap (§4, Algorithm 7): one for pages of up to a chunk of the base
//! instance, another one for the larger instances.
//!
//! Both take chunks from one manager. When one has none left, the other gives back what it does not need.

use super::{Core, MOST_ALIGN, MOST_GRANULES, Ouroboros, Queue, Strategy};
use crate::alloc::fail;
use crate::arch::{Group, Words};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapParams, Layout, layout, select,
};

/// The base instance of one kind, larger ones of another: `OuroborosMixed<OuroborosPS, OuroborosCVL>` has pages in
/// standard queues up to 8 KiB, and chunks in linked queues beyond.
///
/// Any two of the six may be combined. The library's kernels are compiled for the six alone; kernels of
/// your own take a mixture through an alias of theirs.
#[derive(Clone, Copy)]
pub struct OuroborosMixed<Small, Large> {
    small: Small,
    large: Large,
}

impl<S1, Q1, S2, Q2> OuroborosMixed<Ouroboros<S1, Q1>, Ouroboros<S2, Q2>>
where
    S1: Strategy,
    Q1: Queue,
    S2: Strategy,
    Q2: Queue,
{
    /// Collective: serves lanes with the instance of their class, and once more after the other one gave back.
    #[inline(always)]
    fn serve(self, group: Group, fits: bool, class: u32) -> (u32, u32) {
        let small = class < self.small.core.end;
        let exhausted = AllocError::Exhausted.code();
        let (mut granule, mut code) = self.small.serve(group, fits & small, class);
        let again = fits & small & (code == exhausted);
        if group.any(again) {
            if again {
                S2::collect(self.large);
            }
            let (second, why) = self.small.serve(group, again, class);
            granule = select(again, second, granule);
            code = select(again, why, code);
        }
        let large = fits & !small;
        if group.any(large) {
            let (found, why) = self.large.serve(group, large, class);
            granule = select(large, found, granule);
            code = select(large, why, code);
            let again = large & (code == exhausted);
            if group.any(again) {
                if again {
                    S1::collect(self.small);
                }
                let (second, why) = self.large.serve(group, again, class);
                granule = select(again, second, granule);
                code = select(again, why, code);
            }
        }
        (granule, code)
    }
}

impl<S1, Q1, S2, Q2> HeapHandle for OuroborosMixed<Ouroboros<S1, Q1>, Ouroboros<S2, Q2>>
where
    S1: Strategy,
    Q1: Queue,
    S2: Strategy,
    Q2: Queue,
{
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        // SAFETY: the caller's promise.
        let (mut small, mut large): (Ouroboros<S1, Q1>, Ouroboros<S2, Q2>) = unsafe {
            (
                HeapHandle::attach(words, params),
                HeapHandle::attach(words, params),
            )
        };
        let border = Core::base_classes(small.core);
        small.core.end = border;
        large.core.first = border;
        OuroborosMixed { small, large }
    }
}

// SAFETY: each page is of one instance, which keeps the promises; the manager hands each chunk to one.
unsafe impl<S1, Q1, S2, Q2> DeviceAlloc for OuroborosMixed<Ouroboros<S1, Q1>, Ouroboros<S2, Q2>>
where
    S1: Strategy,
    Q1: Queue,
    S2: Strategy,
    Q2: Queue,
{
    type Memory = Words;
    const NAME: &'static str = "OuroborosMixed";
    const CAPS: Caps = Caps {
        frees: true,
        max_align: MOST_ALIGN * 16,
        max_size: MOST_GRANULES as u64 * 16,
    };

    #[inline(always)]
    fn memory(self) -> Words {
        self.small.core.words
    }

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let group = Group::here();
        let (class, fits, possible) = self.small.class_of(layout);
        let (granule, code) = self.serve(group, fits, class);
        group.acquire();
        let code = self.small.code(fits, possible, code);
        if code == 0 {
            Ok(DevicePtr::from_granule(granule))
        } else {
            fail(self.small.core.words, layout, AllocError::from_code(code))
        }
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        let group = Group::here();
        group.release();
        let (class, fits, _) = self.small.class_of(layout);
        let (live, small) = (fits & !ptr.is_null(), class < self.small.core.end);
        S1::release(self.small, group, live & small, class, ptr.granule());
        S2::release(self.large, group, live & !small, class, ptr.granule());
    }

    /// Stays in place where the page holds the new size and a fresh request would get one as large.
    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        old: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let (was, ..) = self.small.class_of(old);
        let (is, fits, _) = self.small.class_of(layout::aligned(new_size, old.align()));
        if fits & (was == is) {
            return Ok(ptr);
        }
        // SAFETY: the caller's promise.
        unsafe { self.move_block(ptr, old, new_size) }
    }

    /// A page of the class, of whichever instance.
    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.small.rounded(layout)
    }
}
