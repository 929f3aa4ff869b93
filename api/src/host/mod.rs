//! The host half: devices, memory that the host owns, heaps, launches.
//!
//! | module | what |
//! |---|---|
//! | `backend` | what a backend implements, and what it is told to launch |
//! | `error`, `failure`, `panic`, `mistake` | what can go wrong |
//! | `device` | an opened device, the handle that everything else is made from |
//! | `buffer` | raw device memory with an owner |
//! | `bytes`, `parts` | elements as bytes, and bytes of memory that are no whole words |
//! | `across` | copies between memory of two devices |
//! | `lend` | memory that another library of the device works on |
//! | `vec`, `plain`, `boxed` | typed device memory: [`DeviceVec`], what is done with plain data in it, [`DeviceBox`] |
//! | `plan`, `pool` | how a heap is laid out, and a heap on a device: [`Pool`] |
//! | `extent`, `growth` | how large a heap is at the moment, and by how much it grows |
//! | `stats`, `full` | what a heap holds at one moment; what is to be said of one that is full |
//! | `snapshot` | of which parts it is made at one moment |
//! | `audit` | what in its metadata contradicts itself |
//! | `module` | the kernels of a device crate, embedded and on a device |
//! | `launch`, `arg`, `check` | the shape of a launch, its arguments, and what is wrong with them |
//! | `told` | what `tracing` is told of launches |
//! | `naming` | what buffers are called where tools show them |
//! | `number` | which of several devices of one name a message means |
//! | `stream`, `event`, `reading`, `scope` | work that the host does not wait for |
//! | `queue` | what the three share: a queue of the backend, and what its work needs |
//! | `streams` | what a backend implements for it |
//! | `order` | who uses which memory at the moment |
//! | `bound` | which heap launches of a module use without being given it |
//! | `watch` | heaps that are asked for mistakes when launches have ended |
//! | `shared` | containers that lanes share, as arguments |
//! | `contents` | of which heap the containers in a launch's arguments are |
//! | `generation` | heaps that were made fresh, and what was in them before |

mod across;
mod arg;
mod audit;
mod backend;
mod bound;
mod boxed;
mod buffer;
mod bytes;
mod check;
mod contents;
mod device;
mod error;
mod event;
mod extent;
mod failure;
mod full;
mod generation;
mod growth;
mod launch;
mod lend;
mod mistake;
mod module;
mod naming;
mod number;
mod order;
mod panic;
mod parts;
mod plain;
mod plan;
mod pool;
mod queue;
mod reading;
mod scope;
mod shared;
mod snapshot;
mod stats;
mod stream;
mod streams;
mod told;
mod vec;
mod watch;

pub use arg::{Arg, Args, HeapArg, IntoArg, SliceArg};
pub use audit::Audit;
pub use backend::{
    Backend, BackendKind, BufferId, DeviceInfo, HostEntry, KernelImage, KernelResources, ModuleId,
};
pub use boxed::DeviceBox;
pub use buffer::{RawBuffer, aligned};
pub use device::Device;
pub use error::{DeviceError, PlanError};
pub use event::Event;
pub use failure::{Cause, KernelFailure};
pub use full::FullHeap;
pub use growth::Growth;
pub use launch::{Launch, LaunchConfig, LaunchReport, Prepared};
pub use lend::Lent;
pub use mistake::{
    BlockLayout, FoundBy, HeapAccess, HeapMistakes, LanePlace, Mistake, MistakeKind, Mistakes,
    TakeMistakes,
};
pub use module::{KernelImages, Module, Modules, PackedImage, unpack};
pub use naming::{BufferKind, KnownBuffer};
pub use panic::KernelPanic;
pub use plan::{Fill, HeapPlan, HeapReader, HostAlloc, Refill};
pub use pool::{HeapCalls, Pool, RawPool};
pub use reading::Reading;
pub use scope::{Scope, ScopedStream};
pub use shared::{ContainerWords, SharedArg};
pub use snapshot::{
    Ages, Changes, HeapMap, Pinned, Region, RegionUse, Snapshot, SnapshotSeries, UseChange,
    UseTotals,
};
pub use stats::{BlockSize, BudgetUse, ClassUsage, PoolStats, Usage};
pub use stream::Stream;
pub use streams::{Mark, StreamId, Streams, Work};
pub use vec::{DeviceVec, assert_plain};
