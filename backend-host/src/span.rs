//! Words of a buffer, as the host reads and writes them.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

/// A range of a buffer that was found to lie inside.
///
/// The host's accesses are relaxed atomics, as those of lanes are: kernels of streams may run meanwhile, and who reads
/// what they change gets one value or another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    start: NonNull<AtomicU32>,
    len: usize,
}

// SAFETY: no more than an address. Who uses it promises that the memory is there, and words are accessed atomically.
unsafe impl Send for Span {}

impl Span {
    /// The `len` words from `start` on.
    ///
    /// # Safety
    /// `start` is aligned, and valid for as many words for as long as the buffer is there.
    pub(crate) unsafe fn new(start: NonNull<AtomicU32>, len: usize) -> Self {
        Span { start, len }
    }

    /// Address of the first word.
    pub(crate) fn address(&self) -> usize {
        self.start.addr().get()
    }

    /// Number of words.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// # Safety
    /// The buffer has not been given back, and is not while the words are borrowed.
    unsafe fn words(&self) -> &[AtomicU32] {
        // SAFETY: aligned and valid by the promises to `new` and to this.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    /// Writes these bytes, as many as the span has.
    ///
    /// # Safety
    /// The buffer is not given back before this returns.
    pub(crate) unsafe fn write(&self, data: &[u8]) {
        // SAFETY: the caller's promise.
        let words = unsafe { self.words() };
        for (word, bytes) in words.iter().zip(data.as_chunks().0) {
            word.store(u32::from_ne_bytes(*bytes), Ordering::Relaxed);
        }
    }

    /// Reads into these bytes, as many as the span has.
    ///
    /// # Safety
    /// As [`write`](Self::write).
    pub(crate) unsafe fn read(&self, data: &mut [u8]) {
        // SAFETY: the caller's promise.
        let words = unsafe { self.words() };
        for (word, bytes) in words.iter().zip(data.as_chunks_mut().0) {
            *bytes = word.load(Ordering::Relaxed).to_ne_bytes();
        }
    }

    /// Sets all words to `value`.
    ///
    /// # Safety
    /// As [`write`](Self::write).
    pub(crate) unsafe fn fill(&self, value: u32) {
        // SAFETY: the caller's promise.
        for word in unsafe { self.words() } {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Copies the words of a span of the same length.
    ///
    /// # Safety
    /// As [`write`](Self::write), of both buffers.
    pub(crate) unsafe fn copy_from(&self, from: &Span) {
        // SAFETY: the caller's promise.
        let (to, from) = unsafe { (self.words(), from.words()) };
        for (to, from) in to.iter().zip(from) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}
