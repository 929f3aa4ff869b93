//! A value in its width.

use super::spec::{Align, Spec};
use super::{Cursor, Sealed, Text, sum};
use warpheap_api::{HeapMemory, select};

/// A value with what its placeholder adds: padding before and behind, sign, prefix, zeros.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Padded<B> {
    fill: u32,
    fill_bytes: u32,
    /// Characters of the padding before and behind.
    left: u32,
    right: u32,
    /// Sign and prefix: up to three bytes, the first one lowest.
    head: Head,
    /// Zeros between head and body.
    zeros: u32,
    body: B,
}

/// What stands before a number's digits: up to three bytes.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    word: u32,
    bytes: u32,
}

impl Head {
    /// Nothing.
    pub const NONE: Head = Head { word: 0, bytes: 0 };

    /// The sign of a number.
    #[inline(always)]
    pub fn sign(negative: bool, spec: Spec) -> Self {
        Head {
            word: select(negative, '-' as u32, '+' as u32),
            bytes: (negative | spec.plus) as u32,
        }
    }

    /// The same with the prefix of a base behind it, if there is to be one: `0` and this letter.
    #[inline(always)]
    pub fn with_prefix(self, letter: u32, spec: Spec) -> Self {
        let prefix = '0' as u32 | letter << 8;
        let word = select(self.bytes == 0, prefix, self.word | prefix << 8);
        Head {
            word: select(spec.prefix, word, self.word),
            bytes: self.bytes + 2 * spec.prefix as u32,
        }
    }
}

impl<B: Text> Padded<B> {
    /// A number whose digits are `body`: it stands at the end of its width.
    #[inline(always)]
    pub(super) fn number(body: B, head: Head, spec: Spec) -> Self {
        let missing = missing(spec.width, sum(head.bytes, body.bytes()));
        let zeros = select(spec.zero, missing, 0);
        Self::new(body, head, zeros, missing - zeros, Align::Right, spec)
    }

    /// A text of so many characters: it stands at the beginning of its width.
    #[inline(always)]
    pub(crate) fn text(body: B, chars: u32, spec: Spec) -> Self {
        let missing = missing(spec.width, chars);
        Self::new(body, Head::NONE, 0, missing, Align::Left, spec)
    }

    #[inline(always)]
    fn new(body: B, head: Head, zeros: u32, missing: u32, usual: Align, spec: Spec) -> Self {
        let align = select(spec.align == Align::Usual, usual as u32, spec.align as u32);
        let centered = select(align == Align::Center as u32, missing / 2, 0);
        let left = select(align == Align::Right as u32, missing, centered);
        Padded {
            fill: spec.fill,
            fill_bytes: spec.fill_bytes,
            left,
            right: missing - left,
            head,
            zeros,
            body,
        }
    }
}

/// Characters that a width asks for beyond those that there are.
#[inline(always)]
const fn missing(width: u32, chars: u32) -> u32 {
    select(width > chars, width.wrapping_sub(chars), 0)
}

impl<B> Sealed for Padded<B> {}

impl<B: Text> Text for Padded<B> {
    #[inline(always)]
    fn bytes(self) -> u32 {
        // A width is a number of 16 bits.
        let padding = (self.left + self.right) * self.fill_bytes + self.zeros + self.head.bytes;
        sum(padding, self.body.bytes())
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        cursor.repeat(memory, self.fill, self.fill_bytes, self.left);
        if self.head.bytes != 0 {
            cursor.put(memory, self.head.word, self.head.bytes);
        }
        cursor.repeat(memory, '0' as u32, 1, self.zeros);
        self.body.write(memory, cursor);
        cursor.repeat(memory, self.fill, self.fill_bytes, self.right);
    }
}
