//! Data structures that grow in a heap: plain words, with the heap passed to every call that may
//! allocate or touch heap memory.

pub mod map;
mod peek;
mod vec;

pub use map::{Before, HeapHashMap, MapCursor};
pub use vec::HeapVec;
