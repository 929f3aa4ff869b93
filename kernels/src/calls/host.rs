//! The host's side: chooses the entry that fits a pool, launches it, reads the answer.

use super::{HeapFreeCountedEntry, HeapFreeEntry, HeapMallocCountedEntry, HeapMallocEntry};
use crate::Kernels;
use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};
use warpheap_rt::api::host::{
    Arg, Cause, Device, DeviceError, DeviceVec, HeapCalls, HostAlloc, HostEntry, IntoArg,
    LaunchConfig, Prepared, RawPool,
};
use warpheap_rt::api::{DevicePtr, Layout};
use warpheap_rt::device::*;
use warpheap_rt::host::FAILING_KIND;

/// The same device, on which the host can allocate in heaps of the library's allocators, counted or
/// not, and in those of WarpHeap that keep a trace.
///
/// # Errors
/// The kernels cannot be loaded; errors of the device.
pub fn attach(device: &Device) -> Result<Device, DeviceError> {
    let calls = Calls {
        kernels: crate::load(device)?,
        answer: Mutex::new(DeviceVec::zeroed(device, 1)?),
    };
    Ok(device.clone().with_heap_calls(Arc::new(calls)))
}

/// The library's kernels on this device: those that [`attach`] loaded, if it did.
///
/// # Errors
/// The kernels cannot be loaded; errors of the device.
pub(crate) fn kernels_of(device: &Device) -> Result<Kernels, DeviceError> {
    let calls = device
        .heap_calls()
        .and_then(|calls| calls.as_any().downcast_ref::<Calls>());
    match calls {
        Some(calls) => Ok(calls.kernels.clone()),
        None => crate::load(device),
    }
}

#[derive(Debug)]
struct Calls {
    kernels: Kernels,
    /// Where the kernel writes the handle; one call at a time uses it.
    answer: Mutex<DeviceVec<u32>>,
}

/// Name and host function of an entry, and whose image it lies in.
type Entry = (&'static str, HostEntry, &'static str);

/// The entries for heaps of one kind.
struct Entries {
    malloc: Entry,
    free: Entry,
}

/// The entries of an allocator, which has these kernels.
macro_rules! of {
    ($allocator:ty, $malloc:ident, $free:ident) => {
        Entries {
            malloc: (
                <$allocator as $malloc>::ENTRY,
                <$allocator as $malloc>::HOST,
                <$allocator as $malloc>::IMAGE,
            ),
            free: (
                <$allocator as $free>::ENTRY,
                <$allocator as $free>::HOST,
                <$allocator as $free>::IMAGE,
            ),
        }
    };
}

macro_rules! entries_of {
    ($($allocator:ident),* $(,)?) => {
        /// The entries for a kind of heap, [`HostAlloc::KIND`].
        fn entries(kind: u32) -> Option<Entries> {
            $(
                if kind == <$allocator as HostAlloc>::KIND {
                    return Some(of!($allocator, HeapMallocEntry, HeapFreeEntry));
                }
                if kind == <Counted<$allocator> as HostAlloc>::KIND {
                    let entries = of!(Counted<$allocator>, HeapMallocCountedEntry, HeapFreeCountedEntry);
                    return Some(entries);
                }
            )*
            if kind == <WarpHeap32 as HostAlloc>::KIND {
                return Some(of!(WarpHeap32, HeapMallocEntry, HeapFreeEntry));
            }
            if kind == <WarpHeap64 as HostAlloc>::KIND {
                return Some(of!(WarpHeap64, HeapMallocEntry, HeapFreeEntry));
            }
            // What the host asks of a heap that keeps a trace is in it.
            let is_traced = kind == <Traced<WarpHeap> as HostAlloc>::KIND;
            is_traced.then_some(of!(Traced<WarpHeap>, HeapMallocEntry, HeapFreeEntry))
        }
    };
}

warpheap_rt::for_each_allocator!(entries_of);

impl Calls {
    /// Entries for the pool's allocator.
    fn entries(&self, pool: &RawPool) -> Result<Entries, DeviceError> {
        // A heap that refuses requests when it is told to is the inner allocator's; the host's are not refused.
        entries(pool.kind & !FAILING_KIND).ok_or_else(|| DeviceError::BadLaunch {
            kernel: "heap_malloc".into(),
            why: format!(
                "the library has no kernels for {} heaps of kind {:#x}: allocate in a kernel of your own",
                pool.allocator, pool.kind
            ),
        })
    }

    /// One lane of `entry` on the pool.
    ///
    /// # Safety
    /// `entry` is one of the pool's allocator, and `first` and a layout are its parameters behind the
    /// heap.
    unsafe fn launch(&self, entry: Entry, pool: &RawPool, first: Arg, layout: Layout) -> Prepared {
        let size = layout.size() as u64;
        // An alignment beyond 32 bits becomes 0, which no allocator serves either.
        let align = u32::try_from(layout.align()).unwrap_or(0);
        let heap = Arg::Heap(pool.heap_arg());
        let args = vec![
            heap,
            first,
            (size as u32).into_arg(),
            ((size >> 32) as u32).into_arg(),
            align.into_arg(),
        ];
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: 1,
        };
        // SAFETY: the caller's promise; the entry belongs to this crate's module.
        unsafe {
            Prepared::new(
                self.kernels.module(entry.2).clone(),
                entry.0,
                entry.1,
                config,
                args,
            )
        }
    }
}

impl HeapCalls for Calls {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn malloc(&self, pool: &RawPool, layout: Layout) -> Result<DevicePtr<u8>, DeviceError> {
        let entries = self.entries(pool)?;
        // A panic elsewhere leaves nothing half-done in a buffer that every call overwrites.
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: a malloc entry of the pool's kind takes the heap, a slice of words, a layout.
        let launch = unsafe { self.launch(entries.malloc, pool, answer.arg_mut(), layout) };
        match launch.run() {
            Ok(_) => {
                let mut granule = [0];
                answer.copy_to(&mut granule)?;
                Ok(DevicePtr::from_granule(granule[0]))
            }
            Err(DeviceError::Kernel(failure)) => Err(match failure.first {
                Cause::Heap(cause) => pool.refused(layout, cause),
                Cause::Own(_) => failure.into(),
            }),
            Err(error) => Err(error),
        }
    }

    unsafe fn free(
        &self,
        pool: &RawPool,
        ptr: DevicePtr<u8>,
        layout: Layout,
    ) -> Result<(), DeviceError> {
        let entries = self.entries(pool)?;
        let ptr = DevicePtr::<u32>::from_granule(ptr.granule());
        // SAFETY: a free entry of the pool's kind takes the heap, a handle, a layout; the block is
        // the caller's promise.
        unsafe { self.launch(entries.free, pool, ptr.into_arg(), layout) }.run()?;
        Ok(())
    }
}
