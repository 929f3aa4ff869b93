//! PTX's memory model for programs without branches: goes through all ways in which reads get their values and writes
//! of a word follow each other, and keeps those that the axioms allow.
//!
//! After section 8 of the PTX ISA, *Memory Consistency Model*, and its relational form: Lustig, Sahasrabuddhe and
//! Giroux, *A Formal Analysis of the NVIDIA PTX Memory Consistency Model*, ASPLOS 2019.
//!
//! | module | what |
//! |---|---|
//! | `event` | instructions, and what they are in an execution |
//! | `relation` | relations between events |
//! | `execution` | morally strong pairs; who reads from whom, and which write comes later |
//! | `order` | observation, synchronization, causality |
//! | `axioms` | what the model forbids, and what a race is |
//! | `search` | all executions of a program |
//!
//! What is simpler than in the ISA:
//!
//! - One scope, the device, that has all threads in it; one proxy; no aliases. Two strong operations are then always
//!   morally strong.
//! - Memory is words, and each access is one whole word: overlaps are complete, single-copy atomicity comes by itself.
//! - Release and acquire are fences of their own, and no access is one. The images have `fence.acq_rel.gpu` for each, which
//!   is both. There is no `fence.sc`, so the axiom Fence-SC says nothing.
//! - A read-modify-write is an `atom`, which reads and writes. A `red` would be in no acquire pattern, but the images have
//!   none. A compare-and-swap that fails is a load.
//! - The barrier is `bar.warp.sync`. The section names those of blocks and clusters only; that it orders memory for its
//!   threads is said where the instruction is described.
//! - Writes of a word are all in coherence order. In the ISA those that race are not, and a read-modify-write is atomic
//!   only beside what is morally strong. Without a race both come to the same; with one, an execution might be
//!   missed that no total order allows, and its race with it.
//! - The ISA leaves open what a dependency is. Here it is that a thread goes on only if a read gives a value.

mod axioms;
mod event;
mod execution;
mod order;
mod relation;
mod search;
#[cfg(test)]
mod tests;

pub use event::Op;
pub use search::{Program, Verdict};
