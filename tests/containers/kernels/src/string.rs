//! Strings that lanes edit and compare.

use warpheap_rt::device::*;

/// Append the low byte of the value.
pub const BYTE: u32 = 0;
/// Append so many bytes of the text.
pub const TEXT: u32 = 1;
/// Append the string to itself.
pub const TWICE: u32 = 2;
/// Append the value in decimal.
pub const DECIMAL: u32 = 3;
/// Keep so many bytes.
pub const TRUNCATE: u32 = 4;
/// Give the memory back.
pub const FREE: u32 = 5;

/// One action on a lane's string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct StringOp {
    /// What to do: [`BYTE`] and so on.
    pub kind: u32,
    /// A byte, a number, a length.
    pub value: u32,
}

/// Lane `i` carries out `ops[i]` on string `i`; `codes[i]` is 0 or the error.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn edit_strings<A: DeviceAlloc>(
    heap: Heap<A>,
    strings: &mut [HeapString],
    ops: &[StringOp],
    text: &[u32],
    codes: &mut [u32],
) {
    let i = thread::index() as usize;
    if i < strings.len() {
        // SAFETY: the lane has it alone, and puts it back below.
        let mut string = unsafe { core::ptr::read(&strings[i]) };
        let op = ops[i];
        let mut result = Ok(());
        if op.kind == BYTE {
            result = string.push_byte(heap, op.value);
        } else if op.kind == TEXT {
            result = string.push_bytes(heap, text, op.value);
        } else if op.kind == TWICE {
            result = twice(heap, &mut string);
        } else if op.kind == DECIMAL {
            result = string.push_decimal(heap, op.value);
        } else if op.kind == TRUNCATE {
            string.truncate(op.value);
        } else if op.kind == FREE {
            string.free(heap);
        }
        codes[i] = match result {
            Ok(()) => 0,
            Err(error) => error.code(),
        };
        strings[i] = string;
    }
}

/// Appends a string to itself, by way of another one.
#[inline(always)]
fn twice<A: DeviceAlloc>(heap: Heap<A>, string: &mut HeapString) -> Result<(), AllocError> {
    let mut other = HeapString::new();
    let mut result = other.push_str(heap, string);
    if result.is_ok() {
        result = string.push_str(heap, &other);
    }
    other.free(heap);
    result
}

/// What reading a string tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct StringFacts {
    /// Bytes.
    pub len: u32,
    /// Their hash.
    pub hash: u32,
    /// How it compares with the next lane's.
    pub cmp: i32,
    /// Whether it equals that one.
    pub eq: u32,
}

/// Lane `i` compares string `i` with string `others[i]`, and reads its bytes, of which there is room for `room`.
#[kernel(allocators = [RandomWalkMalloc, Failing<RandomWalkMalloc>], unsafe(slices))]
pub fn read_strings<A: DeviceAlloc>(
    heap: Heap<A>,
    strings: &[HeapString],
    others: &[u32],
    facts: &mut [StringFacts],
    bytes: &mut [u32],
    room: u32,
) {
    let i = thread::index() as usize;
    if i < strings.len() {
        let string = &strings[i];
        let other = &strings[others[i] as usize];
        facts[i] = StringFacts {
            len: string.len(),
            hash: string.hash(heap),
            cmp: string.cmp(heap, other),
            eq: string.eq(heap, other) as u32,
        };
        let mut k = 0;
        while k < room {
            bytes[i * room as usize + k as usize] = string.byte(heap, k).unwrap_or(u32::MAX);
            k += 1;
        }
    }
}
