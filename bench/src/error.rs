//! What can go wrong.

use thiserror::Error;
use warpheap_api::host::DeviceError;

/// Why nothing, or not all, was measured.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BenchError {
    /// The device, or opening it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// No allocator has this name.
    #[error("no allocator is called `{name}`; there are: {known}")]
    UnknownAllocator {
        /// What was asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A trace that cannot be replayed.
    #[error("{name} cannot be replayed: {why}")]
    Unreplayable {
        /// What it is called.
        name: String,
        /// Why, and what to do.
        why: &'static str,
    },
    /// [`Scenario::S20`](crate::scenario::Scenario::S20) without a trace.
    #[error("S20 replays a trace: name its file by --replay")]
    NoTrace,
    /// A cell that cannot be measured in a pool of this size.
    #[error(
        "{n} blocks of {size} bytes do not fit into half of a pool of {pool} bytes: ask for a larger --pool"
    )]
    PoolTooSmall {
        /// Number of lanes.
        n: u32,
        /// Bytes of each request.
        size: u32,
        /// Bytes of the pool.
        pool: u64,
    },
}
