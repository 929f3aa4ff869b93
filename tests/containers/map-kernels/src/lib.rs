//! Kernels that use the maps of a heap from many lanes at once. What they promise does not depend on the allocator, so they are
//! compiled for few: one that compilers take little time for, the default for maps, and one that fails when it is told to.
//!
//! The kernels of maps are divided among three crates, which compilers take side by side: these, those of histories, and those of
//! sets and of maps of containers. In one image with those of other containers they take the compiler of SPIR-V half an hour and 8 GB.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod maps;
pub mod mixes;

warpheap_rt::device_module!();
