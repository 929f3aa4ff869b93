//! The device kernels of the jobs on the command line.
//!
//! | module | what |
//! |---|---|
//! | [`csr`] | rebuilding compressed sparse rows, which [`rows`] are measured against |
//! | [`cut`] | rows cut by the process that joins them |
//! | [`graph`] | building a graph of growing vectors |
//! | [`join`] | a hash join that writes what it finds into pages of the heap |
//! | [`kmer`] | counting the k-mers of DNA sequences in a hash map |
//! | [`map`] | filling a hash map, and asking it |
//! | [`minimizer`] | which process counts a k-mer |
//! | [`rank`] | PageRank over vectors of a graph |
//! | [`rows`] | a graph whose edges come and go |
//! | [`scan`] | prefix sums |
//! | [`supermer`] | runs of k-mers cut by the process that counts them |
#![cfg_attr(any(target_arch = "spirv", target_arch = "nvptx64"), no_std)]

pub mod csr;
pub mod cut;
pub mod graph;
pub mod join;
pub mod kmer;
pub mod map;
pub mod minimizer;
pub mod rank;
pub mod rows;
pub mod scan;
mod search;
pub mod supermer;

warpheap_rt::device_module!();
