//! The types that can be arguments.

use super::bits::Base;
use super::float::{fixed, float};
use super::padded::Head;
use super::{Bits, Cursor, Decimal, Digits, Fixed, Float, Padded, Sealed, Spec, Text};
use crate::arch::where_all_of_rust;
use warpheap_api::{HeapMemory, select};

/// What `{}` shows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shown by `{{}}` in a text that lanes make",
    note = "numbers of 32 bits, `bool`, `char`, `U64Words`, `I64Words` and `string.text(heap)` can, and except on Vulkan \
            numbers of 8, 16 and 64 bits and `&str`"
)]
pub trait Show {
    /// What is written.
    type Shown: Text;
    /// The value as the placeholder asks for it.
    #[doc(hidden)]
    fn show(&self, spec: Spec) -> Self::Shown;
}

/// What `{:x}`, `{:X}`, `{:o}` and `{:b}` show.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no bits that `{{:x}}`, `{{:o}}` or `{{:b}}` could show",
    note = "integers have; of an `f32` show `x.to_bits()`"
)]
pub trait ShowBits {
    /// The value as two words, and as the placeholder asks for it.
    #[doc(hidden)]
    fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits>;
}

/// What `{:.3}` shows.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no digits behind the point, as `{{:.3}}` shows them",
    note = "`f32` has"
)]
pub trait ShowFixed {
    /// The value as the placeholder asks for it.
    #[doc(hidden)]
    fn show_fixed(&self, spec: Spec) -> Padded<Fixed>;
}

macro_rules! references {
    ($($reference:ty),*) => {$(
        impl<T: Show> Show for $reference {
            type Shown = T::Shown;
            #[inline(always)]
            fn show(&self, spec: Spec) -> T::Shown {
                (**self).show(spec)
            }
        }
        impl<T: ShowBits> ShowBits for $reference {
            #[inline(always)]
            fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits> {
                (**self).show_bits(base, spec)
            }
        }
        impl<T: ShowFixed> ShowFixed for $reference {
            #[inline(always)]
            fn show_fixed(&self, spec: Spec) -> Padded<Fixed> {
                (**self).show_fixed(spec)
            }
        }
    )*};
}

references!(&T, &mut T);

#[inline(always)]
fn bits(low: u32, high: u32, base: Base, spec: Spec) -> Padded<Bits> {
    let head = Head::sign(false, spec).with_prefix(base.letter, spec);
    Padded::number(Bits::new(low, high, base), head, spec)
}

macro_rules! one_word {
    ($($type:ty: $negative:expr, $size:expr, $word:expr;)*) => {$(
        impl Show for $type {
            type Shown = Padded<Digits>;
            #[inline(always)]
            fn show(&self, spec: Spec) -> Padded<Digits> {
                Padded::number(Digits::new($size(*self)), Head::sign($negative(*self), spec), spec)
            }
        }
        impl ShowBits for $type {
            #[inline(always)]
            fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits> {
                bits($word(*self), 0, base, spec)
            }
        }
    )*};
}

one_word! {
    u32: |_| false, |v: u32| v, |v: u32| v;
    i32: |v: i32| v < 0, |v: i32| select(v < 0, (v as u32).wrapping_neg(), v as u32), |v: i32| v as u32;
}

/// A number of 64 bits without a sign, as two words: for where there are none of 64 bits, on Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct U64Words {
    /// The lower word.
    pub low: u32,
    /// The higher one.
    pub high: u32,
}

/// A number of 64 bits with a sign, in two's complement, as two words: for where there are none of 64 bits, on Vulkan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct I64Words {
    /// The lower word.
    pub low: u32,
    /// The higher one.
    pub high: u32,
}

impl Show for U64Words {
    type Shown = Padded<Decimal>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Decimal> {
        let number = Decimal::of_words(self.low, self.high);
        Padded::number(number, Head::sign(false, spec), spec)
    }
}

impl Show for I64Words {
    type Shown = Padded<Decimal>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Decimal> {
        let negative = (self.high as i32) < 0;
        let high = (!self.high).wrapping_add((self.low == 0) as u32);
        let number = Decimal::of_words(
            select(negative, self.low.wrapping_neg(), self.low),
            select(negative, high, self.high),
        );
        Padded::number(number, Head::sign(negative, spec), spec)
    }
}

impl ShowBits for U64Words {
    #[inline(always)]
    fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits> {
        bits(self.low, self.high, base, spec)
    }
}

impl ShowBits for I64Words {
    #[inline(always)]
    fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits> {
        bits(self.low, self.high, base, spec)
    }
}

