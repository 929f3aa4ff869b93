//! The contract between a kernel, an allocator, a backend and the host.
//!
//! Two halves. The *device half* is `no_std`, compiles for every target a kernel compiles for,
//! and holds what a kernel author sees: [`DeviceAlloc`] and its extension traits, [`DevicePtr`],
//! [`HeapData`], [`Element`], the rules of layouts, and the layout of the heap header and of the block of
//! arguments that host and device agree on. The *host half*, module `host` behind the feature
//! `std`, holds what every backend implements (`host::Backend`) and what a program uses to own
//! device memory and to launch kernels.
//!
//! This crate depends on nothing else of warpheap.
#![no_std]

#[cfg(feature = "std")]
extern crate std;

pub mod abi;
mod alloc;
mod argument;
mod data;
mod element;
mod error;
mod extensions;
pub mod header;
#[cfg(feature = "std")]
pub mod host;
mod lanes;
pub mod layout;
mod memory;
mod ptr;
mod select;

pub use abi::LAYOUT_VERSION;
pub use alloc::{Caps, DeviceAlloc, HeapHandle, HeapParams};
pub use argument::Argument;
pub use core::alloc::Layout;
pub use data::HeapData;
pub use element::Element;
pub use error::{AllocError, Failure, KernelError};
pub use extensions::{
    Arena, BlockAlloc, HeapCounters, HeapCounts, HeapStats, HeapUsage, Reset, WarpArena,
};
pub use lanes::LaneMask;
pub use memory::HeapMemory;
pub use ptr::{ArrayHandle, DevicePtr, HeapPointee};
pub use select::{least, select};
