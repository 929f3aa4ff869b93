//! Elements as bytes.

use warpheap::api::Element;

/// The bytes of elements.
pub fn bytes_of<T: Element>(elements: &[T]) -> &[u8] {
    // SAFETY: an `Element` has no padding.
    unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) }
}

/// The bytes of elements, to be written.
pub fn bytes_of_mut<T: Element>(elements: &mut [T]) -> &mut [u8] {
    // SAFETY: an `Element` has no padding, and every bit pattern is a value of one.
    unsafe { std::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), size_of_val(elements)) }
}

/// So many elements of zero bits, if there is memory for them.
pub fn zeroed<T: Element + Copy>(len: usize) -> Option<Vec<T>> {
    let mut elements = Vec::new();
    elements.try_reserve_exact(len).ok()?;
    // SAFETY: the vector has room for so many, and every bit pattern is a value of an `Element`.
    unsafe {
        std::ptr::write_bytes::<T>(elements.as_mut_ptr(), 0, len);
        elements.set_len(len);
    }
    Some(elements)
}
