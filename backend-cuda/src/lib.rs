//! The CUDA backend of warpheap: one NVIDIA GPU driven through [`cust`].
//!
//! | file | answers |
//! |---|---|
//! | `config` | which GPU is opened, and how long its kernels may take |
//! | `discover` | which GPUs there are |
//! | `backend` | what a backend does, on top of the rest |
//! | `session` | context, stream, waiting, and what is left after a fault |
//! | `memory` | buffers at aligned addresses |
//! | `module`, `ptx`, `cubin` | kernels: loaded, missing, and how large |
//! | `queue` | launches: queued together, timed, reported |
//! | `driver`, `status` | calls that `cust` lacks; what an answer of the driver means |
//!
//! Everything runs on one stream per device in the device's primary context; every call makes that
//! context current on its thread and ends when its effect has happened.

mod backend;
mod config;
mod cubin;
mod discover;
mod driver;
mod memory;
mod module;
mod ptx;
mod queue;
mod session;
mod status;

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
