//! A heap on a device.

mod grow;

use super::bytes::{bytes_of, bytes_of_mut};
use super::extent::Extent;
use super::generation::{Generation, Home};
use super::order::{Access, Demand};
use super::{
    Arg, Device, DeviceError, Fill, HeapArg, HeapPlan, HeapReader, HostAlloc, PlanError, PoolStats,
    RawBuffer, Snapshot, Usage,
};
use crate::{AllocError, DevicePtr, HeapParams, LAYOUT_VERSION, header};
use core::alloc::Layout;
use core::any::Any;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU64, Ordering};
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

/// A heap on a device without its allocator's type.
#[derive(Clone, Debug)]
pub struct RawPool {
    /// The device.
    pub device: Device,
    /// The memory.
    pub buffer: RawBuffer,
    pub(super) extent: Extent,
    /// Name of the allocator.
    pub allocator: &'static str,
    /// Number of the kind of heap, [`HostAlloc::KIND`].
    pub kind: u32,
    pub(super) generation: Generation,
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
            },
            plan,
            snapshots: AtomicU64::new(0),
            layout,
            allocator: PhantomData,
        };
        pool.format()?;
        Ok(pool)
    }

    /// Makes the heap fresh: every block is free, counters are zero. Work of streams in it is waited for.
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
        backend.write(id, 0, bytes_of(&HeapPlan::head::<A>()))
    }

    fn fill(&self, ranges: impl Iterator<Item = Fill>) -> Result<(), DeviceError> {
        let (id, backend) = (self.raw.buffer.id(), self.raw.device.backend());
        for range in ranges {
            backend.fill(id, range.word * 4, range.words, range.value)?;
        }
        Ok(())
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

    /// Reads header and metadata.
    ///
    /// Other threads may launch kernels on this heap at the same time: each read falls between launches, and
    /// waits for those of streams. A large heap takes several reads, and launches may
    /// come between them; figures are then of no single moment, but never more than there is, and exact
    /// again once nobody launches.
    ///
    /// # Errors
    /// [`DeviceError::BadHeap`] if the header was overwritten; errors of the device.
    pub fn stats(&self) -> Result<PoolStats, DeviceError> {
        let (mut stats, usage) = self.look(A::usage)?;
        stats.usage = usage;
        Ok(stats)
    }

    /// Reads header and metadata, and tells what each part of the pool is used for: a look at why a heap is full though memory
    /// is free. Blocks are not read. When it is taken and what it shows while others launch is as for [`stats`](Self::stats).
    ///
    /// It takes 72 bytes of the host for each chunk, page or segment that has a size class.
    ///
    /// # Errors
    /// As [`stats`](Self::stats).
    pub fn snapshot(&self) -> Result<Snapshot, DeviceError> {
        let (stats, map) = self.look(A::map)?;
        let sequence = self.snapshots.fetch_add(1, Ordering::Relaxed);
        Ok(Snapshot::new(sequence, map, stats))
    }

    /// Reads the header, and by `metadata` the rest; the usage is left out.
    fn look<T>(
        &self,
        metadata: impl FnOnce(&HeapParams, &mut dyn HeapReader) -> Result<T, DeviceError>,
    ) -> Result<(PoolStats, T), DeviceError> {
        let mut head = [0u32; header::HEADER_WORDS];
        let mut reader = Reader { pool: &self.raw };
        reader.read(0, &mut head)?;
        let found = (
            head[header::WORD_MAGIC],
            head[header::WORD_VERSION],
            head[header::WORD_KIND],
        );
        if found != (header::MAGIC, LAYOUT_VERSION, A::KIND) {
            return Err(DeviceError::BadHeap {
                expected: A::NAME,
                version: LAYOUT_VERSION,
                why: format!(
                    "magic {:#x}, version {}, kind {}: a kernel wrote over the header, or another build made it; run it with \
                     WARPHEAP_BACKEND=host to find the access, reset the pool to go on",
                    found.0, found.1, found.2
                ),
            });
        }
        let found = metadata(&self.raw.params(), &mut reader)?;
        let stripes = head[header::WORD_COUNTERS..].chunks_exact(header::STRIPE_WORDS);
        let mut stats = PoolStats {
            allocator: A::NAME,
            pool_bytes: self.bytes(),
            metadata_bytes: self.plan.metadata_bytes,
            usage: Usage::default(),
            failures: [1, 2, 3].map(|code| head[header::WORD_FAILURES + code]),
            mallocs: 0,
            frees: 0,
            malloc_bytes: 0,
            free_bytes: 0,
        };
        let wide = |stripe: &[u32], at: usize| stripe[at] as u64 | (stripe[at + 1] as u64) << 32;
        for stripe in stripes {
            stats.mallocs += stripe[header::COUNT_MALLOCS] as u64;
            stats.frees += stripe[header::COUNT_FREES] as u64;
            stats.malloc_bytes += wide(stripe, header::COUNT_MALLOC_BYTES);
            stats.free_bytes += wide(stripe, header::COUNT_FREE_BYTES);
        }
        Ok((stats, found))
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

    /// The heap as an argument of a kernel.
    pub fn heap_arg(&self) -> HeapArg {
        HeapArg {
            buffer: self.buffer.clone(),
            extent: self.extent.clone(),
            allocator: self.allocator,
            generation: self.generation.clone(),
        }
    }

    /// See [`Pool::malloc`].
    ///
    /// # Errors
    /// As there.
    pub fn malloc(&self, layout: Layout) -> Result<DevicePtr<u8>, DeviceError> {
        match self.device.heap_calls() {
            Some(calls) => calls.malloc(self, layout),
            None => Err(self.no_calls()),
        }
    }

    /// See [`Pool::free`].
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

    /// Whether the heap was made fresh, by [`Pool::reset`], since this value was taken from its pool: what was in it then
    /// is gone.
    pub fn is_over(&self) -> bool {
        self.generation.is_over()
    }

    /// Refuses to use so many bytes of it when the heap was made fresh since.
    pub(super) fn check(&self, bytes: u64) -> Result<(), DeviceError> {
        if self.is_over() {
            return Err(DeviceError::Stale {
                allocator: self.allocator,
                bytes,
            });
        }
        Ok(())
    }

    /// The heap as what containers lie in.
    pub(super) fn home(&self) -> Home {
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

struct Reader<'a> {
    pool: &'a RawPool,
}

impl HeapReader for Reader<'_> {
    fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
        self.pool.buffer.read(first * 4, bytes_of_mut(words))
    }
}

impl<A> fmt::Debug for Pool<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("allocator", &self.raw.allocator)
            .field("bytes", &(self.raw.words() * 4))
            .finish()
    }
}
