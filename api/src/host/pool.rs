//! A heap on a device.

mod grow;
mod look;
mod raw;

pub use raw::{HeapCalls, RawPool};

use super::bytes::bytes_of;
use super::extent::Extent;
use super::generation::Generation;
use super::order::{Access, Demand};
use super::{Arg, Device, DeviceError, Fill, HeapPlan, HostAlloc, PlanError, RawBuffer};
use crate::{DevicePtr, header};
use core::alloc::Layout;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU64;
use std::boxed::Box;
use std::fmt;
use std::format;

/// A heap on a device, managed by the allocator `A`.
///
/// Kernels take it as an argument and allocate in it. What they leave allocated stays across
/// launches until it is freed or the pool is dropped.
///
/// A pool of [`Device::reserve`] has one size. One of [`Device::reserve_growing`] gets another one by [`grow_to`](Self::grow_to),
/// [`shrink_to_fit`](Self::shrink_to_fit) and [`launch_or_grow`](Self::launch_or_grow).
pub struct Pool<A> {
    raw: RawPool,
    plan: HeapPlan,
    /// Snapshots that were taken.
    snapshots: AtomicU64,
    /// The layout of the heap with another number of bytes, if it can have one.
    layout: Option<Layouts>,
    allocator: PhantomData<fn() -> A>,
}

/// Lays a heap out for a number of bytes.
type Layouts = Box<dyn Fn(u64) -> Result<HeapPlan, PlanError> + Send + Sync>;

impl<A: HostAlloc> Pool<A> {
    /// Lays out a heap of `bytes` bytes on `device`.
    ///
    /// # Errors
    /// As [`Device::reserve`].
    pub fn new(device: &Device, bytes: u64, config: &A::Config) -> Result<Self, DeviceError> {
        let bytes = bytes & !15;
        let plan = HeapPlan::of::<A>(bytes, config, device.info().backend)?;
        fits(device, bytes)?;
        Self::laid_out(device, device.alloc(bytes)?, bytes, plan, None)
    }

    /// Lays out a heap of `bytes` bytes that may come to have `most`.
    ///
    /// # Errors
    /// As [`Device::reserve_growing`].
    pub fn growing(
        device: &Device,
        bytes: u64,
        most: u64,
        config: &A::Config,
    ) -> Result<Self, DeviceError> {
        let (bytes, most) = (bytes.min(most) & !15, most & !15);
        let plan = HeapPlan::within::<A>(bytes, most, config, device.info().backend)?;
        fits(device, bytes)?;
        let config = config.clone();
        let layout: Layouts = Box::new(move |bytes| A::plan_within(bytes, most, &config));
        let buffer = RawBuffer::growing(device, bytes, most)?;
        Self::laid_out(device, buffer, most, plan, Some(layout))
    }

    fn laid_out(
        device: &Device,
        buffer: RawBuffer,
        most: u64,
        plan: HeapPlan,
        layout: Option<Layouts>,
    ) -> Result<Self, DeviceError> {
        let pool = Pool {
            raw: RawPool {
                device: device.clone(),
                extent: Extent::new(buffer.bytes() / 4, most / 4, plan.params),
                buffer,
                allocator: A::NAME,
                kind: A::KIND,
                generation: Generation::default(),
                mistakes: A::MISTAKES,
                granule_shift: A::GRANULE_SHIFT,
            },
            plan,
            snapshots: AtomicU64::new(0),
            layout,
            allocator: PhantomData,
        };
        pool.format()?;
        Ok(pool)
    }

    /// Makes the heap fresh: every block is free, counters are zero. Work of streams in it is waited for, also that of kernels whose
    /// collections take from it ([`Module::bind_heap`](super::Module::bind_heap)).
    ///
    /// Vectors, boxes and containers of the host in this heap are gone: using one is an error, [`DeviceError::Stale`] or that of
    /// the launch, and dropping it frees nothing. A launch that takes a vector of containers of before is refused until the
    /// vector is filled with zeros. Handles in other memory that name blocks of before must not be used any more.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        let shared = self.raw.device.shared().clone();
        let whole = [self.whole()];
        let _held = shared.permit(&whole)?;
        // A heap that a backend was told to bind is not known to the order.
        shared.backend.await_bound(self.raw.buffer.id())?;
        self.raw.generation.end();
        self.format()
    }

    /// All of the heap, to be written over.
    fn whole(&self) -> Demand {
        Demand::whole(self.raw.buffer.id(), Access::Overwrite)
    }

    /// Lays the heap out. Nobody else has its memory.
    fn format(&self) -> Result<(), DeviceError> {
        self.fill(self.plan.ranges())?;
        let (id, backend) = (self.raw.buffer.id(), self.raw.device.backend());
        // What lies behind is the plan's.
        let head = HeapPlan::head::<A>();
        backend.write(id, 0, bytes_of(&head[..=header::WORD_KIND]))
    }

    fn fill(&self, ranges: impl Iterator<Item = Fill>) -> Result<(), DeviceError> {
        let (id, backend) = (self.raw.buffer.id(), self.raw.device.backend());
        for range in ranges {
            backend.fill(id, range.word * 4, range.words, range.value)?;
        }
        Ok(())
    }

    /// Bytes from the start of the heap to what a handle names.
    pub fn offset_of<T>(&self, ptr: DevicePtr<T>) -> u64 {
        self.raw.offset_of(ptr)
    }

    /// Size of the pool in bytes, metadata included.
    pub fn bytes(&self) -> u64 {
        self.raw.words() * 4
    }

    /// Bytes that can never be handed out.
    pub fn metadata_bytes(&self) -> u64 {
        self.plan.metadata_bytes
    }

    /// The pool without its allocator's type.
    pub fn raw(&self) -> &RawPool {
        &self.raw
    }

    /// The pool as an argument of a kernel.
    pub fn arg(&self) -> Arg {
        Arg::Heap(self.raw.heap_arg())
    }

    /// Allocates a block on behalf of the host.
    ///
    /// # Errors
    /// [`DeviceError::Heap`] if the heap does not give it; [`DeviceError::BadLaunch`] if the device
    /// was opened without kernels for that; errors of the device.
    pub fn malloc(&self, layout: Layout) -> Result<DevicePtr<u8>, DeviceError> {
        self.raw.malloc(layout)
    }

    /// Frees a block on behalf of the host.
    ///
    /// # Errors
    /// As [`malloc`](Self::malloc).
    ///
    /// # Safety
    /// As [`DeviceAlloc::free`](crate::DeviceAlloc::free).
    pub unsafe fn free(&self, ptr: DevicePtr<u8>, layout: Layout) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.raw.free(ptr, layout) }
    }
}

/// Refuses more bytes than a device has.
fn fits(device: &Device, bytes: u64) -> Result<(), DeviceError> {
    let info = device.info();
    if info.memory_bytes != 0 && bytes > info.memory_bytes {
        return Err(DeviceError::OutOfMemory {
            device: info.name.clone(),
            bytes,
            why: format!("it has {} bytes in all", info.memory_bytes),
        });
    }
    Ok(())
}

impl<A> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("allocator", &self.raw.allocator)
            .field("bytes", &(self.raw.words() * 4))
            .finish()
    }
}
