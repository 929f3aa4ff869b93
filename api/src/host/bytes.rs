//! Elements as bytes.

use super::DeviceError;
use crate::{Element, HeapData};
use core::alloc::Layout;
use core::mem::{size_of, size_of_val};
use std::alloc::{alloc_zeroed, handle_alloc_error};
use std::borrow::Cow;
use std::vec::Vec;

/// Bytes of so many elements.
pub(super) fn byte_len<T: Element>(len: u32) -> u64 {
    len as u64 * size_of::<T>() as u64
}

/// The same to the end of the last word: what devices are given is whole words.
pub(super) fn padded(bytes: u64) -> u64 {
    bytes.next_multiple_of(4)
}

/// These bytes, and zeros to the end of the last word.
pub(super) fn whole_words(bytes: &[u8]) -> Cow<'_, [u8]> {
    let whole = padded(bytes.len() as u64) as usize;
    if whole == bytes.len() {
        return Cow::Borrowed(bytes);
    }
    let mut words = Vec::with_capacity(whole);
    words.extend_from_slice(bytes);
    words.resize(whole, 0);
    Cow::Owned(words)
}

/// `len` elements whose bytes a function writes: all of them, to the end of the last word.
pub(super) fn filled_by<T: Element>(
    len: usize,
    write: impl FnOnce(&mut [u8]) -> Result<(), DeviceError>,
) -> Result<Vec<T>, DeviceError> {
    // No more elements than fit into a word.
    let room = padded((len * size_of::<T>()) as u64) as usize;
    let mut data: Vec<T> = match size_of::<T>() {
        0 => Vec::with_capacity(len),
        size => zeroed(room.div_ceil(size)),
    };
    let start = data.as_mut_ptr().cast::<u8>();
    // SAFETY: the vector has room for so many bytes, and they are zero.
    let bytes = unsafe { core::slice::from_raw_parts_mut(start, room) };
    write(bytes)?;
    // SAFETY: there is room for them, the bytes are initialised, and any bytes are elements.
    unsafe { data.set_len(len) };
    Ok(data)
}

/// An empty vector with room for so many elements, all of which is zero. The system has zero pages at hand: whoever writes to them first
/// gets them, which may be several threads.
fn zeroed<T>(capacity: usize) -> Vec<T> {
    let layout = Layout::array::<T>(capacity).ok();
    let Some(layout) = layout.filter(|layout| layout.size() > 0) else {
        // Nothing, or more than there can be, which the vector says.
        return Vec::with_capacity(capacity);
    };
    // SAFETY: the size is not zero.
    let start = unsafe { alloc_zeroed(layout) };
    if start.is_null() {
        handle_alloc_error(layout);
    }
    // SAFETY: it was allocated with the layout of so many elements, as a vector would.
    unsafe { Vec::from_raw_parts(start.cast(), 0, capacity) }
}

/// The bytes of plain data.
pub(crate) fn bytes_of<T: Element>(data: &[T]) -> &[u8] {
    // SAFETY: elements have no padding, so every byte is initialised.
    unsafe { core::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

/// The bytes of plain data, to be overwritten.
pub(crate) fn bytes_of_mut<T: Element>(data: &mut [T]) -> &mut [u8] {
    // SAFETY: as in bytes_of; any bytes are valid values.
    unsafe { core::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) }
}

/// The words of plain data.
pub(crate) fn words_of<T: HeapData>(data: &[T]) -> Vec<u32> {
    bytes_of(data)
        .chunks_exact(4)
        .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}

/// The word that memory full of this element consists of, if it is the same everywhere.
pub(super) fn word_of<T: Element>(element: &T) -> Option<u32> {
    let word = match *bytes_of(core::slice::from_ref(element)) {
        [a] => [a; 4],
        [a, b] => [a, b, a, b],
        [a, b, c, d] => [a, b, c, d],
        _ => return None,
    };
    Some(u32::from_ne_bytes(word))
}

/// What memory of `len` elements that stand for nothing consists of.
pub(super) enum Zeros {
    /// The same word everywhere.
    Of(u32),
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Zeros {
    pub(super) fn of<T: Element>(len: usize) -> Zeros {
        let each = size_of::<T>() / 4;
        let first = T::zero_word(0);
        let words = (0..each).map(|i| T::zero_word(i as u32));
        if words.clone().all(|word| word == first) {
            return Zeros::Of(first);
        }
        let bytes: Vec<u8> = words.flat_map(u32::to_ne_bytes).collect();
        Zeros::Bytes(bytes.repeat(len))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    #[test]
    fn elements_end_with_their_last_word() {
        assert_eq!(byte_len::<u16>(3), 6);
        assert_eq!([0, 1, 4, 6].map(padded), [0, 4, 4, 8]);
        assert_eq!(*whole_words(&[1, 2, 3, 4, 5]), [1, 2, 3, 4, 5, 0, 0, 0]);
        assert!(matches!(whole_words(&[1, 2, 3, 4]), Cow::Borrowed(_)));
        let read = |len| {
            filled_by::<u16>(len, |bytes| {
                assert_eq!(bytes.len() % 4, 0);
                bytes.fill(7);
                Ok(())
            })
        };
        assert_eq!(read(0).unwrap(), []);
        assert_eq!(read(3).unwrap(), [0x707; 3]);
        assert_eq!(filled_by::<[u32; 0]>(5, |_| Ok(())).unwrap(), vec![[]; 5]);
    }

    #[test]
    fn handles_of_nothing_are_null() {
        use crate::DevicePtr;
        let word = |zeros| match zeros {
            Zeros::Of(word) => Some(word),
            Zeros::Bytes(_) => None,
        };
        assert_eq!(word(Zeros::of::<[u32; 3]>(4)), Some(0));
        assert_eq!(word(Zeros::of::<u8>(4)), Some(0));
        assert_eq!(word(Zeros::of::<[DevicePtr<u8>; 2]>(4)), Some(u32::MAX));
        let Zeros::Bytes(bytes) = Zeros::of::<DevicePtr<[u32]>>(2) else {
            panic!("a length of no words");
        };
        assert_eq!(bytes, [[255; 4], [0; 4], [255; 4], [0; 4]].concat());
    }

    #[test]
    fn memory_full_of_an_element() {
        assert_eq!(word_of(&0x12u8), Some(0x1212_1212));
        assert_eq!(word_of(&-2i16), Some(0xfffe_fffe));
        assert_eq!(word_of(&1.5f32), Some(1.5f32.to_bits()));
        assert_eq!((word_of(&1u64), word_of(&[0u32; 0])), (None, None));
    }
}
