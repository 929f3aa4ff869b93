//! Streams that have ended when a closure has returned.

use super::bytes::bytes_of_mut;
use super::{Device, DeviceError, DeviceVec, Reading, Stream};
use crate::Element;
use core::marker::PhantomData;
use core::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::vec::Vec;

/// Opens streams whose work has ended when [`Device::scope`] returns.
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    device: Device,
    streams: Mutex<Vec<(Arc<Stream>, Arc<Reads<'scope>>)>>,
    env: PhantomData<&'env mut &'env ()>,
}

/// A stream of a [`Scope`]: also reads into memory that the scope borrows.
#[derive(Debug)]
pub struct ScopedStream<'scope> {
    stream: Arc<Stream>,
    reads: Arc<Reads<'scope>>,
}

/// Reads that the scope's end waits for.
type Reads<'scope> = Mutex<Vec<(Reading<u8>, &'scope mut [u8])>>;

impl Device {
    /// Runs a closure that opens streams, and waits for the end of all that it queued there, as
    /// [`std::thread::scope`] waits for threads. So streams may read into what the closure borrows.
    ///
    /// ```no_run
    /// # use warpheap_api::host::{Device, DeviceError, DeviceVec, Prepared};
    /// # fn run(device: &Device, first: Prepared, second: Prepared, sums: &DeviceVec<u32>) -> Result<(), DeviceError> {
    /// let mut answer = [0; 64];
    /// device.scope(|scope| {
    ///     let (left, right) = (scope.stream()?, scope.stream()?);
    ///     left.launch(first)?;
    ///     right.launch(second)?;
    ///     right.read_into(sums, &mut answer)
    /// })?;
    /// println!("{answer:?}");
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// What the closure returns; else the first failure of a launch, in the order in which the streams were opened;
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    ///
    /// # Panics
    /// If the closure does, after the work that it had queued.
    pub fn scope<'env, F, R>(&self, work: F) -> Result<R, DeviceError>
    where
        F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> Result<R, DeviceError>,
    {
        let scope = Scope {
            device: self.clone(),
            streams: Mutex::default(),
            env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| work(&scope)));
        let ended = scope.end();
        match result {
            Err(panic) => resume_unwind(panic),
            Ok(Err(error)) => Err(error),
            Ok(Ok(done)) => ended.map(|()| done),
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Opens a stream.
    ///
    /// # Errors
    /// As [`Device::stream`].
    pub fn stream(&'scope self) -> Result<ScopedStream<'scope>, DeviceError> {
        let stream = Arc::new(self.device.stream()?);
        let reads = Arc::default();
        let opened = ScopedStream { stream, reads };
        let mut all = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((opened.stream.clone(), opened.reads.clone()));
        Ok(opened)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Waits for all streams and hands out what they read; the first error of all.
    fn end(&self) -> Result<(), DeviceError> {
        let mut all = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        let mut ended = Ok(());
        for (stream, reads) in all.drain(..) {
            let mut reads = reads.lock().unwrap_or_else(PoisonError::into_inner);
            let mut read = Ok(());
            for (mut reading, into) in reads.drain(..) {
                read = read.and(reading.take_bytes(into));
            }
            ended = ended.and(stream.wait()).and(read);
        }
        ended
    }
}

impl<'scope> ScopedStream<'scope> {
    /// Queues a copy of all elements into memory of the host, which has them when the scope has ended.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] unless the lengths are equal; errors of the device.
    pub fn read_into<T: Element + Copy>(
        &self,
        from: &DeviceVec<T>,
        into: &'scope mut [T],
    ) -> Result<(), DeviceError> {
        from.same_len("ScopedStream::read_into", into.len())?;
        let reading = self.stream.read(from)?.into_bytes();
        let mut reads = self.reads.lock().unwrap_or_else(PoisonError::into_inner);
        reads.push((reading, bytes_of_mut(into)));
        Ok(())
    }
}

impl Deref for ScopedStream<'_> {
    type Target = Stream;
    fn deref(&self) -> &Stream {
        &self.stream
    }
}
