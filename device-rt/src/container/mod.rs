//! Data structures that grow in a heap: plain words, with the heap passed to every call that may
//! allocate or touch heap memory.

mod block;
mod boxed;
pub(crate) mod chunk_queue;
mod handle;
pub(crate) mod list;
pub mod map;
mod multi_map;
mod peek;
mod queue;
pub(crate) mod ring;
mod set;
pub(crate) mod shared_vec;
mod string;
mod together;
mod vec;

pub use boxed::HeapBox;
pub use chunk_queue::HeapChunkQueue;
pub use list::{HeapList, ListCursor};
pub use map::{Before, HeapHashMap, MapCursor};
pub use multi_map::{HeapMultiMap, MultiMapCursor};
pub use queue::{HeapQueue, QueueError};
pub use set::{HeapHashSet, SetCursor};
pub use shared_vec::HeapSharedVec;
pub use string::{HeapString, HeapText};
crate::arch::where_all_of_rust! {
    pub use string::StringWriter;
}
pub use together::{Together, WholeBlock};
pub use vec::{HeapVec, VecCursor};
