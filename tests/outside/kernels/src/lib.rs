//! Kernels as a user of the library writes them: compiled to PTX, to SPIR-V, and for the host.
//!
//! | module | what its lanes do |
//! |---|---|
//! | [`branches`] | grow vectors of their own, in three branches |
//! | [`trees`] | build search trees of boxes, without recursion |
//! | [`exploration`] | explore a graph with a map and a queue, both shared by all |
//! | [`blocks`] | malloc, calloc, realloc and free in a long kernel of many functions |
//! | [`octrees`] | build octrees over random points, and walk them depth first |
//! | [`agents`] | write to each other, step by step, into inboxes that grow and shrink |
//! | [`products`] | multiply sparse matrices whose rows have any length |
//!
//! What a lane has to come to is computed by functions that the host calls as well.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod agents;
pub mod blocks;
pub mod branches;
pub mod exploration;
mod numbers;
pub mod octrees;
pub mod products;
pub mod trees;

pub use numbers::mix;

warpheap::device_module!();
