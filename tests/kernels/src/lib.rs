//! The device kernels of the conformance suite.
//!
//! Few and general, because every kernel is compiled for every allocator: what a test does is
//! mostly data, a list of actions that the lanes of one kernel carry out.
//!
//! | module | what |
//! |---|---|
//! | [`pattern`] | contents that tell whose block it is |
//! | [`program`] | lanes that carry out lists of mallocs, frees and reallocs |
//! | [`branches`] | lanes that allocate and free in different branches |
//! | [`handover`] | lanes that pass blocks to each other while all of them allocate |
//! | [`warp`] | the calls that a warp makes together |
//! | [`workgroup`] | the calls that a block of lanes makes together |
//! | [`vectors`] | growing vectors, and vectors of vectors |
//! | [`arena`] | arenas of warps |
//! | [`counts`] | statistics as a kernel reads them |
//! | [`whole`] | what concerns a whole heap: freeing everything, what is in use |
//! | [`cuda_malloc`] | CUDA's own malloc |
//! | [`errors`] | kernels that return errors |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod arena;
pub mod branches;
pub mod counts;
pub mod cuda_malloc;
pub mod errors;
pub mod handover;
pub mod pattern;
pub mod program;
pub mod vectors;
pub mod warp;
pub mod whole;
pub mod workgroup;

warpheap_rt::device_module!();
