//! Typed device memory of plain data, which may be copied.

use super::bytes::{byte_len, bytes_of_mut, filled_by, padded, word_of};
use super::vec::assert_plain;
use super::{Device, DeviceError, DeviceVec, HostAlloc, Pool};
use crate::Element;
use core::ops::Range;
use std::vec;
use std::vec::Vec;

impl<T: Element + Copy> DeviceVec<T> {
    /// `len` elements with unspecified contents.
    ///
    /// # Errors
    /// [`DeviceError::TooLarge`] and [`DeviceError::OutOfMemory`].
    pub fn uninit(device: &Device, len: usize) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        Self::made(device, len)
    }

    /// `len` times the same element.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit).
    pub fn filled(device: &Device, len: usize, element: T) -> Result<Self, DeviceError> {
        let vec = Self::uninit(device, len)?;
        match word_of(&element) {
            Some(word) => {
                let words = padded(byte_len::<T>(vec.len() as u32)) / 4;
                vec.buffer().fill_in(None, 0, words, word, || ())?;
            }
            None => vec.write_at(0, &vec![element; len])?,
        }
        Ok(vec)
    }

    /// A copy of `data` in device memory.
    ///
    /// # Errors
    /// As [`uninit`](Self::uninit).
    pub fn from_slice(device: &Device, data: &[T]) -> Result<Self, DeviceError> {
        let vec = Self::uninit(device, data.len())?;
        vec.write_at(0, data)?;
        Ok(vec)
    }

    /// Like [`uninit`](Self::uninit), inside the heap of `pool`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn uninit_in<A: HostAlloc>(pool: &Pool<A>, len: usize) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        Self::made_in(pool, len)
    }

    /// Like [`from_slice`](Self::from_slice), inside the heap of `pool`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn from_slice_in<A: HostAlloc>(pool: &Pool<A>, data: &[T]) -> Result<Self, DeviceError> {
        let vec = Self::uninit_in(pool, data.len())?;
        vec.write_at(0, data)?;
        Ok(vec)
    }

    /// Copies `data` over all elements.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless the lengths are equal; errors of the device.
    pub fn copy_from(&mut self, data: &[T]) -> Result<(), DeviceError> {
        const { assert_plain::<T>() }
        self.same_len("DeviceVec::copy_from", data.len())?;
        self.write_at(0, data)
    }

    /// Copies all elements to `data`.
    ///
    /// # Errors
    /// As [`copy_from`](Self::copy_from).
    pub fn copy_to(&self, data: &mut [T]) -> Result<(), DeviceError> {
        self.same_len("DeviceVec::copy_to", data.len())?;
        self.read_at(0, bytes_of_mut(data))
    }

    /// Copies `data` over the elements from number `first` on.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless they lie in the vector; errors of the device.
    pub fn copy_range_from(&mut self, first: usize, data: &[T]) -> Result<(), DeviceError> {
        const { assert_plain::<T>() }
        self.in_range("DeviceVec::copy_range_from", first, data.len())?;
        self.write_at(first, data)
    }

    /// Copies the elements from number `first` on to `data`, as many as it has.
    ///
    /// # Errors
    /// As [`copy_range_from`](Self::copy_range_from).
    pub fn copy_range_to(&self, first: usize, data: &mut [T]) -> Result<(), DeviceError> {
        self.in_range("DeviceVec::copy_range_to", first, data.len())?;
        self.read_at(first, bytes_of_mut(data))
    }

    /// Copies all elements of another vector, which may be another device's. See
    /// [`copy_range_from_vec`](Self::copy_range_from_vec).
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless the lengths are equal; errors of either device.
    pub fn copy_from_vec(&mut self, from: &DeviceVec<T>) -> Result<(), DeviceError> {
        self.same_len("DeviceVec::copy_from_vec", from.len())?;
        self.copy_range_from_vec(0, from, 0..from.len())
    }

    /// Copies a range of elements of another vector over those from number `first` on, on the device. Elements of less than a
    /// word go by way of the host if the two ranges begin at different bytes of a word.
    ///
    /// The other vector may be another device's. Between two of CUDA the driver copies, from GPU to GPU where they reach each other;
    /// between others the elements go by way of the host, 8 MiB at a time. Work of streams of either device with these elements is
    /// waited for, and later work waits for the copy.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless both lie in their vectors; errors of either device.
    pub fn copy_range_from_vec(
        &mut self,
        first: usize,
        from: &DeviceVec<T>,
        range: Range<usize>,
    ) -> Result<(), DeviceError> {
        const { assert_plain::<T>() }
        let what = "DeviceVec::copy_range_from_vec";
        from.in_range(what, range.start, range.len())?;
        self.in_range(what, first, range.len())?;
        if range.is_empty() {
            return Ok(());
        }
        let blocks = [from.block(), self.block()];
        let (source, target) = (from.offset_of(range.start), self.offset_of(first));
        let bytes = byte_len::<T>(range.len() as u32);
        from.buffer()
            .copy_bytes(blocks, source, self.buffer(), target, bytes)
    }

    /// All elements as a vector of the host.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        filled_by(self.len(), |bytes| self.read_all(bytes))
    }
}
