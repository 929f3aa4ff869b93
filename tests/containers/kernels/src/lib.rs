//! Kernels that use the containers of a heap from many lanes at once. What they promise does not depend on
//! the allocator, so they are compiled for few: one that compilers take little time for, the default for maps, and one that
//! fails when it is told to.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod list;
pub mod maps;
pub mod nested;
pub mod queue;
pub mod rates;
pub mod sets;
pub mod shared_vec;
pub mod string;
pub mod text;
pub mod vec;

warpheap_rt::device_module!();
