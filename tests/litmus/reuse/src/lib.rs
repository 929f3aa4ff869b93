//! `reuse`: lanes malloc and free blocks of a small heap, with every allocator, and look at what they are handed.
//!
//! | module | what |
//! |---|---|
//! | [`stamps`] | what an owner leaves in a granule, and what the next one makes of it |
//! | [`circulate`] | the kernel |
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod circulate;
pub mod stamps;

warpheap::device_module!();
