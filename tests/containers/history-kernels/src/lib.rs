//! Kernels whose lanes do different things with a map at the same time, and say when. All kinds of insertion are in each of them, so
//! compilers take longer for them than for all other kernels of maps; hence a crate of their own.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod histories;

warpheap_rt::device_module!();
