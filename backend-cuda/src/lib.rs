//! The CUDA backend of warpheap: one NVIDIA GPU driven through the driver's library.
//!
//! | file | answers |
//! |---|---|
//! | `config` | which GPU is opened, and how long its kernels may take |
//! | `discover` | which GPUs there are |
//! | `backend` | what a backend does, on top of the rest |
//! | `state` | what all calls of a device share |
//! | `session` | context, the stream of calls that are waited for, and what is left after a fault |
//! | `memory`, `mapped` | buffers at aligned addresses; those that grow where they are |
//! | `room` | what happens when there is too little memory |
//! | `module`, `ptx`, `link`, `cubin` | kernels: loaded, missing, compiled apart, and how large |
//! | `fences` | fences that only acquire or only release, where GPU and driver have them |
//! | `globals` | the heap of Rust's own collections in kernels, and what panics leave |
//! | `run`, `own` | launches, fills and copies on the device that are waited for |
//! | `launching`, `ready` | launches in streams; one with everything looked up |
//! | `recent`, `table`, `ids` | kernels and buffers, found fast |
//! | `streams`, `transfers` | streams that users open, and their copies from and to the host |
//! | `stream`, `posts`, `reports`, `watch` | one of them; how far it is, and what its launches reported |
//! | `peers` | copies from one GPU to another |
//! | `lend` | buffers that another library works on |
//! | `staging` | pinned memory that copies go through |
//! | `bulk` | large copies from and to the host that are waited for |
//! | `beside`, `waiting` | what calls have to know of streams that work beside them, and how they wait for these |
//! | `nvtx` | what tools of NVIDIA's are told |
//! | `sys`, `status` | the functions of the driver; what an answer of one means |
//! | `driver`, `gpu`, `context`, `code`, `handles` | its objects: devices, contexts, loaded kernels, streams and events |
//!
//! Everything runs in the device's primary context, which every call makes current on its thread. Calls of
//! [`Backend`](warpheap_api::host::Backend) end when their effect has happened. Launches, fills and copies on the device go through
//! streams of the backend's own, which are what streams of users are: they overlap with each other, and nothing holds the state of the
//! device while it waits for them. Copies from and to the host have a stream of the driver for themselves, and hold the state until
//! they have ended, which no kernel keeps them from.
//!
//! # Building and linking
//!
//! Nothing is linked: the driver's library, `libcuda.so.1` (`nvcuda.dll` on Windows), is loaded by the first call. So a program is
//! built without a CUDA toolkit, and it *starts on any machine*: without a driver, [`enumerate`] and [`open_unchecked`] return
//! [`DeviceError::NoDevice`] and the other backends work.

mod backend;
mod beside;
mod bulk;
mod code;
mod config;
mod context;
mod cubin;
mod discover;
mod driver;
mod fences;
mod globals;
mod gpu;
mod handles;
mod ids;
mod launching;
mod lend;
mod link;
mod mapped;
mod memory;
mod module;
mod nvtx;
mod own;
mod peers;
mod posts;
mod ptx;
mod queries;
mod ready;
mod recent;
mod reports;
mod room;
mod run;
mod session;
mod staging;
mod state;
mod status;
mod stream;
mod streams;
mod sys;
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
