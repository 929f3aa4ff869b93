//! Kernels that use Rust's own collections.
//!
//! | module | what |
//! |---|---|
//! | [`collections`] | `Vec`, `Box<dyn Trait>`, `Rc`, `String`, `BTreeMap` in the global heap |
//! | [`in_heap`] | `Vec<T, Heap<A>>` and `Box<T, Heap<A>>`; `write!` into a `HeapString` |
//! | [`panics`] | kernels that panic, and those that get no memory |
#![cfg_attr(target_arch = "nvptx64", no_std)]

extern crate alloc;

pub mod collections;
pub mod in_heap;
pub mod panics;

warpheap_rt::device_module!();
warpheap_rt::global_heap!(warpheap_rt::alloc::WarpHeap);
