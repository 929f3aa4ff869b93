//! The host half of the facade: devices that are opened, checked and ready to launch on.
//!
//! | module | what |
//! |---|---|
//! | `device` | [`Device`]: which one is opened, and what is done before it is handed out |
//! | `backends` | which backends and devices there are; one small file for each backend |

pub mod backends;
mod device;

pub use device::Device;
pub use warpheap_rt::api::host::{
    BackendKind, BlockSize, ClassUsage, DeviceBox, DeviceError, DeviceInfo, DeviceVec, HostAlloc,
    KernelFailure, KernelImage, LaunchConfig, LaunchReport, Module, PlanError, Pool, PoolStats,
    Prepared, RawBuffer, Usage,
};
