//! The host's side of the allocators: how a heap is laid out, and what its metadata say.

mod bump;
mod counted;
mod cuda_malloc;
mod direct;
mod fdg;
mod lists;
mod scatter;
mod warp_heap;

pub use direct::DirectOutputConfig;
pub use fdg::{ArenaCounts, FdgConfig};
pub use lists::ListsConfig;
pub use scatter::ScatterConfig;
pub use warp_heap::WarpHeapConfig;
