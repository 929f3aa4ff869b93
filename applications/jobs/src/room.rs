//! Device memory that is used again and again: to get and to return it takes the device longer than many a kernel.

use crate::sums::Sums;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::Duration;
use warpheap::api::Element;
use warpheap::{Device, DeviceError, DeviceVec, RawBuffer};
use warpheap_applications::Kernels;

/// Memory for one vector at a time.
pub struct Room {
    device: Device,
    buffer: Option<RawBuffer>,
}

/// A vector in a room, which has no other meanwhile.
pub struct Lent<'a, T: Element> {
    vec: DeviceVec<T>,
    room: PhantomData<&'a mut Room>,
}

impl Room {
    /// Nothing yet.
    pub fn new(device: &Device) -> Self {
        Room {
            device: device.clone(),
            buffer: None,
        }
    }

    /// A vector with unspecified contents.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn vec<T: Element + Copy>(&mut self, len: usize) -> Result<Lent<'_, T>, DeviceError> {
        // To the end of the last word, and some more, so that a few more elements fit as well.
        let bytes = (len * size_of::<T>()).next_multiple_of(1 << 12) as u64;
        let buffer = match self.buffer.take() {
            Some(buffer) if buffer.bytes() >= bytes => buffer,
            _ => self.device.alloc(bytes)?,
        };
        let buffer = self.buffer.insert(buffer).clone();
        // SAFETY: the memory is the room's, whose only vector this is as long as it is borrowed, and all bytes are values of an
        // `Element`.
        let vec = unsafe { DeviceVec::from_raw_parts(buffer, 0, len as u32) }?;
        let room = PhantomData;
        Ok(Lent { vec, room })
    }

    /// A vector of these elements.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn filled<T: Element + Copy>(&mut self, data: &[T]) -> Result<Lent<'_, T>, DeviceError> {
        let mut lent = self.vec(data.len())?;
        lent.vec.copy_from(data)?;
        Ok(lent)
    }
}

impl<T: Element> Deref for Lent<'_, T> {
    type Target = DeviceVec<T>;

    fn deref(&self) -> &DeviceVec<T> {
        &self.vec
    }
}

/// Numbers that become the sums of all before them.
pub struct Summed {
    device: Device,
    room: Room,
    sums: Option<(Sums, usize)>,
}

impl Summed {
    /// Nothing yet.
    pub fn new(device: &Device) -> Self {
        Summed {
            device: device.clone(),
            room: Room::new(device),
            sums: None,
        }
    }

    /// So many numbers, which `fill` gets; then each is replaced by the sum of all before it. With the device's time.
    ///
    /// # Errors
    /// Those of `fill`, and of the device.
    pub fn of(
        &mut self,
        kernels: &Kernels,
        len: usize,
        fill: impl FnOnce(&DeviceVec<u32>) -> Result<Duration, DeviceError>,
    ) -> Result<(Lent<'_, u32>, Duration), DeviceError> {
        let sums = match self.sums.take() {
            Some((sums, most)) if most >= len => (sums, most),
            _ => (Sums::new(&self.device, len as u64)?, len),
        };
        let (sums, _) = self.sums.insert(sums);
        let numbers = self.room.vec(len)?;
        let mut time = fill(&numbers)?;
        for launch in sums.launches(kernels, &numbers)? {
            time += launch.run()?.device_time;
        }
        Ok((numbers, time))
    }
}
