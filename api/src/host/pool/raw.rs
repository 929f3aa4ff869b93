//! A heap without the type of its allocator, and blocks on behalf of the host.

use crate::host::extent::Extent;
use crate::host::generation::{Generation, Home};
use crate::host::order::{Access, Demand};
use crate::host::{Device, DeviceError, HeapArg, RawBuffer, TakeMistakes};
use crate::{AllocError, DevicePtr, HeapParams};
use core::alloc::Layout;
use core::any::Any;
use std::fmt;

/// A heap on a device without its allocator's type.
#[derive(Clone, Debug)]
pub struct RawPool {
    /// The device.
    pub device: Device,
    /// The memory.
    pub buffer: RawBuffer,
    pub(in crate::host) extent: Extent,
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Number of the kind of heap, [`HostAlloc::KIND`](crate::host::HostAlloc::KIND).
    pub kind: u32,
    pub(in crate::host) generation: Generation,
    pub(in crate::host) mistakes: Option<TakeMistakes>,
    pub(in crate::host) granule_shift: u32,
}

/// Allocates in heaps on behalf of the host, by small kernels. The facade crate provides it for the
/// library's allocators.
pub trait HeapCalls: Send + Sync + fmt::Debug {
    /// Itself, for whoever provided it to find more there.
    fn as_any(&self) -> &dyn Any;

    /// Allocates one block.
    ///
    /// # Errors
    /// [`DeviceError::Heap`] if the heap does not give it; errors of the launch.
    fn malloc(&self, pool: &RawPool, layout: Layout) -> Result<DevicePtr<u8>, DeviceError>;

    /// Frees one block.
    ///
    /// # Errors
    /// Errors of the launch.
    ///
    /// # Safety
    /// As [`DeviceAlloc::free`](crate::DeviceAlloc::free).
    unsafe fn free(
        &self,
        pool: &RawPool,
        ptr: DevicePtr<u8>,
        layout: Layout,
    ) -> Result<(), DeviceError>;
}

impl RawPool {
    /// Number of 32-bit words that the heap has now.
    pub fn words(&self) -> u64 {
        self.extent.words()
    }

    /// Number of words that it may come to have.
    pub fn most_words(&self) -> u64 {
        self.extent.most_words()
    }

    /// The allocator's parameters, as they are now.
    pub fn params(&self) -> HeapParams {
        self.extent.params()
    }

    /// Bytes of a granule, the unit that handles count.
    pub fn granule_bytes(&self) -> u64 {
        (DevicePtr::GRANULE_BYTES as u64) << self.granule_shift
    }

    /// Bytes from the start of the heap to what a handle names.
    pub fn offset_of<T>(&self, ptr: DevicePtr<T>) -> u64 {
        u64::from(ptr.granule()) * self.granule_bytes()
    }

    /// The heap as an argument of a kernel.
    pub fn heap_arg(&self) -> HeapArg {
        HeapArg {
            buffer: self.buffer.clone(),
            extent: self.extent.clone(),
            allocator: self.allocator,
            generation: self.generation.clone(),
            mistakes: self.mistakes,
        }
    }

    /// See [`Pool::malloc`](super::Pool::malloc).
    ///
    /// # Errors
    /// As there.
    pub fn malloc(&self, layout: Layout) -> Result<DevicePtr<u8>, DeviceError> {
        match self.device.heap_calls() {
            Some(calls) => calls.malloc(self, layout),
            None => Err(self.no_calls()),
        }
    }

    /// See [`Pool::free`](super::Pool::free).
    ///
    /// # Errors
    /// As there; [`DeviceError::Stale`] if the heap was made fresh since this value was taken from its pool: then
    /// nothing happened.
    ///
    /// # Safety
    /// As there, of a block that was allocated before this value was taken from the pool or through it.
    pub unsafe fn free(&self, ptr: DevicePtr<u8>, layout: Layout) -> Result<(), DeviceError> {
        let Some(calls) = self.device.heap_calls() else {
            return Err(self.no_calls());
        };
        // Nobody makes the heap fresh between the question and the call.
        let heap = [Demand::whole(self.buffer.id(), Access::Heap)];
        let _held = self.device.order().begin(&heap);
        self.check(layout.size() as u64)?;
        // SAFETY: the caller's promise.
        unsafe { calls.free(self, ptr, layout) }
    }

    /// Reads from byte `offset` of the heap into `data`; both are whole words. Work of streams in the heap is waited for.
    ///
    /// # Errors
    /// [`DeviceError::Stale`] if the heap was made fresh since this value was taken from its pool; as
    /// [`RawBuffer::read`].
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.buffer.read(offset, data)?;
        // Asked behind the reading: a heap that was made fresh in between has said so by now.
        self.check(data.len() as u64)
    }

    /// Whether the heap was made fresh, by [`Pool::reset`](super::Pool::reset), since this value was taken from its pool: what was in it then
    /// is gone.
    pub fn is_over(&self) -> bool {
        self.generation.is_over()
    }

    /// Refuses to use so many bytes of it when the heap was made fresh since.
    pub(in crate::host) fn check(&self, bytes: u64) -> Result<(), DeviceError> {
        if self.is_over() {
            return Err(DeviceError::Stale {
                allocator: self.allocator,
                bytes,
            });
        }
        Ok(())
    }

    /// The heap as what containers lie in.
    pub(in crate::host) fn home(&self) -> Home {
        Home {
            generation: self.generation.clone(),
            allocator: self.allocator,
        }
    }

    /// Notes in the log that the owner of memory of this heap could not free it when it was dropped. In a heap that was
    /// made fresh since there is nothing to free.
    pub fn not_freed(&self, error: &DeviceError) {
        if self.is_over() {
            return;
        }
        tracing::warn!(%error, allocator = self.allocator, "memory of a heap could not be freed by its owner");
    }

    /// The error of a heap that gave nothing.
    pub fn refused(&self, layout: Layout, cause: AllocError) -> DeviceError {
        DeviceError::Heap {
            allocator: self.allocator,
            bytes: layout.size() as u64,
            cause,
        }
    }

    fn no_calls(&self) -> DeviceError {
        DeviceError::BadLaunch {
            kernel: "heap_malloc".into(),
            why:
                "the device was opened without the library's kernels: open it with warpheap::Device"
                    .into(),
        }
    }
}
