//! Blocks of containers: handles of one word, layouts, and slots that a counter hands out.

use crate::arch;
use warpheap_api::{DevicePtr, HeapData, HeapMemory, Layout, layout};

/// The first word of what a handle names. A handle is 0 for none, otherwise the granule and one, so that
/// zeroed memory names nothing.
#[inline(always)]
pub(crate) fn word_of<M: HeapMemory>(words: M, handle: u32) -> usize {
    words.word_of(DevicePtr::<u32>::from_granule(handle.wrapping_sub(1)))
}

/// The layout of a block of `header` words and `number` elements of `each` words, not zero; of an absurd size
/// if there are too many.
#[inline(always)]
pub(crate) const fn block_layout(header: u32, number: u32, each: u32) -> Layout {
    let most = (layout::ABSURD / 4 - header as usize) / each as usize;
    if number as usize > most {
        return layout::bytes(layout::ABSURD);
    }
    layout::bytes((header as usize + number as usize * each as usize) * 4)
}

/// A slot of a block that members of a team take by one addition to a counter: the count before, where
/// slots after `last` are not there. Nothing is added to a counter that is beyond it, so it never wraps.
#[inline(always)]
pub(super) fn take<M: HeapMemory>(words: M, counter: usize, last: u32, number: u32) -> u32 {
    let mut count = words.load(counter);
    if count <= last {
        count = words.fetch_add(counter, number);
    }
    count
}

/// Leaves an empty container where one lies that is about to be changed elsewhere, if a panic could leave it there while
/// what it owned was freed.
#[inline(always)]
pub(super) fn hollow<T: HeapData, M: HeapMemory>(memory: M, word: usize) {
    if arch::PANICS_END_LANES && T::OF_HEAP {
        let mut i = 0;
        while i < T::WORDS as usize {
            memory.write(word + i, 0);
            i += 1;
        }
    }
}
