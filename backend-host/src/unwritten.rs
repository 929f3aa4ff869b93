//! Which words of heaps nobody has written since their blocks were handed out.
//!
//! A word is marked from the malloc of its block to the first write, or to the free. Words outside live blocks are the
//! allocator's and have no marks, so that it may keep there what it likes.

use crate::emulator::enter;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Words that one chunk of marks is for, which is made when one of them is marked.
const CHUNK: usize = 1 << 17;

/// The marks of one heap, one bit for each word.
///
/// Relaxed: who may read a word knows of the write in some other way, and the mark was cleared before that.
#[derive(Debug)]
pub(crate) struct Unwritten {
    /// Address of the heap.
    start: usize,
    words: usize,
    chunks: Box<[OnceLock<Box<[AtomicU32]>>]>,
}

impl Unwritten {
    /// No marks yet, for a heap that may grow to so many bytes.
    fn new(start: usize, bytes: u64) -> Self {
        let words = (bytes / 4) as usize;
        Unwritten {
            start,
            words,
            chunks: (0..words.div_ceil(CHUNK))
                .map(|_| OnceLock::new())
                .collect(),
        }
    }

    /// Whether the word at an address is one of the heap.
    #[inline]
    pub(crate) fn covers(&self, address: usize) -> bool {
        address.wrapping_sub(self.start) / 4 < self.words
    }

    /// Whether the word at an address of the heap is marked.
    #[inline]
    pub(crate) fn has(&self, address: usize) -> bool {
        let word = (address - self.start) / 4;
        let chunk = self.chunks[word / CHUNK].get();
        chunk.is_some_and(|marks| {
            marks[word % CHUNK / 32].load(Ordering::Relaxed) >> (word % 32) & 1 != 0
        })
    }

    /// Marks the words that these addresses are in.
    pub(crate) fn mark(&self, addresses: Range<usize>) {
        for (chunk, at, mask) in parts(self.words_of(addresses)) {
            let marks = self.chunks[chunk]
                .get_or_init(|| (0..CHUNK / 32).map(|_| AtomicU32::new(0)).collect());
            marks[at].fetch_or(mask, Ordering::Relaxed);
        }
    }

    /// Takes the marks of the words that these addresses are in away.
    pub(crate) fn clear(&self, addresses: Range<usize>) {
        for (chunk, at, mask) in parts(self.words_of(addresses)) {
            // Most words are written more than once, and a look costs less than a change.
            if let Some(marks) = self.chunks[chunk].get()
                && marks[at].load(Ordering::Relaxed) & mask != 0
            {
                marks[at].fetch_and(!mask, Ordering::Relaxed);
            }
        }
    }

    /// The same; whether each word was marked.
    pub(crate) fn take(&self, addresses: Range<usize>) -> Vec<bool> {
        let words = self.words_of(addresses.clone());
        let taken = words.map(|word| self.has(self.start + word * 4)).collect();
        self.clear(addresses);
        taken
    }

    /// Takes all marks away.
    pub(crate) fn clear_all(&self) {
        for mark in self.chunks.iter().filter_map(OnceLock::get).flatten() {
            mark.store(0, Ordering::Relaxed);
        }
    }

    /// Address of the heap.
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Words of the heap that these addresses are in.
    fn words_of(&self, addresses: Range<usize>) -> Range<usize> {
        let offset = |address: usize| address.saturating_sub(self.start);
        let end = offset(addresses.end).div_ceil(4).min(self.words);
        (offset(addresses.start) / 4).min(end)..end
    }
}

/// These words as parts of words of marks: the chunk, the word of it, and the bits there.
fn parts(words: Range<usize>) -> impl Iterator<Item = (usize, usize, u32)> {
    let (first, end) = (words.start, words.end);
    let marks = match words.is_empty() {
        true => 0..0,
        false => first / 32..end.div_ceil(32),
    };
    marks.map(move |at| {
        let below = first.saturating_sub(at * 32);
        let above = (at * 32 + 32).saturating_sub(end);
        let mask = u32::MAX << below & u32::MAX >> above;
        (at / (CHUNK / 32), at % (CHUNK / 32), mask)
    })
}

