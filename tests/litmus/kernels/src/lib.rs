//! Litmus tests over the words of a heap in which nothing is allocated by kernels: what fences order, and whether the
//! device shows what they prevent.
//!
//! | module | shape |
//! |---|---|
//! | [`message_passing`] | `mp`: data and a flag |
//! | [`store_buffering`] | `sb`: each of two lanes writes one word and reads the other's |
//! | [`coherence`] | `corr`: two reads of one word |
//! | [`mailbox`] | `mailbox`: memory handed over through a word, as the least of allocators does it |
//!
//! The first three run without pause on the same words: a lane writes ever greater numbers, so whoever reads a smaller
//! one after a greater one saw them out of order, however far lanes have drifted apart.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

pub mod coherence;
pub mod mailbox;
pub mod message_passing;
pub mod pairs;
pub mod store_buffering;

warpheap::device_module!();
