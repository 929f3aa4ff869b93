//! The kernels in the emulator. `WARPHEAP_WARP_WIDTH=4 cargo test` takes warps of 4 lanes, `WARPHEAP_SEED=1 cargo test` explores a
//! schedule, and with `WARPHEAP_RACES=1` it looks for data races.

use warpheap::device::HeapVec;
use warpheap::{BackendKind, Device, DeviceError, DeviceVec, LaunchConfig, Pool};

fn emulator() -> Device {
    Device::open_backend(BackendKind::Host, None).expect("the emulator is always there")
}

/// The sums of so many lists, and how many bytes of the heap are taken at the end.
fn sums(lanes: u32, heap_bytes: u64) -> Result<(Vec<u32>, u64), DeviceError> {
    let device = emulator();
    let pool: Pool = device.reserve(heap_bytes)?;
    let kernels = my_project::load(&device)?;
    let config = LaunchConfig::for_num_elems(lanes);
    let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(&device, lanes as usize)?;
    let mut sums = DeviceVec::<u32>::zeroed(&device, lanes as usize)?;
    kernels.count(&pool, config, &mut lists)?;
    kernels.add_up(&pool, config, &mut lists, &mut sums)?;
    Ok((sums.to_vec()?, pool.stats()?.usage.used_bytes))
}

#[test]
fn lists_add_up_and_their_memory_comes_back() {
    let (sums, used) = sums(100, 4 << 20).expect("room for all");
    let expected: Vec<u32> = (0..100).map(|i| i * (i + 1) / 2).collect();
    assert_eq!(sums, expected);
    assert_eq!(used, 0);
}

#[test]
fn a_heap_that_is_too_small_is_an_error() {
    let failed = sums(1000, 1 << 20).expect_err("2 MB of lists");
    assert!(matches!(failed, DeviceError::Kernel(_)), "{failed}");
}
