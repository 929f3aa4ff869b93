//! Owners of containers in a heap, on the host: each makes one, fills it, reads it back, and frees it when it
//! is dropped.
//!
//! They read and write the heap's memory between launches. Launches take what `handle` or `ptr` gives; `handle` keeps the
//! container until they have ended.
//! What elements own themselves is not freed with them.

mod chunk_queue;
mod list;
mod memory;
mod queue;
mod shared_vec;
mod string;
mod vec;

pub use chunk_queue::DeviceChunkQueue;
pub use list::{DeviceList, free_lists, make_lists, read_lists};
pub use queue::DeviceQueue;
pub use shared_vec::DeviceSharedVec;
pub use string::{DeviceString, free_strings, read_strings};
pub use vec::{DeviceHeapVec, free_vectors, read_vectors, vector_lengths};
