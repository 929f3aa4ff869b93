//! Traces of heaps: files that hold them, and what they tell.
//!
//! | module | what |
//! |---|---|
//! | [`file`](mod@file) | a trace as bytes |
//! | [`summary`] | a trace as tables: by kernel and by size |

pub mod file;
pub mod summary;
