//! Words in the host's memory: every access to a heap is checked, and an emulator may schedule it, or make it itself.

use super::super::Group;
use super::memory::{Access, BlockEvent, Change, Site};
use super::simt::current;
use super::{acquire, block_barrier, block_broadcast, global, release, thread_index};
use core::panic::Location;
use core::sync::atomic::{AtomicU32, Ordering};
use warpheap_api::{DevicePtr, HeapMemory, Layout};

/// An atomic access to a word of memory, relaxed; what is read, or was there before.
///
/// # Safety
/// The word is aligned and valid, and accessed through this module alone.
#[inline(always)]
unsafe fn atomic(word: *mut u32, access: Access, site: Site) -> u32 {
    if let Some(slot) = current() {
        if slot.schedules {
            slot.simt().schedule(&slot.info);
        }
        if slot.models_memory() {
            // SAFETY: the caller's promise.
            return unsafe { slot.simt().access(&slot.info, word, access, site) };
        }
    }
    // SAFETY: the caller's promise.
    unsafe { access.make(word) }
}

/// The words of a heap.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    base: *mut u32,
    len: usize,
    granule_shift: u32,
    /// Whether an emulator makes the plain accesses, too: known from the start, so that they cost nothing where
    /// none does.
    modelled: bool,
}

impl Words {
    /// The words at `base`.
    ///
    /// # Safety
    /// `base` is aligned and valid for `len` words for as long as any copy of this handle is used,
    /// and accessed through such handles alone meanwhile.
    #[inline(always)]
    pub unsafe fn from_address(base: u64, len: u64) -> Self {
        Words {
            base: global(base),
            len: len as usize,
            granule_shift: 0,
            modelled: current().is_some_and(|slot| slot.models_memory()),
        }
    }

    /// The same words, of a heap with granules of 16 bytes times two to this power.
    #[inline(always)]
    pub fn with_granule_shift(self, granule_shift: u32) -> Self {
        Words {
            granule_shift,
            ..self
        }
    }

    /// Address of a word, for accesses that no emulator sees.
    #[inline(always)]
    pub fn address(self, word: usize) -> *mut u32 {
        let address = self.place(word);
        if self.modelled
            && let Some(slot) = current()
        {
            slot.simt().on_address(self.base as usize, word);
        }
        address
    }

    #[inline(always)]
    fn place(self, word: usize) -> *mut u32 {
        if word >= self.len {
            self.outside(word);
        }
        // SAFETY: the index was checked, and the base is valid for len words.
        unsafe { self.base.add(word) }
    }

    #[cold]
    fn outside(self, word: usize) -> ! {
        match current() {
            Some(slot) => slot
                .simt()
                .outside(&slot.info, self.base as usize, word, self.len),
            None => panic!("word {word} is outside the heap of {} words", self.len),
        }
    }

    #[inline(always)]
    #[track_caller]
    fn atomic(self, word: usize, access: Access) -> u32 {
        // SAFETY: the address is valid and aligned.
        unsafe { atomic(self.place(word), access, Location::caller()) }
    }

    /// Tells the emulator, if it wants to know, what happens to a block.
    #[inline(always)]
    #[track_caller]
    fn note(self, ptr: DevicePtr<u8>, layout: Layout, event: BlockEvent) {
        if let Some(slot) = current()
            && slot.tracks_blocks
        {
            let (base, bytes) = (self.base as usize, layout.size() as u64);
            let offset = self.word_of(ptr) as u64 * 4;
            slot.at(Location::caller());
            slot.simt()
                .on_block(&slot.info, base, (offset, bytes), event);
        }
    }

    /// A plain access that an emulator makes.
    #[cold]
    #[track_caller]
    fn modelled(self, word: usize, access: Access) -> u32 {
        let address = self.place(word);
        match current() {
            // SAFETY: the address is valid and aligned.
            Some(slot) => unsafe {
                slot.simt()
                    .access(&slot.info, address, access, Location::caller())
            },
            None => 0,
        }
    }
}

