//! The device kernels of warpheap's measurements.
//!
//! | module | what |
//! |---|---|
//! | [`floors`] | what no allocator can beat: an empty kernel, one store per lane; and a short delay |
//! | [`requests`] | one request per lane: malloc, free |
//! | [`contents`] | whether the blocks that were handed out overlap |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod contents;
pub mod floors;
pub mod requests;

warpheap_rt::device_module!();