impl Show for f32 {
    type Shown = Padded<Float>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Float> {
        float(*self, spec)
    }
}

impl ShowFixed for f32 {
    #[inline(always)]
    fn show_fixed(&self, spec: Spec) -> Padded<Fixed> {
        fixed(*self, spec)
    }
}

/// Up to eight bytes.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Word {
    low: u32,
    high: u32,
    /// At least one.
    bytes: u32,
}

impl Sealed for Word {}

impl Text for Word {
    #[inline(always)]
    fn bytes(self) -> u32 {
        self.bytes
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        let most = select(self.bytes < 4, self.bytes, 4);
        cursor.put(memory, self.low, most);
        if self.bytes > 4 {
            cursor.put(memory, self.high, self.bytes - 4);
        }
    }
}

impl Show for bool {
    type Shown = Padded<Word>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Word> {
        let word = Word {
            // `true` and `fals`, the first letter lowest.
            low: select(*self, 0x6575_7274, 0x736c_6166),
            high: 'e' as u32,
            bytes: 5 - *self as u32,
        };
        Padded::text(word, word.bytes, spec)
    }
}

impl Show for char {
    type Shown = Padded<Word>;
    #[inline(always)]
    fn show(&self, spec: Spec) -> Padded<Word> {
        let (low, bytes) = utf8(*self as u32);
        let word = Word {
            low,
            high: 0,
            bytes,
        };
        Padded::text(word, 1, spec)
    }
}

/// The bytes of a character, the first one lowest, and their number.
#[inline(always)]
pub(super) const fn utf8(code: u32) -> (u32, u32) {
    let bytes = 1 + (code >= 0x80) as u32 + (code >= 0x800) as u32 + (code >= 0x1_0000) as u32;
    // Six bits a byte behind the first, which says how many there are.
    let last = 0x80 | code & 0x3f;
    let second = 0x80 | code >> 6 & 0x3f;
    let third = 0x80 | code >> 12 & 0x3f;
    let two = (0xc0 | code >> 6) | last << 8;
    let three = (0xe0 | code >> 12) | second << 8 | last << 16;
    let four = (0xf0 | code >> 18) | third << 8 | second << 16 | last << 24;
    let word = select(
        bytes == 1,
        code,
        select(bytes == 2, two, select(bytes == 3, three, four)),
    );
    (word, bytes)
}

macro_rules! two_words {
    ($($type:ty: $words:ident;)*) => {$(
        impl Show for $type {
            type Shown = Padded<Decimal>;
            #[inline(always)]
            fn show(&self, spec: Spec) -> Padded<Decimal> {
                // In two steps, since there are 32 bits on Vulkan.
                $words { low: *self as u32, high: (*self >> 16 >> 16) as u32 }.show(spec)
            }
        }
        impl ShowBits for $type {
            #[inline(always)]
            fn show_bits(&self, base: Base, spec: Spec) -> Padded<Bits> {
                $words { low: *self as u32, high: (*self >> 16 >> 16) as u32 }.show_bits(base, spec)
            }
        }
    )*};
}

two_words! {
    usize: U64Words;
}

where_all_of_rust! {
    one_word! {
        u8: |_| false, |v: u8| v as u32, |v: u8| v as u32;
        u16: |_| false, |v: u16| v as u32, |v: u16| v as u32;
        i8: |v: i8| v < 0, |v: i8| v.unsigned_abs() as u32, |v: i8| v as u8 as u32;
        i16: |v: i16| v < 0, |v: i16| v.unsigned_abs() as u32, |v: i16| v as u16 as u32;
    }

    two_words! {
        u64: U64Words;
        i64: I64Words;
    }

    /// The bytes of a `str`.
    #[doc(hidden)]
    #[derive(Clone, Copy, Debug)]
    pub struct Str<'a> {
        text: &'a str,
    }

    impl Sealed for Str<'_> {}

    impl Text for Str<'_> {
        #[inline(always)]
        fn bytes(self) -> u32 {
            // None is that long.
            if self.text.len() < super::TOO_LONG as usize { self.text.len() as u32 } else { super::TOO_LONG }
        }
        #[inline(always)]
        fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
            for byte in self.text.bytes() {
                cursor.put(memory, byte as u32, 1);
            }
        }
    }

    impl<'a> Show for &'a str {
        type Shown = Padded<Str<'a>>;
        #[inline(always)]
        fn show(&self, spec: Spec) -> Padded<Str<'a>> {
            let chars = if spec.width == 0 { 0 } else { self.chars().count() as u32 };
            Padded::text(Str { text: self }, chars, spec)
        }
    }
}