/// The marks of all heaps of a device, by their addresses.
#[derive(Debug, Default)]
pub(crate) struct Marks(Mutex<BTreeMap<usize, Arc<Unwritten>>>);

impl Marks {
    /// Those of the heap at this address, which may grow to so many bytes.
    pub(crate) fn of(&self, heap: usize, most: u64) -> Arc<Unwritten> {
        let mut heaps = enter(&self.0);
        let new = || Arc::new(Unwritten::new(heap, most));
        heaps.entry(heap).or_insert_with(new).clone()
    }

    /// The host has written to these addresses of one buffer.
    pub(crate) fn wrote(&self, addresses: Range<usize>) {
        let heaps = enter(&self.0);
        if let Some((_, marks)) = heaps.range(..=addresses.start).next_back() {
            marks.clear(addresses);
        }
    }

    /// The heap at this address has no blocks any more.
    pub(crate) fn clear(&self, heap: usize) {
        let heaps = enter(&self.0);
        if let Some(marks) = heaps.get(&heap) {
            marks.clear_all();
        }
    }

    /// The memory of the heap at this address is given back.
    pub(crate) fn forget(&self, heap: usize) {
        enter(&self.0).remove(&heap);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_of_one_word_and_its_neighbours_have_their_own() {
        let bytes = CHUNK as u64 * 4 + 400;
        let marks = Unwritten::new(4096, bytes);
        let end = 4096 + bytes as usize;
        let word = |index: usize| 4096 + index * 4;
        assert!(marks.covers(4096) && marks.covers(end - 4) && !marks.covers(end));
        assert!(!marks.covers(4092));
        for range in [0..1, 31..33, 5..5, 40..200, CHUNK - 3..CHUNK + 70] {
            marks.mark(word(range.start)..word(range.end));
            for index in range.start.saturating_sub(40)..range.end + 20 {
                assert_eq!(marks.has(word(index)), range.contains(&index), "{index}");
            }
            let taken = marks.take(word(range.start)..word(range.end));
            assert_eq!(taken, vec![true; range.len()]);
            marks.mark(word(range.start)..word(range.end));
            let middle = usize::midpoint(range.start, range.end);
            marks.clear(word(middle)..word(middle) + 1);
            for index in range.clone() {
                assert_eq!(marks.has(word(index)), index != middle, "{index}");
            }
            marks.clear(word(range.start)..word(range.end));
            assert!(!range.clone().any(|index| marks.has(word(index))));
        }
        // What lies outside is another check's.
        marks.mark(end - 4..end + 400);
        assert!(marks.has(end - 4));
    }

    #[test]
    fn bytes_that_are_no_words_count_as_whole_ones() {
        let marks = Unwritten::new(0, 400);
        marks.mark(16..21);
        assert_eq!(
            [12, 16, 20, 24].map(|at| marks.has(at)),
            [false, true, true, false]
        );
    }

    #[test]
    fn heaps_are_told_apart_by_their_addresses() {
        let all = Marks::default();
        let (first, second) = (all.of(4096, 4096), all.of(8192, 4096));
        for (marks, at) in [(&first, 4096), (&second, 8192)] {
            marks.mark(at..at + 64);
        }
        all.wrote(8200..8208);
        assert!(first.has(4104) && second.has(8196) && second.has(8208));
        assert!(!second.has(8200) && !second.has(8204));
        all.clear(4096);
        assert!(!first.has(4100) && second.has(8196));
        assert!(Arc::ptr_eq(&all.of(8192, 4096), &second));
        all.forget(8192);
        assert!(!all.of(8192, 4096).has(8196));
    }
}
