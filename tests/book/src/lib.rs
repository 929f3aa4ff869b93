//! Every block of Rust in the documentation, each in the program that it is a part of: a module for each page.
//!
//! The build script takes the blocks out of the pages. `items!` puts one where items stand, `body!` where a function's body
//! stands. A block that is not named here fails the test `blocks`, with its page and line. What is no kernel is in a module
//! `host`, so that the crate also compiles for GPUs, as the test `devices` has it.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]
// The blocks are written for who reads them: for one lint or another they lack something.
#![allow(missing_docs, dead_code, unused_imports, unused_variables, clippy::all)]
#![allow(clippy::undocumented_unsafe_blocks, clippy::missing_safety_doc)]

/// A block of items: kernels, types, uses.
macro_rules! items {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/blocks/", $name, ".items.rs"));
    };
}

/// A block of statements, as the body of a function.
macro_rules! body {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/blocks/", $name, ".body.rs"))
    };
}

use warpheap::device::*;

// The module of this crate's kernels, which has to stand in its root.
items!("kernels.what-a-kernel-takes-1");

pub mod compaction;
pub mod containers;
pub mod debugging;
#[cfg(not(target_arch = "spirv"))]
pub mod fdgmalloc;
pub mod growth;
#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub mod heap_map;
pub mod kernels;
#[cfg(not(any(target_arch = "spirv", target_arch = "nvptx64")))]
pub mod raw;
pub mod readme;
pub mod several_devices;
pub mod streams;
pub mod tutorial;
pub mod two_heaps;
