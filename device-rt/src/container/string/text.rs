//! Texts that are appended to strings, and strings as parts of texts.

use super::HeapString;
use crate::Heap;
use crate::text::{Cursor, Padded, Sealed, Show, Spec, TOO_LONG, Text, keep, words_of};
use core::marker::PhantomData;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapMemory, least};

impl HeapString {
    /// Appends a text, as [`heap_write!`](crate::heap_write) makes it: its room is got at once, by one malloc at most.
    ///
    /// # Errors
    /// As [`push_byte`](Self::push_byte); then the string is as it was.
    #[inline]
    pub fn push_text<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        text: impl Text,
    ) -> Result<(), AllocError> {
        let bytes = text.bytes();
        if bytes == TOO_LONG {
            return Err(AllocError::Unsupported);
        }
        self.reserve(heap, bytes)?;
        let mut pending = 0;
        if self.len % 4 != 0 {
            pending = self.word(heap, self.len / 4) & keep(self.len % 4);
        }
        let memory = heap.memory();
        let mut cursor = Cursor::new(memory.word_of(self.packed.as_ptr()), self.len, pending);
        text.write(memory, &mut cursor);
        cursor.finish(memory);
        self.len += bytes;
        // SAFETY: there is room for so many bytes, all of which are written.
        unsafe { self.packed.set_len(words_of(self.len)) };
        Ok(())
    }

    /// The string as an argument of [`heap_write!`](crate::heap_write) and [`heap_print!`](crate::heap_print), and as a
    /// text of its own.
    #[inline(always)]
    pub fn text<A: DeviceAlloc>(&self, heap: Heap<A>) -> HeapText<'_, A> {
        HeapText {
            heap,
            first: self.packed.as_ptr(),
            len: self.len,
            string: PhantomData,
        }
    }
}

/// The bytes of a [`HeapString`], as a part of a text. They are copied as they are; a width counts characters of UTF-8.
#[derive(Clone, Copy)]
pub struct HeapText<'s, A> {
    heap: Heap<A>,
    first: DevicePtr<u32>,
    len: u32,
    string: PhantomData<&'s HeapString>,
}

impl<A: DeviceAlloc> HeapText<'_, A> {
    /// The word of the bytes from `done` on, of which there are some.
    #[inline(always)]
    fn word(self, done: u32) -> u32 {
        // SAFETY: the string is borrowed, so its block is there, and nobody changes it.
        unsafe { self.heap.load_at(self.first, done / 4) }
    }

    /// Number of characters: of bytes that do not go on with one.
    #[inline]
    fn chars(self) -> u32 {
        let (mut more, mut done) = (0, 0);
        while done < self.len {
            let word = self.word(done) & keep(self.len - done);
            // Bytes of the form 10xxxxxx.
            more += (word & !(word << 1) & 0x8080_8080).count_ones();
            done += 4;
        }
        self.len - more
    }
}

impl<A> Sealed for HeapText<'_, A> {}

impl<A: DeviceAlloc> Text for HeapText<'_, A> {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.len
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let mut done = 0;
        while done < self.len {
            let bytes = least(4, self.len - done);
            cursor.put(memory, self.word(done), bytes);
            done += bytes;
        }
    }
}

impl<A: DeviceAlloc> Show for HeapText<'_, A> {
    type Shown = Padded<Self>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Self> {
        let mut chars = 0;
        if spec.width != 0 {
            chars = self.chars();
        }
        Padded::text(*self, chars, spec)
    }
}
