//! A heap that finds mistakes in how it is used.
//!
//! | file | what |
//! |---|---|
//! | [`region`] | the adaptor's own words at the pool's end: settings, counts, reports, the quarantine |
//! | [`record`] | what lies around a block: its record in front, its canary behind |
//! | [`judge`] | whether a free is right, and what is wrong |
//! | [`quarantine`] | freed blocks that wait, and what is looked at when they leave |
//! | [`contents`] | what freed blocks that wait hold |
//! | [`report`] | how a mistake is told |
//! | [`chosen`] | who chose the adaptor: the program, or the environment variable `WARPHEAP_CHECK` |

mod chosen;
mod contents;
mod judge;
mod quarantine;
pub(crate) mod record;
pub(crate) mod region;
pub(crate) mod report;

pub use chosen::{ByProgram, ByVariable, Chooser};

use super::within::named_as_within;
use crate::alloc::{fail, unfail};
use crate::arch::{self, Group, Words};
use crate::sync::{self, Granules, Move};
use core::alloc::Layout;
use core::marker::PhantomData;
use record::{Frame, Who};
use region::Region;
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapHandle, HeapMemory, HeapParams, HeapStats,
    HeapUsage, Reset, layout,
};

/// Finds mistakes in how a heap is used, on every backend: blocks that are freed twice, with another layout, or that this heap
/// never handed out; writes in front of a block, behind it, and after it was freed. A launch that makes one fails, and the error
/// tells of each.
///
/// A block takes 32 bytes more; of an alignment `a` beyond 16 bytes, `a + 16` more. Freed blocks wait in a quarantine before the
/// allocator within gets them back: see `CheckedConfig`. It is for finding mistakes, not for speed. A free that is a mistake changes
/// nothing; the block of a mistaken free stays allocated.
///
/// Bounds are those of whole words: of a block of 5 bytes the last 3 bytes of the second word are its owner's.
#[derive(Clone, Copy)]
pub struct Checked<A, C = ByProgram> {
    inner: A,
    chosen: PhantomData<fn() -> C>,
}

/// Bytes that a block of an alignment up to 16 bytes takes beyond its own.
pub(crate) const EXTRA_BYTES: usize = 2 * DevicePtr::<u8>::GRANULE_BYTES;

/// The greatest size of a request with the adaptor's words around it.
const fn less_extra(most: u64) -> u64 {
    most.saturating_sub(EXTRA_BYTES as u64) & !(DevicePtr::<u8>::GRANULE_BYTES as u64 - 1)
}

impl<A: HeapHandle<Memory = Words>, C: Chooser> HeapHandle for Checked<A, C> {
    #[inline(always)]
    unsafe fn attach(words: Words, params: HeapParams) -> Self {
        Checked {
            // SAFETY: the caller's promise.
            inner: unsafe { A::attach(words, params) },
            chosen: PhantomData,
        }
    }
}

impl<A: DeviceAlloc<Memory = Words>, C: Chooser> Checked<A, C> {
    /// The adaptor's words.
    #[inline(always)]
    fn region(self) -> Region {
        Region::of(self.inner.header())
    }

    /// The malloc of the lane at `line`.
    #[inline(always)]
    fn malloc_at(self, layout: Layout, line: u32) -> Result<DevicePtr<u8>, AllocError> {
        let around = record::around(layout);
        let group = Group::here();
        let mut result = self.inner.malloc(around);
        let region = self.region();
        // Drivers take long for an allocator's code in a loop, and twice in a kernel: without calls what waits stays.
        if !arch::INLINES_ALL
            && let Err(AllocError::Exhausted) = result
            && region.held() != 0
        {
            // What waits is free memory. The request is one all the same.
            unfail(region.words(), around);
            self.empty_quarantine();
            result = self.inner.malloc(around);
            if let Err(AllocError::Exhausted) = result
                && region.held() != 0
            {
                // Another lane is giving back what waited.
                unfail(region.words(), around);
                result = fail(region.words(), around, AllocError::Contended);
            }
        }
        let mut block = DevicePtr::NULL;
        if let Ok(begin) = result {
            block = DevicePtr::from_granule(begin.granule() + record::front_granules(layout));
            let frame = Frame::new(self.memory(), region.epoch(), block.granule());
            frame.live(layout, Who::here(line));
        }
        group.barrier();
        result.map(|_| block)
    }

