//! Dynamic memory allocation for code that runs on a GPU.
//!
//! A device crate depends on this crate alone. Its kernels are ordinary generic functions that
//! allocate in a [`Heap`](device::Heap); one source becomes CUDA PTX, Vulkan SPIR-V and host code, and
//! the program that launches it picks device and allocator at run time.
//!
//! The device half, in the device crate's library:
//!
//! ```
//! # // What `device_module!()` makes, which needs a build script.
//! # pub struct Kernels(warpheap::Module);
//! # impl Kernels { pub fn module(&self, _: &str) -> &warpheap::Module { &self.0 } }
//! # fn main() {}
//! use warpheap::device::*;
//!
//! #[kernel(allocators = all)]
//! pub fn squares<A: DeviceAlloc>(heap: Heap<A>, list: &mut HeapVec<u32>) -> Result<(), AllocError> {
//!     for k in 0..=thread::index() {
//!         list.push(heap, k * k)?; // grows on the device
//!     }
//!     Ok(()) // an Err is counted and reaches the host
//! }
//! ```
//!
//! and the host half, which names no backend:
//!
//! ```no_run
//! use warpheap::{Device, Pool};
//!
//! # fn main() -> Result<(), warpheap::DeviceError> {
//! let gpu = Device::open()?; // the best backend that is compiled in and present
//! let pool: Pool = gpu.reserve(64 << 20)?; // a heap on that device, managed by `WarpHeap`
//! println!("{}: {}", gpu.info().name, pool.stats()?);
//! # Ok(())
//! # }
//! ```
//!
//! | module | what lives there |
//! |---|---|
//! | [`device`] | what kernels use |
//! | the root | what host code uses: [`Device`], [`Pool`], [`DeviceVec`], [`LaunchConfig`], … |
//! | [`backends`] | which backends are compiled in and which devices they find |
//! | [`rt`], [`api`] | all of the device runtime and of the contract |
//!
//! Backends are the additive cargo features `host` (an emulator on CPU threads; on by default),
//! `cuda` and `vulkan`.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
mod host;

pub use warpheap_rt as rt;
pub use warpheap_rt::CHECKED;
#[cfg(feature = "allocator-api2")]
pub use warpheap_rt::allocator_api2;
pub use warpheap_rt::{
    HeapData, KernelError, api, device, device_module, global_heap, heap_print, heap_write, kernel,
};

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
pub use host::*;
