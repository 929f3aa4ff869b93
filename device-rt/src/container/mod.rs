//! Data structures that grow in a heap: plain words, with the heap passed to every call that may
//! allocate or touch heap memory.

mod list;
mod team;
mod vec;

pub use list::{HeapList, ListCursor};
pub use vec::HeapVec;
