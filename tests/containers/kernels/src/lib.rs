//! Kernels that use the containers of a heap, but for maps and sets, from many lanes at once. What they promise does not
//! depend on the allocator, so they are compiled for few: one that compilers take little time for, and one that fails when
//! it is told to; what is measured, for the default and `Bump`.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod list;
pub mod queue;
pub mod queue_rates;
pub mod rates;
pub mod shared_vec;
pub mod string;
pub mod text;
pub mod vec;

warpheap_rt::device_module!();
