//! The host's side of the allocators: how a heap is laid out, and what its metadata say.

mod bump;
pub mod container;
mod counted;
mod cuda_malloc;
mod direct;
mod failing;
mod fdg;
mod gallatin;
mod lists;
mod log;
mod ouroboros;
mod random_walk;
mod random_walk_malloc;
mod scatter;
mod walk_steps;
mod warp_heap;

pub use direct::DirectOutputConfig;
pub use failing::FAILING_KIND;
pub use fdg::{ArenaCounts, FdgConfig};
pub use gallatin::GallatinConfig;
pub use lists::ListsConfig;
pub use log::{DeviceLog, LogLine, LogLines};
pub use ouroboros::OuroborosConfig;
pub use random_walk::RandomWalkConfig;
pub use random_walk_malloc::RandomWalkMallocConfig;
pub use scatter::ScatterConfig;
pub use walk_steps::{CountsSteps, WalkSteps};
pub use warp_heap::WarpHeapConfig;
