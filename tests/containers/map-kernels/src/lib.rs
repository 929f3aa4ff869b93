//! Kernels that use the maps and sets of a heap from many lanes at once. What they promise does not depend on
//! the allocator, so they are compiled for few: one that compilers take little time for, the default for maps, and one that
//! fails when it is told to. A crate of their own beside those of the other containers: in one image with them they take the
//! compiler of SPIR-V half an hour and 8 GB.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod maps;
pub mod nested;
pub mod sets;

warpheap_rt::device_module!();
