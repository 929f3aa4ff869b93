//! How fast vectors of several sizes are copied from and to memory of the host: `copies`.

use std::time::Instant;
use warpheap_api::host::{Device, DeviceError, DeviceVec};
use warpheap_cuda::{CudaConfig, open_unchecked};

/// Copies of each size. The first one may have to pin memory.
const COPIES: usize = 4;

fn main() -> Result<(), DeviceError> {
    let device = open_unchecked(&CudaConfig::default())?;
    println!(
        "{}: ms of the first copy, and GB/s of the fastest later one",
        device.info().name
    );
    println!("   MiB  to the device          from there");
    for mib in [1, 8, 31, 32, 64, 256, 1024] {
        let times = times(&device, mib << 20)?;
        let [to, from] = times.map(|times| {
            let first = times[0] * 1e3;
            let best = times[1..].iter().copied().fold(f64::MAX, f64::min);
            let rate = (mib << 20) as f64 / best / 1e9;
            format!("{first:8.2} ms {rate:6.1}")
        });
        println!("{mib:>6}  {to}    {from}");
    }
    Ok(())
}

/// Seconds of each copy of so many bytes to the device and from there, which are looked at.
fn times(device: &Device, bytes: usize) -> Result<[Vec<f64>; 2], DeviceError> {
    let data: Vec<u32> = (0..bytes as u32 / 4).collect();
    let mut there = DeviceVec::<u32>::zeroed(device, data.len())?;
    let mut back = vec![0u32; data.len()];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..COPIES {
        let started = Instant::now();
        there.copy_from(&data)?;
        times[0].push(started.elapsed().as_secs_f64());
        back.fill(1);
        let started = Instant::now();
        there.copy_range_to(0, &mut back)?;
        times[1].push(started.elapsed().as_secs_f64());
        assert!(back == data, "something else came back");
    }
    Ok(times)
}
