//! The device kernels of warpheap's measurements.
//!
//! | module | what |
//! |---|---|
//! | [`floors`] | what no allocator can beat: an empty kernel, one store per lane, one fence per warp; and a short delay |
//! | [`arenas`] | arenas of warps: a request per lane, and the end of them all |
//! | [`mix`] | which size a request has |
//! | [`pattern`] | what is written to blocks |
//! | [`requests`] | one request per lane: malloc, free |
//! | [`contents`] | whether the blocks that were handed out overlap |
//! | [`churn`] | lanes that free and allocate in turn |
//! | [`growth`] | blocks and vectors that grow |
//! | [`sizes`] | blocks whose sizes change |
//! | [`replay`](mod@replay) | the requests of a trace |
//! | [`soak`](mod@soak) | what the lanes of a long run do |
//! | [`handover`] | blocks that one kernel allocates and another frees |
//! | [`latency`] | the time of single mallocs |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod arenas;
pub mod churn;
pub mod contents;
pub mod floors;
pub mod growth;
pub mod handover;
pub mod latency;
pub mod mix;
pub mod pattern;
pub mod replay;
pub mod requests;
pub mod sizes;
pub mod soak;

warpheap_rt::device_module!();
