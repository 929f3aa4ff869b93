//! Which GPUs there are.

use crate::config::CudaConfig;
use crate::gpu::Gpu;
use crate::status::{Status, no_device};
use crate::sys::device as is;
use crate::{driver, ptx};
use warpheap_api::host::{BackendKind, DeviceError, DeviceInfo};

/// A GPU that the driver lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundDevice {
    /// Its index: what [`CudaConfig::device`] takes.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// Its compute capability.
    pub capability: (u32, u32),
    /// Its memory, in bytes.
    pub memory_bytes: u64,
    /// Its place on the PCI bus, domain:bus:device.
    pub pci: String,
    /// The versions of CUDA and of the driver.
    pub driver: String,
    /// Why it cannot be opened, if that is known beforehand.
    pub problem: Option<String>,
}

/// Lists the GPUs that the driver shows, also those that cannot be opened.
///
/// # Errors
/// [`DeviceError::NoDevice`] if there is no driver or no GPU, with what to do.
pub fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let count = count()?;
    (0..count)
        .map(|index| Ok(describe(index, gpu(index)?)))
        .collect()
}

/// The GPU that `config` names, with what is known of it.
pub(crate) fn find(config: &CudaConfig) -> Result<(Gpu, FoundDevice, DeviceInfo), DeviceError> {
    let count = count()?;
    if config.device >= count {
        return Err(no_device(format!(
            "GPU {} was asked for, the driver lists {count} ({}); set WARPHEAP_CUDA_DEVICE to one of them",
            config.device,
            match count {
                1 => "number 0".to_string(),
                _ => format!("numbers 0 to {}", count - 1),
            }
        )));
    }
    let gpu = gpu(config.device)?;
    let found = describe(config.device, gpu);
    if let Some(problem) = &found.problem {
        return Err(no_device(format!("GPU {}: {problem}", found.name)));
    }
    let at_least_one = |attribute, otherwise: u32| match gpu.value(attribute) {
        0 => otherwise,
        known => known,
    };
    let info = DeviceInfo {
        backend: BackendKind::Cuda,
        name: found.name.clone(),
        driver: found.driver.clone(),
        warp_width: at_least_one(is::WARP_SIZE, 32),
        max_block_dim: at_least_one(is::MAX_THREADS_PER_BLOCK, 1024),
        max_grid_dim: at_least_one(is::MAX_GRID_DIM_X, i32::MAX as u32),
        max_buffer_bytes: found.memory_bytes,
        memory_bytes: found.memory_bytes,
    };
    Ok((gpu, found, info))
}

/// How many GPUs there are; at least one.
fn count() -> Result<usize, DeviceError> {
    let count = driver::init().and_then(|()| Gpu::count());
    match count.map_err(|refused| refused.status.no_device())? {
        0 => Err(Status(100).no_device()),
        some => Ok(some),
    }
}

fn gpu(index: usize) -> Result<Gpu, DeviceError> {
    Gpu::get(index).map_err(|refused| refused.status.no_device())
}

fn describe(index: usize, gpu: Gpu) -> FoundDevice {
    let capability = (
        gpu.value(is::COMPUTE_CAPABILITY_MAJOR),
        gpu.value(is::COMPUTE_CAPABILITY_MINOR),
    );
    FoundDevice {
        index,
        name: gpu.name().unwrap_or_else(|| format!("GPU {index}")),
        capability,
        memory_bytes: gpu.memory(),
        pci: format!(
            "{:04x}:{:02x}:{:02x}",
            gpu.value(is::PCI_DOMAIN_ID),
            gpu.value(is::PCI_BUS_ID),
            gpu.value(is::PCI_DEVICE_ID)
        ),
        driver: driver_text(),
        problem: problem(capability, gpu.value(is::COMPUTE_MODE)),
    }
}

/// Why a GPU of this compute capability and compute mode cannot be opened.
fn problem(capability: (u32, u32), compute_mode: u32) -> Option<String> {
    const PROHIBITED: u32 = 2;
    if capability < ptx::OLDEST {
        let (major, minor) = capability;
        let (oldest, minor_of_oldest) = ptx::OLDEST;
        return Some(format!(
            "compute capability {major}.{minor}; warpheap needs {oldest}.{minor_of_oldest} (Volta) or later: use another GPU, or Vulkan"
        ));
    }
    if compute_mode == PROHIBITED {
        return Some(
            "its compute mode is Prohibited; `nvidia-smi -c DEFAULT` allows programs to use it"
                .into(),
        );
    }
    None
}

/// For example `CUDA 13.0 (driver 580.65.06)`.
fn driver_text() -> String {
    let cuda = match driver::version() {
        Ok(version) => format!("CUDA {}.{}", version / 1000, version % 1000 / 10),
        Err(_) => "CUDA".to_string(),
    };
    let module = std::fs::read_to_string("/sys/module/nvidia/version")
        .or_else(|_| std::fs::read_to_string("/proc/driver/nvidia/version"));
    match module.ok().as_deref().and_then(kernel_module_version) {
        Some(version) => format!("{cuda} (driver {version})"),
        None => cuda,
    }
}

/// The version in what the kernel module says of itself: the first word of numbers and dots.
fn kernel_module_version(text: &str) -> Option<&str> {
    let first = text.lines().next()?;
    first.split_whitespace().find(|word| {
        let number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        word.contains('.') && word.split('.').all(number)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_of_the_kernel_module() {
        assert_eq!(kernel_module_version("580.65.06\n"), Some("580.65.06"));
        let long = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19\nGCC version: gcc 12.2.0\n";
        assert_eq!(kernel_module_version(long), Some("535.129.03"));
        let open =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build\n";
        assert_eq!(kernel_module_version(open), Some("580.95.05"));
        assert_eq!(kernel_module_version(""), None);
        assert_eq!(kernel_module_version("unknown\n"), None);
    }

    #[test]
    fn old_and_closed_gpus_say_why() {
        let old = problem((6, 1), 0).unwrap();
        assert!(old.contains("6.1") && old.contains("another GPU"), "{old}");
        assert!(problem((9, 0), 2).unwrap().contains("Prohibited"));
        assert_eq!(problem((7, 0), 0), None);
        assert_eq!(problem((12, 0), 3), None);
    }
}
