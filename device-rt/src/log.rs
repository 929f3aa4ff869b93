//! Lines that lanes leave for the host: [`heap_print!`](crate::heap_print).
//!
//! The memory is the host's, and bounded. Its first words count:
//!
//! | word | what |
//! |---|---|
//! | 0 | words that lines asked for; more than there are once one found no room |
//! | 1 | lines that were lost, for lack of room or for their length |
//! | 2, 3 | bytes of their texts, the lower word first |
//!
//! Behind them the lines lie side by side: the number of bytes and one, block, lane in the block, and the text in whole words.
//! Words that were never written are zero, which is no line: zeros are an empty log.

use crate::arch::Words;
use crate::text::{Cursor, Text, words_of};
use crate::thread;
use core::marker::PhantomData;
use warpheap_api::HeapMemory;
use warpheap_api::abi::ArgBlock;

/// Words before the lines.
pub(crate) const FIRST_LINE: u32 = 4;
/// Words before a line's text.
pub(crate) const LINE_HEADER: u32 = 3;
/// Most words of a log. Each lane of a device may add one line to a counter of so many at the same time, and a device would have
/// to run two million lanes at once for the counter to run over.
pub(crate) const MOST_WORDS: u32 = 1 << 30;
/// Most bytes of a line's text.
pub const MOST_BYTES: u32 = 4096;

const ASKED: usize = 0;
const LOST_LINES: usize = 1;
const LOST_BYTES: usize = 2;

/// Where lanes print to: a parameter of a kernel, for which the host gives a `&DeviceLog`.
///
/// ```text
/// #[kernel]
/// fn look(log: Log, values: &[f32]) {
///     let i = thread::index();
///     heap_print!(log, "value {i} is {:.3}", values[i as usize]);
/// }
/// ```
///
/// A line is there as a whole or not at all. What found no room, and lines of more than [`MOST_BYTES`], are counted as lost.
#[derive(Clone, Copy)]
pub struct Log<'a> {
    words: Words,
    launch: PhantomData<(&'a ArgBlock, *mut ())>,
}

impl<'a> Log<'a> {
    /// For the expansion of `#[kernel]`.
    ///
    /// # Safety
    /// The words are valid while the arguments are, at least four, laid out as this module says, and reached through such values
    /// alone in launches.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn attach(_args: &'a ArgBlock, words: Words) -> Self {
        Log {
            words,
            launch: PhantomData,
        }
    }

    /// Leaves a line; whether there was room. [`heap_print!`](crate::heap_print) makes the text.
    ///
    /// It costs one atomic addition on a word that all lanes share, and one write for each byte. Lines of one lane stay in
    /// their order.
    #[inline]
    pub fn print(self, text: impl Text) -> bool {
        let bytes = text.bytes();
        let words = LINE_HEADER + words_of(bytes);
        let capacity = self.words.len() as u32 - FIRST_LINE;
        // Once it is full, nobody adds any more, so that the counter stays near its bound.
        let mut first = self.words.load(ASKED);
        let mut kept = (bytes <= MOST_BYTES) & (first < capacity);
        if kept {
            first = self.words.fetch_add(ASKED, words);
            // Whoever comes after one that finds no room finds none either, so the lines have no gaps.
            kept = (first < capacity) & (words <= capacity.wrapping_sub(first));
        }
        if kept {
            let at = (FIRST_LINE + first) as usize;
            self.words.write(at, bytes + 1);
            self.words.write(at + 1, thread::block_index());
            self.words.write(at + 2, thread::index_in_block());
            let mut cursor = Cursor::new(at + LINE_HEADER as usize, 0, 0);
            text.write(self.words, &mut cursor);
            cursor.finish(self.words);
        } else {
            self.words.fetch_add(LOST_LINES, 1);
            let before = self.words.fetch_add(LOST_BYTES, bytes);
            if before.wrapping_add(bytes) < before {
                self.words.fetch_add(LOST_BYTES + 1, 1);
            }
        }
        kept
    }
}
