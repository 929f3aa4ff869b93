//! Data structures that grow in a heap: plain words, with the heap passed to every call that may
//! allocate or touch heap memory.

mod block;
pub(crate) mod chunk_queue;
pub(crate) mod list;
pub(crate) mod queue;
pub(crate) mod shared_vec;
mod string;
mod team;
mod vec;

pub(crate) use block::word_of;
pub use chunk_queue::HeapChunkQueue;
pub use list::{HeapList, ListCursor};
pub use queue::{HeapQueue, QueueError};
pub use shared_vec::HeapSharedVec;
pub use string::HeapString;
pub use vec::HeapVec;
