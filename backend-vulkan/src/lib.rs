//! The Vulkan backend of warpheap: one device driven through [`ash`] and [`gpu_allocator`].
//!
//! | file | answers |
//! |---|---|
//! | `config` | which device is opened, how it is watched, and how long its kernels may take |
//! | `select`, `limits`, `family` | which devices there are, what they can do, and which of their queues are used |
//! | `backend`, `state` | what a backend does, on top of the rest; what is left after a loss |
//! | `calls` | launches and copies that are waited for |
//! | `instance`, `gpu`, `validation` | library, device and queues; what the validation layer says |
//! | `labels` | what objects are called where tools show them |
//! | `memory`, `transfer` | buffers, and moving bytes into and out of them |
//! | `module`, `isolate`, `compile`, `pipeline` | kernels: read, cut out for a block size, compiled, and those that are there |
//! | `cache` | what drivers compiled, on disk |
//! | `resources` | what a driver's compiler made of a kernel |
//! | `loops`, `function` | loops that branch once a round |
//! | `leaving` | values that leave loops, on drivers that lose them |
//! | `reconverge`, `partition` | whether lanes that parted meet again, and what modules ask for; which lanes have the same value |
//! | `fences` | modules that lose their fences, for tests |
//! | `commands`, `slot`, `line` | command buffers and barriers; submissions that are waited for; queues |
//! | `launch`, `queue`, `flight`, `ticks` | launches: checked, queued together, timed, reported |
//! | `streaming`, `streams`, `stream`, `timeline` | work that is not waited for, beside other work; how far it is |
//! | `order`, `parts`, `staging`, `stamps` | a piece of it: looked up, recorded, with its data or its timestamp |
//! | `pace` | a device's clock is up before launches that are timed |
//! | `error` | what an answer of the driver means |
//!
//! A device must offer Vulkan 1.2 with the Vulkan memory model at device scope and subgroup
//! operations in compute; subgroups may have any size up to 64. Launches that are waited for share one
//! queue, copies that are waited for another one, and streams the rest of its family. Where a family has
//! fewer queues they share what there is. Nothing holds the state of the device while it waits for it, or for the driver's compiler.

mod addressed;
mod backend;
mod cache;
mod calls;
mod commands;
mod compile;
mod config;
mod error;
mod family;
mod fences;
mod flight;
mod function;
mod gpu;
mod instance;
mod isolate;
mod labels;
mod launch;
mod layout;
mod leaving;
mod limits;
mod line;
mod loops;
mod memory;
mod module;
mod order;
mod pace;
mod partition;
mod parts;
mod pipeline;
mod queue;
mod reconverge;
mod resources;
mod select;
mod slot;
mod staging;
mod stamps;
mod state;
mod stream;
mod streaming;
mod streams;
mod ticks;
mod timeline;
mod transfer;
mod validation;

pub use backend::VulkanBackend;
pub use config::{
    DeviceChoice, ENV_CACHE, ENV_DESCRIPTORS, ENV_DEVICE, ENV_GROUPS, ENV_TIMEOUT, ENV_VALIDATION,
    VulkanConfig,
};
pub use select::{DeviceKind, FoundDevice};

use std::sync::Arc;
use warpheap_api::host::{Device, DeviceError};

/// Opens a device without the self-test: to look at one that may fail it.
///
/// # Errors
/// As [`VulkanBackend::new`].
pub fn open_unchecked(config: &VulkanConfig) -> Result<Device, DeviceError> {
    Ok(Device::new(Arc::new(VulkanBackend::new(config)?)))
}

/// Lists the devices that the Vulkan library shows, also those that cannot be used.
///
/// # Errors
/// [`DeviceError::NoDevice`] if there is no library, no driver or no device, with what to install.
pub fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let instance = instance::Instance::new(false)?;
    let found = select::candidates(&instance)?;
    Ok(found.iter().map(select::describe_candidate).collect())
}
