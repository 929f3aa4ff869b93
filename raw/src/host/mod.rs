//! The host half: what a heap is made of, and what PTX of this crate is made faster by. It knows of no library that drives a
//! device, and needs none.

mod layout;
pub mod ptx;
mod usage;

pub use layout::{Layout, LayoutError, Range};
pub use usage::UsageError;
pub use warpheap_api::host::{HostAlloc, PlanError, Usage};
/// The settings of allocators, their `Config`, and what else their folders give to the host.
pub use warpheap_rt::host::settings::*;
