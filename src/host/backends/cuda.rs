//! CUDA: the GPUs that the driver lists, in its order.

use super::{Driver, FoundDevice};
use warpheap_cuda::CudaConfig;
use warpheap_rt::api::host::{Device, DeviceError};

pub(super) const DRIVER: Driver = Driver {
    check,
    enumerate,
    open,
    variable: Some("WARPHEAP_CUDA_DEVICE"),
};

fn check() -> Result<(), DeviceError> {
    CudaConfig::from_env()?;
    Ok(())
}

fn enumerate() -> Result<Vec<FoundDevice>, DeviceError> {
    let found = warpheap_cuda::enumerate()?.into_iter();
    Ok(found
        .map(|gpu| FoundDevice {
            index: gpu.index,
            name: gpu.name,
            driver: gpu.driver,
            kind: format!(
                "GPU, compute capability {}.{}",
                gpu.capability.0, gpu.capability.1
            ),
            warp_width: None,
            memory_bytes: gpu.memory_bytes,
            problem: gpu.problem,
            remark: None,
            rank: 0,
        })
        .collect())
}

fn open(index: usize) -> Result<Device, DeviceError> {
    // What was chosen here wins over what the environment says of the device alone.
    let config = CudaConfig {
        device: index,
        ..CudaConfig::from_env()?
    };
    warpheap_cuda::open_unchecked(&config)
}
