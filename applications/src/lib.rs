//! The device kernels of the jobs on the command line.
//!
//! | module | what |
//! |---|---|
//! | [`graph`] | building a graph of growing vectors, and PageRank over it |
//! | [`kmer`] | counting the k-mers of DNA sequences in a hash map |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod graph;
pub mod kmer;

warpheap_rt::device_module!();
