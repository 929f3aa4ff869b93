//! The device kernels of the jobs on the command line.
//!
//! | module | what |
//! |---|---|
//! | [`graph`] | building a graph of growing vectors, and PageRank over it |
//! | [`join`] | a hash join that writes what it finds into pages of the heap |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod graph;
pub mod join;

warpheap_rt::device_module!();
