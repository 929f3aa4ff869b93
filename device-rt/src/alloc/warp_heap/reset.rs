//! Freeing everything at once: the metadata as they are in a fresh heap.

use super::WarpHeap;
use crate::bits::share;
use warpheap_api::{HeapMemory, Reset, header};

/// The first word that is not the same for the life of a heap.
const FIRST: u32 = header::WORD_FAILURES as u32;

// SAFETY: a fresh heap has zeros from the counts of failures to the end of the entries.
unsafe impl Reset for WarpHeap {
    #[inline(always)]
    unsafe fn reset(self, index: u32, count: u32) {
        let geometry = self.geometry;
        // Where the entry behind the last one would be.
        let end = geometry.state_word(geometry.chunks) as u32;
        let mut left = share(end - FIRST, index, count);
        let mut word = FIRST.wrapping_add(index);
        while left > 0 {
            self.words.store(word as usize, 0);
            word = word.wrapping_add(count);
            left -= 1;
        }
    }
}
