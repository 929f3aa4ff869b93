//! The CUDA backend of warpheap: one NVIDIA GPU driven through [`cust`].
//!
//! | file | answers |
//! |---|---|
//! | `config` | which GPU is opened, and how long its kernels may take |
//! | `discover` | which GPUs there are |
//! | `backend` | what a backend does, on top of the rest |
//! | `state` | what all calls of a device share |
//! | `session` | context, the stream of calls that are waited for, and what is left after a fault |
//! | `memory` | buffers at aligned addresses |
//! | `module`, `ptx`, `link`, `cubin` | kernels: loaded, missing, compiled apart, and how large |
//! | `fences` | fences that only acquire or only release, where GPU and driver have them |
//! | `globals` | the heap of Rust's own collections in kernels, and what panics leave |
//! | `run` | launches, fills and copies on the device that are waited for |
//! | `launching`, `ready` | launches in streams; one with everything looked up |
//! | `recent`, `table` | kernels and buffers, found fast |
//! | `streams`, `transfers` | streams that users open, and their copies from and to the host |
//! | `stream`, `posts`, `reports`, `watch` | one of them; how far it is, and what its launches reported |
//! | `staging` | pinned memory that copies go through |
//! | `beside`, `waiting` | what calls have to know of streams that work beside them, and how they wait for these |
//! | `driver`, `handles`, `status` | calls that `cust` lacks; what an answer of the driver means |
//!
//! Everything runs in the device's primary context, which every call makes current on its thread. Calls of
//! [`Backend`](warpheap_api::host::Backend) end when their effect has happened. Launches, fills and copies on the device go through
//! streams of the backend's own, which are what streams of users are: they overlap with each other, and nothing holds the state of the
//! device while it waits for them. Copies from and to the host have a stream of the driver for themselves, and hold the state until
//! they have ended, which no kernel keeps them from.
//!
//! # Building and linking
//!
//! `cust` links the driver's library, `libcuda`, and its build script ends with "Could not find a cuda
//! installation" where it finds neither a CUDA toolkit nor the folder that `CUDA_LIBRARY_PATH` names.
//! There are two ways to get one:
//!
//! * `cargo xtask cuda-stub` makes a static `libcuda.a` in `target/cuda-stub`, where this workspace's
//!   cargo configuration looks for it. It needs no toolkit, and it loads the driver's own `libcuda.so.1`
//!   on the first call. A program that was linked so *starts on any machine*: without a driver,
//!   [`enumerate`] and [`open_unchecked`] return [`DeviceError::NoDevice`] and the other backends work.
//! * With a CUDA toolkit alone, the program is linked to `libcuda.so.1` itself. It then *does not start*
//!   on a machine without an NVIDIA driver ("error while loading shared libraries: libcuda.so.1"): give
//!   such machines a program that was built without the feature `cuda`, or with the stub.
//!
//! A program outside this workspace uses the stub by setting `CUDA_LIBRARY_PATH` to its folder.

mod backend;
mod beside;
mod config;
mod cubin;
mod discover;
mod driver;
mod fences;
mod globals;
mod handles;
mod launching;
mod link;
mod memory;
mod module;
mod posts;
mod ptx;
mod queries;
mod ready;
mod recent;
mod reports;
mod run;
mod session;
mod staging;
mod state;
mod status;
mod stream;
mod streams;
mod table;
mod transfers;
mod waiting;
mod watch;

pub use backend::CudaBackend;
pub use config::CudaConfig;
pub use discover::{FoundDevice, enumerate};
pub use module::FunctionInfo;

use std::sync::Arc;
use warpheap_api::host::{Device, DeviceError};

/// Opens a GPU without the self-test: to look at a device that may fail it.
///
/// # Errors
/// As [`CudaBackend::new`].
pub fn open_unchecked(config: &CudaConfig) -> Result<Device, DeviceError> {
    Ok(Device::new(Arc::new(CudaBackend::new(config)?)))
}
