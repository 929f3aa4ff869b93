//! One value in device memory.

use super::{Arg, Device, DeviceError, DeviceVec, HostAlloc, Pool, RawBuffer};
use crate::{DevicePtr, Element};

/// One `T` in device memory, owned by the host. Kernels take it as a slice of one element.
#[derive(Debug)]
pub struct DeviceBox<T> {
    one: DeviceVec<T>,
}

impl<T: Element + Copy> DeviceBox<T> {
    /// A copy of `value` in device memory.
    ///
    /// # Errors
    /// As [`DeviceVec::uninit`].
    pub fn new(device: &Device, value: T) -> Result<Self, DeviceError> {
        let one = DeviceVec::from_slice(device, &[value])?;
        Ok(DeviceBox { one })
    }

    /// A value of zero words.
    ///
    /// # Errors
    /// As [`DeviceVec::uninit`].
    pub fn zeroed(device: &Device) -> Result<Self, DeviceError> {
        let one = DeviceVec::zeroed(device, 1)?;
        Ok(DeviceBox { one })
    }

    /// A value with unspecified contents.
    ///
    /// # Errors
    /// As [`DeviceVec::uninit`].
    pub fn uninit(device: &Device) -> Result<Self, DeviceError> {
        let one = DeviceVec::uninit(device, 1)?;
        Ok(DeviceBox { one })
    }

    /// Like [`new`](Self::new), inside the heap of `pool`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn new_in<A: HostAlloc>(pool: &Pool<A>, value: T) -> Result<Self, DeviceError> {
        let one = DeviceVec::from_slice_in(pool, &[value])?;
        Ok(DeviceBox { one })
    }

    /// Like [`zeroed`](Self::zeroed), inside the heap of `pool`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn zeroed_in<A: HostAlloc>(pool: &Pool<A>) -> Result<Self, DeviceError> {
        let one = DeviceVec::zeroed_in(pool, 1)?;
        Ok(DeviceBox { one })
    }

    /// Copies the value to the host.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn get(&self) -> Result<T, DeviceError> {
        let mut words = self.one.to_vec()?;
        words.pop().ok_or(DeviceError::OutOfRange {
            what: "DeviceBox::get",
            got: 1,
            room: 0,
        })
    }

    /// Copies `value` to the device.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn set(&mut self, value: T) -> Result<(), DeviceError> {
        self.one.copy_from(&[value])
    }

    /// The box as an argument of a kernel that takes it as `&[T]`, a slice of one element.
    pub fn arg(&self) -> Arg {
        self.one.arg()
    }

    /// The box as an argument of a kernel that changes it: a slice of one element.
    pub fn arg_mut(&self) -> Arg {
        self.one.arg_mut()
    }

    /// The handle of the value, if it lives in a heap.
    pub fn heap_ptr(&self) -> Option<DevicePtr<T>> {
        self.one.heap_ptr()
    }

    /// Takes the box apart: memory, and byte offset of the value.
    pub fn into_raw_parts(self) -> (RawBuffer, u64) {
        let (buffer, offset, _) = self.one.into_raw_parts();
        (buffer, offset)
    }

    /// The value at byte `offset` of `buffer`.
    ///
    /// # Safety
    /// As for [`DeviceVec::from_raw_parts`].
    ///
    /// # Errors
    /// As there.
    pub unsafe fn from_raw_parts(buffer: RawBuffer, offset: u64) -> Result<Self, DeviceError> {
        // SAFETY: the caller's promise.
        let one = unsafe { DeviceVec::from_raw_parts(buffer, offset, 1) }?;
        Ok(DeviceBox { one })
    }
}
