//! What the tests on a GPU share: opening it, or saying that there is none, and launches by hand.
#![allow(dead_code, reason = "each test program uses a part of it")]

pub mod streams;

use std::time::Duration;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{
    Arg, Device, DeviceError, DeviceVec, IntoArg, KernelImage, LaunchConfig, Module, Prepared,
};
use warpheap_cuda::{CudaConfig, open_unchecked};

/// The kernels of `kernels.ptx`.
pub const IMAGE: KernelImage = KernelImage {
    name: "cuda-test-kernels",
    ptx: Some(include_str!("kernels.ptx")),
    spirv: None,
};

/// The kernels of [`IMAGE`], all of them loaded: to load one waits for what runs.
pub fn kernels(device: &Device) -> Module {
    let module = device.load(&IMAGE).unwrap();
    let text = IMAGE.ptx.unwrap_or_default();
    for entry in text.split(".entry ").skip(1) {
        let name = entry.split('(').next().unwrap_or_default();
        module.load_kernel(name, 256).unwrap();
    }
    module
}

/// The first GPU, which works and gives up on launches after 0.2 s, and its kernels.
pub fn open_impatient() -> Option<(Device, Module)> {
    let device = open(&CudaConfig {
        timeout: Duration::from_millis(200),
        ..CudaConfig::default()
    })?;
    check_that_it_works(&device);
    let module = kernels(&device);
    Some((device, module))
}

/// A launch of one lane that takes so long.
pub fn sleep(module: &Module, ms: u32) -> Prepared {
    launch(module, "sleep_l1", 1, 1, vec![ms.into_arg()])
}

/// Opens the first GPU. Where there is none the error must say what to do, and the test ends: with a
/// failure if `WARPHEAP_REQUIRE_CUDA=1` asks for a GPU.
pub fn open(config: &CudaConfig) -> Option<Device> {
    match open_unchecked(config) {
        Ok(device) => Some(device),
        Err(error) => {
            let text = error.to_string();
            let helps = text.contains("install the NVIDIA driver") || text.contains("nvidia-smi");
            assert!(
                matches!(error, DeviceError::NoDevice { .. }) && helps,
                "{text}"
            );
            let required = std::env::var("WARPHEAP_REQUIRE_CUDA").is_ok_and(|value| value == "1");
            assert!(!required, "WARPHEAP_REQUIRE_CUDA=1, but: {text}");
            eprintln!("SKIPPED, nothing was tested on a GPU: {text}");
            None
        }
    }
}

unsafe fn no_host_code(_: &ArgBlock) {}

/// A launch of one of the kernels in `kernels.ptx`.
pub fn launch(
    module: &Module,
    entry: &'static str,
    blocks: u32,
    lanes: u32,
    args: Vec<Arg>,
) -> Prepared {
    let config = LaunchConfig {
        grid_dim: blocks,
        block_dim: lanes,
    };
    // SAFETY: the callers pass what the kernel of that name takes; nothing here runs on the host.
    unsafe { Prepared::new(module.clone(), entry, no_host_code, config, args) }
}

/// Fills a vector with `first`, `first + 1`, ... on the device and checks it.
pub fn check_that_it_works(device: &Device) {
    let module = device.load(&IMAGE).unwrap();
    let out = DeviceVec::<u32>::zeroed(device, 1000).unwrap();
    let put = launch(
        &module,
        "put_l1",
        4,
        256,
        vec![out.arg(), 70_000u32.into_arg()],
    );
    put.run().unwrap();
    let want: Vec<u32> = (70_000..71_000).collect();
    assert_eq!(out.to_vec().unwrap(), want);
}

/// Every call on a lost device returns an error that says so.
pub fn assert_lost(device: &Device, want: &str) {
    for result in [device.load(&IMAGE).map(drop), device.alloc(64).map(drop)] {
        let error = result.unwrap_err();
        assert!(matches!(error, DeviceError::Lost { .. }), "{error:?}");
        assert!(error.to_string().contains(want), "{error}");
    }
}
