//! The command line: `warpheap`, `warpheap graph`, `warpheap doctor`.

mod args;
mod error;
mod graph;
mod progress;
mod size;
mod text;
