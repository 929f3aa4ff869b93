//! The device kernels that warpheap itself uses.
//!
//! | module | what |
//! |---|---|
//! | [`calls`] | allocating in a heap on behalf of the host |
//! | [`maps`] | hash maps on behalf of the host |
//! | [`selftest`] | whether a device computes right what everything else relies on |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod calls;
pub mod maps;
pub mod selftest;

warpheap_rt::device_module!();
