//! Runs the kernels on the backend that `WARPHEAP_BACKEND` names, and says on which device it was.

use std::error::Error;
use warpheap::device::HeapVec;
use warpheap::{Device, DeviceVec, LaunchConfig, Pool};

const LISTS: u32 = 300;

fn main() -> Result<(), Box<dyn Error>> {
    let device = Device::open()?;
    let pool: Pool = device.reserve(16 << 20)?;
    let config = LaunchConfig::for_num_elems(LISTS);
    let kernels = from_packages::load(&device)?;
    let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(&device, LISTS as usize)?;
    kernels.count(&pool, config, &mut lists)?;
    let mut sums = DeviceVec::<u32>::zeroed(&device, LISTS as usize)?;
    kernels.sums(&pool, config, &mut lists, &mut sums)?;
    let expected: Vec<u32> = (0..LISTS).map(|i| i * (i + 1) / 2).collect();
    if sums.to_vec()? != expected {
        return Err("the lists do not add up".into());
    }
    println!("{LISTS} lists are right on {}", device.info().backend);
    Ok(())
}
