//! A heap that keeps a trace of its requests.
//!
//! | file | what |
//! |---|---|
//! | [`region`] | the adaptor's own words at the pool's end: settings, rings, the table of launches |
//! | [`event`] | what an event is |

pub(crate) mod event;
pub(crate) mod region;

use super::within::{handle_within, named_as_within};
use crate::arch::{self, Group, Words};
use crate::thread;
use region::{EVENT_WORDS, Region};
use warpheap_api::{
    AllocError, Caps, DeviceAlloc, DevicePtr, HeapCounters, HeapCounts, HeapHandle, HeapMemory,
    HeapParams, HeapStats, HeapUsage, Layout, Reset, select,
};

/// Keeps an event for each request in the heap's own memory: malloc, free, resizing and failure, with lane, size, place and time.
/// `Traced::take` gives them to the host.
///
/// A lane writes 16 bytes for each; lanes that call together claim their places by one atomic addition, on one of 32 words. When the
/// memory for events is full, further ones are only counted: none is written over, and no lane waits.
///
/// Vulkan has no clock that all devices know: there the time of an event is its number among those of its ring.
#[derive(Clone, Copy)]
pub struct Traced<A> {
    inner: A,
}

/// What an event tells besides who and when.
#[derive(Clone, Copy)]
struct Told {
    granule: u32,
    packed: u32,
    time: u32,
}

handle_within!(Traced);

impl<A: DeviceAlloc<Memory = Words>> Traced<A> {
    /// Keeps the first `count` of two events of the calling lane.
    #[inline(always)]
    fn keep(self, count: u32, first: Told, second: Told) {
        let words = self.inner.header();
        let places = Region::of(words).claim(Group::here(), count);
        if places.word != 0 {
            let put = |at: usize, told: Told, number: u32| {
                let time = select(arch::HAS_CLOCK, told.time, number);
                words.write4(at, [thread::index(), told.granule, told.packed, time]);
            };
            put(places.word, first, places.number);
            if count > 1 {
                let next = places.word + EVENT_WORDS as usize;
                put(next, second, places.number + 1);
            }
        }
    }

    /// Keeps one event of each lane that has one.
    #[inline(always)]
    fn note(self, happened: bool, kind: u32, granule: u32, bytes: usize) {
        let told = Told {
            granule,
            packed: event::packed(kind, bytes),
            time: arch::moment(),
        };
        self.keep(happened as u32, told, told);
    }

    /// Keeps the outcome of a request for a block.
    #[inline(always)]
    fn note_malloc(self, layout: Layout, result: Result<DevicePtr<u8>, AllocError>) {
        let (kind, granule) = match result {
            Ok(ptr) => (event::MALLOC, ptr.granule()),
            Err(error) => (event::FAILED, error.code()),
        };
        self.note(true, kind, granule, layout.size());
    }

    /// Keeps a free, which is yet to come: whoever gets the block afterwards writes later.
    #[inline(always)]
    fn note_free(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(!ptr.is_null(), event::FREE, ptr.granule(), layout.size());
    }
}

// SAFETY: every request goes to the inner allocator unchanged, and events lie where it has no blocks.
unsafe impl<A: DeviceAlloc<Memory = Words>> DeviceAlloc for Traced<A> {
    named_as_within!();
    const CAPS: Caps = A::CAPS;

    #[inline(always)]
    fn malloc(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        let result = self.inner.malloc(layout);
        self.note_malloc(layout, result);
        result
    }

    #[inline(always)]
    unsafe fn free(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note_free(ptr, layout);
        // SAFETY: the caller's promise.
        unsafe { self.inner.free(ptr, layout) }
    }

    #[inline(always)]
    unsafe fn malloc_warp(self, layout: Layout) -> Result<DevicePtr<u8>, AllocError> {
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.malloc_warp(layout) };
        self.note_malloc(layout, result);
        result
    }

    #[inline(always)]
    unsafe fn free_warp(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note_free(ptr, layout);
        // SAFETY: the caller's promise.
        unsafe { self.inner.free_warp(ptr, layout) }
    }

    #[inline(always)]
    unsafe fn realloc(
        self,
        ptr: DevicePtr<u8>,
        layout: Layout,
        new_size: usize,
    ) -> Result<DevicePtr<u8>, AllocError> {
        // What a block was ends before others can have its memory.
        let began = arch::moment();
        // SAFETY: the caller's promise.
        let result = unsafe { self.inner.realloc(ptr, layout, new_size) };
        let (count, granule, kind, size) = match result {
            Ok(moved) => (2, moved.granule(), event::RESIZED_FROM, layout.size()),
            Err(error) => (1, error.code(), event::NOT_RESIZED, new_size),
        };
        let first = Told {
            granule: select(count == 2, ptr.granule(), granule),
            packed: event::packed(kind, size),
            time: began,
        };
        let second = Told {
            granule,
            packed: event::packed(event::RESIZED_TO, new_size),
            time: arch::moment(),
        };
        self.keep(count, first, second);
        result
    }

    #[inline(always)]
    fn rounded(self, layout: Layout) -> Layout {
        self.inner.rounded(layout)
    }
}

// SAFETY: the inner allocator resets, and knows nothing of the events.
unsafe impl<A: Reset<Memory = Words>> Reset for Traced<A> {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        self.note(index == 0, event::RESET, 0, 0);
        // SAFETY: the caller's promise.
        unsafe { self.inner.reset(index, count) }
    }
}

impl<A: HeapStats<Memory = Words>> HeapStats for Traced<A> {
    #[inline(always)]
    fn usage(self, index: u32, count: u32) -> HeapUsage {
        self.inner.usage(index, count)
    }
}

impl<A: HeapCounters<Memory = Words>> HeapCounters for Traced<A> {
    fn counts(self) -> HeapCounts {
        self.inner.counts()
    }
}
