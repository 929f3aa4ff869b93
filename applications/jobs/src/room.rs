//! Device memory that is used again and again: to get and to return it takes the device longer than many a kernel.

use crate::sums::Sums;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpheap::api::Element;
use warpheap::{Device, DeviceError, DeviceVec, Prepared, RawBuffer, Stream};
use warpheap_applications::Kernels;

/// What is copied at once goes through memory that the first large copy of a process pins, which takes as long as 400 MB take then.
const LARGE: usize = 32 << 20;

/// Copies something to a device that will get so many bytes at once, if they are many: what the first large copy takes is then not in
/// times that tell of the job.
///
/// # Errors
/// Errors of the device.
pub fn first_copy(device: &Device, bytes: usize) -> Result<(), DeviceError> {
    if bytes >= LARGE {
        DeviceVec::from_slice(device, &vec![0u32; LARGE / 4])?;
    }
    Ok(())
}

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

impl<T: Element> DerefMut for Lent<'_, T> {
    fn deref_mut(&mut self) -> &mut DeviceVec<T> {
        &mut self.vec
    }
}

/// Memory for vectors that go elsewhere, and come back when they are dropped there.
#[derive(Clone, Default)]
pub struct Spare(Arc<Mutex<Vec<RawBuffer>>>);

/// A vector in spare memory.
pub struct Borrowed<T: Element> {
    vec: DeviceVec<T>,
    buffer: RawBuffer,
    spare: Spare,
}

impl Spare {
    /// A vector with unspecified contents.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn vec<T: Element + Copy>(
        &self,
        device: &Device,
        len: usize,
    ) -> Result<Borrowed<T>, DeviceError> {
        let bytes = (len * size_of::<T>()).next_multiple_of(1 << 12) as u64;
        let found = self.kept().pop_if(|buffer| buffer.bytes() >= bytes);
        let buffer = match found {
            Some(buffer) => buffer,
            None => device.alloc(bytes)?,
        };
        // SAFETY: whoever has the buffer has its memory for itself, and all bytes are values of an `Element`.
        let vec = unsafe { DeviceVec::from_raw_parts(buffer.clone(), 0, len as u32) }?;
        Ok(Borrowed {
            vec,
            buffer,
            spare: self.clone(),
        })
    }

    fn kept(&self) -> MutexGuard<'_, Vec<RawBuffer>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Element> Deref for Borrowed<T> {
    type Target = DeviceVec<T>;

    fn deref(&self) -> &DeviceVec<T> {
        &self.vec
    }
}

impl<T: Element> Drop for Borrowed<T> {
    fn drop(&mut self) {
        self.spare.kept().push(self.buffer.clone());
    }
}

/// Counts that become the sums of all before them.
pub struct Summed {
    device: Device,
    /// Opened when it is needed first.
    stream: Option<Stream>,
    room: Room,
    sums: Option<(Sums, usize)>,
}

impl Summed {
    /// Nothing yet.
    pub fn new(device: &Device) -> Self {
        Summed {
            device: device.clone(),
            stream: None,
            room: Room::new(device),
            sums: None,
        }
    }

    /// Gets memory for so many counts.
    ///
    /// # Errors
    /// Those of the device.
    pub fn reserve(&mut self, len: usize) -> Result<(), DeviceError> {
        sums_for(&self.device, &mut self.sums, len)?;
        self.room.vec::<u32>(len).map(drop)
    }

    /// So many zeros, which the launches of `fill` change; then each is replaced by the sum of all before it, which those of `then` may
    /// read and change. All of them are queued together, and go before other work of the device. With the device's time.
    ///
    /// # Errors
    /// Those of the device.
    pub fn of(
        &mut self,
        kernels: &Kernels,
        len: usize,
        fill: impl FnOnce(&DeviceVec<u32>) -> Vec<Prepared>,
        then: impl FnOnce(&DeviceVec<u32>) -> Prepared,
    ) -> Result<(Lent<'_, u32>, Duration), DeviceError> {
        let stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.device.urgent_stream()?,
        };
        let stream = self.stream.insert(stream);
        let sums = sums_for(&self.device, &mut self.sums, len)?;
        let mut numbers = self.room.vec(len)?;
        let begin = stream.event()?;
        stream.fill_zero(&mut numbers)?;
        let mut launches = fill(&numbers);
        launches.extend(sums.launches(kernels, &numbers)?);
        launches.push(then(&numbers));
        stream.launch_all(launches)?;
        let end = stream.event()?;
        stream.wait()?;
        Ok((numbers, end.since(&begin)?))
    }
}

/// Sums for so many counts, kept with the most that they are for.
fn sums_for<'s>(
    device: &Device,
    kept: &'s mut Option<(Sums, usize)>,
    len: usize,
) -> Result<&'s Sums, DeviceError> {
    let sums = match kept.take() {
        Some((sums, most)) if most >= len => (sums, most),
        _ => (Sums::new(device, len as u64)?, len),
    };
    Ok(&kept.insert(sums).0)
}
