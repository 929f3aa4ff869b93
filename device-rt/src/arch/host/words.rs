//! Words of a heap in the host's memory: every access is checked, and one that an emulator may schedule.

use super::super::Group;
use super::simt::current;
use super::{acquire, block_barrier, block_broadcast, global, release, schedule, thread_index};
use core::sync::atomic::{AtomicU32, Ordering};
use warpheap_api::{DevicePtr, HeapMemory, Layout};

/// The words of a heap.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    base: *mut u32,
    len: usize,
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
        }
    }

    /// Address of a word.
    #[inline(always)]
    pub fn address(self, word: usize) -> *mut u32 {
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
    fn atomic(&self, word: usize) -> &AtomicU32 {
        schedule();
        // SAFETY: the address is valid and aligned.
        unsafe { AtomicU32::from_ptr(self.address(word)) }
    }
}

impl HeapMemory for Words {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }
    #[inline(always)]
    fn read(self, word: usize) -> u32 {
        // Relaxed atomics rather than plain accesses: as fast here, and a race in device code
        // stays a wrong value instead of undefined behaviour of the emulator.
        // SAFETY: the address is valid and aligned.
        unsafe { AtomicU32::from_ptr(self.address(word)) }.load(Ordering::Relaxed)
    }
    #[inline(always)]
    fn write(self, word: usize, value: u32) {
        // SAFETY: the address is valid and aligned.
        unsafe { AtomicU32::from_ptr(self.address(word)) }.store(value, Ordering::Relaxed);
    }
    #[inline(always)]
    fn load(self, word: usize) -> u32 {
        self.atomic(word).load(Ordering::Relaxed)
    }
    #[inline(always)]
    fn store(self, word: usize, value: u32) {
        self.atomic(word).store(value, Ordering::Relaxed);
    }
    #[inline(always)]
    fn fetch_add(self, word: usize, value: u32) -> u32 {
        self.atomic(word).fetch_add(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn fetch_sub(self, word: usize, value: u32) -> u32 {
        self.atomic(word).fetch_sub(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn fetch_and(self, word: usize, value: u32) -> u32 {
        self.atomic(word).fetch_and(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn fetch_or(self, word: usize, value: u32) -> u32 {
        self.atomic(word).fetch_or(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn fetch_max(self, word: usize, value: u32) -> u32 {
        self.atomic(word).fetch_max(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn exchange(self, word: usize, value: u32) -> u32 {
        self.atomic(word).swap(value, Ordering::Relaxed)
    }
    #[inline(always)]
    fn compare_exchange(self, word: usize, current: u32, new: u32) -> u32 {
        match self
            .atomic(word)
            .compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(old) | Err(old) => old,
        }
    }
    #[inline(always)]
    fn release(self) {
        release();
    }
    #[inline(always)]
    fn acquire(self) {
        acquire();
    }
    #[inline(always)]
    fn once_for_group(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        Group::here().once(call)
    }
    #[inline(always)]
    fn index_in_block(self) -> u32 {
        thread_index()
    }
    #[inline(always)]
    fn block_barrier(self) {
        block_barrier();
    }
    #[inline(always)]
    fn block_broadcast(self, value: u32, source: u32) -> u32 {
        block_broadcast(value, source)
    }
    #[inline(always)]
    fn note_malloc(self, ptr: DevicePtr<u8>, layout: Layout) {
        if let Some(slot) = current()
            && slot.tracks_blocks
        {
            let (base, bytes) = (self.base as usize, layout.size() as u64);
            slot.simt()
                .on_malloc(&slot.info, base, ptr.byte_offset(), bytes);
        }
    }
    #[inline(always)]
    fn note_free(self, ptr: DevicePtr<u8>, layout: Layout) {
        if let Some(slot) = current()
            && slot.tracks_blocks
        {
            let (base, bytes) = (self.base as usize, layout.size() as u64);
            slot.simt()
                .on_free(&slot.info, base, ptr.byte_offset(), bytes);
        }
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
    /// Atomic load, relaxed.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        schedule();
        self.0.load(Ordering::Relaxed)
    }
    /// Atomic store, relaxed.
    #[inline(always)]
    pub fn store(&self, value: u32) {
        schedule();
        self.0.store(value, Ordering::Relaxed);
    }
    /// Atomic addition (wrapping), relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_add(&self, value: u32) -> u32 {
        schedule();
        self.0.fetch_add(value, Ordering::Relaxed)
    }
    /// Atomic bitwise or, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_or(&self, value: u32) -> u32 {
        schedule();
        self.0.fetch_or(value, Ordering::Relaxed)
    }
    /// Atomic maximum, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_max(&self, value: u32) -> u32 {
        schedule();
        self.0.fetch_max(value, Ordering::Relaxed)
    }
    /// Atomic compare-and-swap, relaxed; returns the old value.
    #[inline(always)]
    pub fn compare_exchange(&self, current: u32, new: u32) -> u32 {
        schedule();
        match self
            .0
            .compare_exchange(current, new, Ordering::Relaxed, Ordering::Relaxed)
        {
            Ok(old) | Err(old) => old,
        }
    }
}