// SAFETY: they are the memory that they were made of, whose length the maker knew.
unsafe impl HeapMemory for Words {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }
    #[inline(always)]
    fn granule_shift(self) -> u32 {
        self.granule_shift
    }
    #[inline(always)]
    #[track_caller]
    fn read(self, word: usize) -> u32 {
        if self.modelled {
            return self.modelled(word, Access::Read);
        }
        // Relaxed atomics rather than plain accesses: as fast here, and a race in device code
        // stays a wrong value instead of undefined behaviour of the emulator.
        // SAFETY: the address is valid and aligned.
        unsafe { AtomicU32::from_ptr(self.place(word)) }.load(Ordering::Relaxed)
    }
    #[inline(always)]
    #[track_caller]
    fn write(self, word: usize, value: u32) {
        if self.modelled {
            self.modelled(word, Access::Write(value));
            return;
        }
        // SAFETY: the address is valid and aligned.
        unsafe { AtomicU32::from_ptr(self.place(word)) }.store(value, Ordering::Relaxed);
    }
    #[inline(always)]
    #[track_caller]
    fn load(self, word: usize) -> u32 {
        self.atomic(word, Access::Load)
    }
    #[inline(always)]
    #[track_caller]
    fn glance(self, word: usize) -> u32 {
        self.atomic(word, Access::Load)
    }
    #[inline(always)]
    #[track_caller]
    fn store(self, word: usize, value: u32) {
        self.atomic(word, Access::Store(value));
    }
    #[inline(always)]
    #[track_caller]
    fn fetch_add(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::Add, value))
    }
    #[inline(always)]
    #[track_caller]
    fn fetch_sub(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::Sub, value))
    }
    #[inline(always)]
    #[track_caller]
    fn release_sub(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::ReleaseSub(value))
    }
    #[inline(always)]
    #[track_caller]
    fn fetch_and(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::And, value))
    }
    #[inline(always)]
    #[track_caller]
    fn fetch_or(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::Or, value))
    }
    #[inline(always)]
    #[track_caller]
    fn fetch_max(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::Max, value))
    }
    #[inline(always)]
    #[track_caller]
    fn exchange(self, word: usize, value: u32) -> u32 {
        self.atomic(word, Access::Change(Change::Exchange, value))
    }
    #[inline(always)]
    #[track_caller]
    fn compare_exchange(self, word: usize, current: u32, new: u32) -> u32 {
        self.atomic(word, Access::CompareExchange { current, new })
    }
    #[inline(always)]
    #[track_caller]
    fn release(self) {
        release();
    }
    #[inline(always)]
    #[track_caller]
    fn acquire(self) {
        acquire();
    }
    #[inline(always)]
    #[track_caller]
    fn once_for_group(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        Group::here().once(call)
    }
    #[inline(always)]
    fn index_in_block(self) -> u32 {
        thread_index()
    }
    #[inline(always)]
    #[track_caller]
    fn block_barrier(self) {
        // SAFETY: what memory asks of who calls it.
        unsafe { block_barrier() };
    }
    #[inline(always)]
    #[track_caller]
    fn block_broadcast(self, value: u32, source: u32) -> u32 {
        // SAFETY: what memory asks of who calls it.
        unsafe { block_broadcast(value, source) }
    }
    #[inline(always)]
    #[track_caller]
    fn note_malloc(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(ptr, layout, BlockEvent::Malloc);
    }
    #[inline(always)]
    #[track_caller]
    fn note_calloc(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(ptr, layout, BlockEvent::Calloc);
    }
    #[inline(always)]
    #[track_caller]
    fn note_free(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(ptr, layout, BlockEvent::Free);
    }
    #[inline(always)]
    #[track_caller]
    fn note_moving(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(ptr, layout, BlockEvent::Moving);
    }
    #[inline(always)]
    #[track_caller]
    fn note_moved(self, ptr: DevicePtr<u8>, layout: Layout) {
        self.note(ptr, layout, BlockEvent::Moved);
    }
    #[inline(always)]
    fn note_reset(self) {
        if let Some(slot) = current()
            && slot.tracks_blocks
        {
            slot.simt().on_reset(self.base as usize);
        }
    }
}

/// A word of a slice that lanes change at the same time.
#[derive(Debug)]
#[repr(transparent)]
pub struct AtomicWord(AtomicU32);

impl AtomicWord {
    #[inline(always)]
    #[track_caller]
    fn atomic(&self, access: Access) -> u32 {
        // SAFETY: the word is valid for as long as the reference.
        unsafe { atomic(self.0.as_ptr(), access, Location::caller()) }
    }
    /// Atomic load, relaxed.
    #[inline(always)]
    #[track_caller]
    pub fn load(&self) -> u32 {
        self.atomic(Access::Load)
    }
    /// Atomic store, relaxed.
    #[inline(always)]
    #[track_caller]
    pub fn store(&self, value: u32) {
        self.atomic(Access::Store(value));
    }
    /// Atomic addition (wrapping), relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_add(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Add, value))
    }
    /// Atomic bitwise or, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_or(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Or, value))
    }
    /// Atomic maximum, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_max(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Max, value))
    }
    /// Atomic subtraction (wrapping), relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_sub(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Sub, value))
    }
    /// Atomic bitwise and, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_and(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::And, value))
    }
    /// Atomic minimum, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn fetch_min(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Min, value))
    }
    /// Atomic exchange, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn exchange(&self, value: u32) -> u32 {
        self.atomic(Access::Change(Change::Exchange, value))
    }
    /// Atomic compare-and-swap, relaxed; returns the old value.
    #[inline(always)]
    #[track_caller]
    pub fn compare_exchange(&self, current: u32, new: u32) -> u32 {
        self.atomic(Access::CompareExchange { current, new })
    }
}
