//! Text that lanes make, without `core::fmt`: numbers and literals, written into words four bytes at a time.
//!
//! Rust's own formatting works with bytes and functions by pointer, which SPIR-V has not. So
//! [`heap_write!`](crate::heap_write) and [`heap_print!`](crate::heap_print) take their format string apart while the crate is
//! compiled, and make one value of it, a [`Text`]. It knows how many bytes it has, so the room for them is got at once, and
//! then it writes them there.
//!
//! | module | what |
//! |---|---|
//! | `cursor` | where the next byte goes in words |
//! | `literal` | what stands between the placeholders |
//! | `spec`, `padded` | what stands in a placeholder: width, fill, sign; and what comes of it |
//! | `digits`, `bits` | numbers of one word; in hexadecimal, octal and binary |
//! | `decimal` | numbers of more than one word, in decimal |
//! | `float`, `shortest` | `f32`: laid out; the fewest digits that name it |
//! | `values` | the types that can be arguments |

mod bits;
mod cursor;
mod decimal;
mod digits;
mod float;
mod literal;
mod padded;
mod shortest;
mod spec;
mod values;

pub use bits::{Base, Bits};
pub use cursor::Cursor;
pub(crate) use cursor::{keep, words_of};
pub use decimal::Decimal;
pub use digits::Digits;
pub use float::{Fixed, Float};
pub use literal::{Empty, Literal};
pub use padded::Padded;
pub use spec::{Align, Spec};
pub use values::{I64Words, Show, ShowBits, ShowFixed, U64Words, Word};
crate::arch::where_all_of_rust! {
    pub use values::Str;
}

use warpheap_api::{HeapMemory, select};

/// A text that is ready to be written: a literal, a number, or several of them one behind the other.
///
/// One is made by [`heap_write!`](crate::heap_write) and [`heap_print!`](crate::heap_print), and by
/// [`HeapString::text`](crate::container::HeapString::text). Nobody else implements it: whoever takes one relies on it
/// to write as many bytes as it says.
pub trait Text: Copy + Sealed {
    /// Number of bytes; [`TOO_LONG`] stands for that and more.
    fn bytes(self) -> u32;

    /// Writes the bytes behind those that the cursor has written.
    #[doc(hidden)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor);
}

pub(crate) use sealed::Sealed;

mod sealed {
    /// What the types of this library have.
    pub trait Sealed {}
}

/// More bytes than any string holds.
pub const TOO_LONG: u32 = u32::MAX;

/// A sum of lengths, which stays at [`TOO_LONG`] once it is there.
#[inline(always)]
pub(crate) const fn sum(a: u32, b: u32) -> u32 {
    let sum = a.wrapping_add(b);
    select(sum < a, TOO_LONG, sum)
}

/// A text and another one behind it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Then<A, B>(pub A, pub B);

impl<A, B> Sealed for Then<A, B> {}

impl<A: Text, B: Text> Text for Then<A, B> {
    #[inline(always)]
    fn bytes(self) -> u32 {
        sum(self.0.bytes(), self.1.bytes())
    }
    #[inline(always)]
    fn write<M: HeapMemory>(self, memory: M, cursor: &mut Cursor) {
        self.0.write(memory, cursor);
        self.1.write(memory, cursor);
    }
}
