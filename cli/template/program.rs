//! Runs the kernels on the best device that is there; `WARPHEAP_BACKEND=host`, `cuda` or `vulkan` chooses another one.

use std::error::Error;
use warpheap::device::HeapVec;
use warpheap::{Device, DeviceVec, LaunchConfig, Pool};

const LISTS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open()?;
    let pool: Pool = device.reserve(16 << 20)?; // a heap on that device
    let kernels = my_project::load(&device)?;
    let config = LaunchConfig::for_num_elems(LISTS);

    let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(&device, LISTS as usize)?; // empty lists
    kernels.count(&pool, config, &mut lists)?;
    println!("{}", pool.stats()?);

    let mut sums = DeviceVec::<u32>::zeroed(&device, LISTS as usize)?;
    kernels.add_up(&pool, config, &mut lists, &mut sums)?;
    let sums = sums.to_vec()?;
    let backend = device.info().backend;
    println!(
        "the last of {LISTS} lists adds up to {} on {backend}",
        sums[LISTS as usize - 1]
    );
    Ok(())
}
