//! Kernels that use sets, multimaps and maps of containers from many lanes at once, for as few allocators as those of the maps.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod nested;
pub mod sets;

warpheap_rt::device_module!();
