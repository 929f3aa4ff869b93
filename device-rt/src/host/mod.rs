//! The host's side of the allocators: how a heap is laid out, and what its metadata say.

mod bump;
mod counted;
mod ouroboros;
mod scatter;
mod warp_heap;

pub use ouroboros::OuroborosConfig;
pub use scatter::ScatterConfig;
pub use warp_heap::WarpHeapConfig;
