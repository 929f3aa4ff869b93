//! The kernels of a tree of tasks that nobody knows before it is walked: compiled to PTX, to SPIR-V, and for the host.
//!
//! | file | what |
//! |---|---|
//! | `tree` | the tree: which tasks a task leads to |
//! | `sharing` | warps that walk it on their own, and share what they have by queues |
//! | `stack` | what a warp comes back to |
//! | `levels` | the other way, to compare: a launch for each level |
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

warpheap::device_module!();

mod levels;
mod sharing;
mod stack;
mod tree;

pub use levels::*;
pub use sharing::*;
pub use tree::{CHILDREN, Family, Tree};