    /// The free of the lane at `line`.
    ///
    /// # Safety
    /// Any handle and layout will do. If they are those of a live block, no lane uses it any more.
    #[inline(always)]
    unsafe fn free_at(self, ptr: DevicePtr<u8>, layout: Layout, line: u32) {
        // Lanes part where they look at their blocks. They meet again in this group, and the inner allocator finds them together.
        let group = Group::here();
        let leaving = self.take_back(group, ptr, layout, Who::here(line));
        group.barrier();
        // SAFETY: the inner block of a record that was found whole and that this lane alone took back, or null.
        unsafe { self.inner.free(leaving.begin, leaving.layout()) };
        self.region().leave(group, leaving.waited);
    }
}

// SAFETY: a block lies inside one of the inner allocator, with nothing of the adaptor's in it.
unsafe impl<A: DeviceAlloc<Memory = Words>, C: Chooser> DeviceAlloc for Checked<A, C> {
    named_as_within!();
    const CAPS: Caps = Caps {
        frees: A::CAPS.frees,
        max_align: A::CAPS.max_align,
        max_size: less_extra(A::CAPS.max_size),
    };

    #[inline(always)]
    #[track_caller]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.malloc_at(layout, arch::caller_line())
    }

    #[inline(always)]
    #[track_caller]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.free_at(ptr, layout, arch::caller_line()) }
    }

    #[inline(always)]
    #[track_caller]
    unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        self.malloc_at(layout, arch::caller_line())
    }

    #[inline(always)]
    #[track_caller]
    unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { self.free_at(ptr, layout, arch::caller_line()) }
    }

    #[inline(always)]
    #[track_caller]
    fn calloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let ptr = self.malloc_at(layout, arch::caller_line())?;
        let memory = self.memory();
        let zeros = record::whole_words(layout.size());
        let granules = Granules {
            first: ptr.granule(),
            number: zeros as u32 / 4,
        };
        sync::fill::<false>(memory, Group::here(), granules, 0);
        // What is behind them is no word of the user's.
        let mut word = zeros & !3;
        while word < zeros {
            memory.write(memory.word_of(ptr) + word, 0);
            word += 1;
        }
        Ok(ptr)
    }

    #[inline(always)]
    #[track_caller]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        let line = arch::caller_line();
        // A block that is none is not read.
        if !self.may_resize(ptr, layout, Who::here(line)) {
            return fail(self.inner.header(), layout, AllocError::Unsupported);
        }
        let moved = self.malloc_at(layout::aligned(new_size, layout.align()), line)?;
        let memory = self.memory();
        let kept = record::whole_words(match new_size < layout.size() {
            true => new_size,
            false => layout.size(),
        });
        let block = Move {
            from: ptr.granule(),
            to: moved.granule(),
            granules: kept as u32 / 4,
        };
        sync::copy(memory, Group::here(), block);
        let mut word = kept & !3;
        while word < kept {
            memory.write(
                memory.word_of(moved) + word,
                memory.read(memory.word_of(ptr) + word),
            );
            word += 1;
        }
        // SAFETY: the caller's promise; the block was copied and is used no more.
        unsafe { self.free_at(ptr, layout, line) };
        Ok(moved)
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        let whole = self.inner.rounded(record::around(layout));
        let granules = whole.size() / DevicePtr::<u8>::GRANULE_BYTES;
        let around = record::front_granules(layout) as usize + 1;
        let own = granules.wrapping_sub(around);
        match granules > around && own <= u32::MAX as usize {
            true => layout::with_granules(layout, own as u32),
            false => layout,
        }
    }

    #[inline(always)]
    #[track_caller]
    unsafe fn malloc_shared(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let memory = self.memory();
        let line = arch::caller_line();
        let (answer, code) = memory.once_for_group(|| match self.malloc_at(layout, line) {
            Ok(ptr) => {
                memory.note_malloc(ptr, layout);
                (ptr.granule(), 0)
            }
            Err(error) => (0, error.code()),
        });
        match code {
            0 => Ok(DevicePtr::from_granule(answer)),
            code => Err(AllocError::from_code(code)),
        }
    }
}

// SAFETY: the inner allocator resets. What it handed out before is of another epoch, and what waited is forgotten.
unsafe impl<A: Reset<Memory = Words>, C: Chooser> Reset for Checked<A, C> {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        self.region().reset(index, count);
        // SAFETY: the caller's promise.
        unsafe { self.inner.reset(index, count) }
    }
}

impl<A: HeapStats<Memory = Words>, C: Chooser> HeapStats for Checked<A, C> {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        self.inner.usage(index, count)
    }
}
