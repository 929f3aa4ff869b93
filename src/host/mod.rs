//! The host half of the facade: devices that are opened, checked and ready to launch on.
//!
//! | module | what |
//! |---|---|
//! | `device` | [`Device`]: which one is opened, and what is done before it is handed out |
//! | `backends` | which backends and devices there are; one small file for each backend |

pub mod backends;
mod device;

pub use device::Device;
pub use warpheap_kernels::maps::{DeviceHashMap, DeviceHashSet, DeviceMultiMap, MapAlloc};
pub use warpheap_rt::api::host::{
    Ages, BackendKind, BlockLayout, BlockSize, BudgetUse, Cause, Changes, ClassUsage, DeviceBox,
    DeviceError, DeviceInfo, DeviceVec, Event, FoundBy, FullHeap, Growth, HeapMistakes, HostAlloc,
    KernelFailure, KernelImage, KernelPanic, LanePlace, LaunchConfig, LaunchReport, Lent, Mistake,
    MistakeKind, Mistakes, Module, Pinned, PlanError, PoolStats, Prepared, RawBuffer, RawPool,
    Reading, Region, RegionUse, Scope, ScopedStream, SharedArg, Snapshot, SnapshotSeries, Stream,
    Usage, UseChange, UseTotals,
};

pub use warpheap_rt::host::container::{
    DeviceChunkQueue, DeviceHeapVec, DeviceList, DeviceQueue, DeviceSharedVec, DeviceString,
    free_strings, free_vectors, read_strings, read_vectors, vector_lengths,
};

pub use warpheap_rt::host::{
    CheckedConfig, DeviceLog, HeapInspection, LimitedConfig, LiveBlock, LogLine, LogLines, Trace,
    TraceCall, TraceEvent, TracedConfig, trace_of,
};

use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::api::host;

/// A heap on a device; [`WarpHeap`] manages it unless another allocator is named:
///
/// ```no_run
/// use warpheap::device::ScatterAlloc;
/// use warpheap::{Device, Pool};
///
/// # fn main() -> Result<(), warpheap::DeviceError> {
/// let device = Device::open()?;
/// let pool: Pool = device.reserve(64 << 20)?;
/// let other = device.reserve::<ScatterAlloc>(64 << 20)?;
/// # Ok(())
/// # }
/// ```
///
/// See [`api::host::Pool`](host::Pool) for what it does.
pub type Pool<A = WarpHeap> = host::Pool<A>;
