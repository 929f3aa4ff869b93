//! How fast a hash map takes and finds keys: into roots of few slots, from which it grows, and into one with a slot
//! for every key. `map_rate [log2 of the number of keys]`.

use std::process::ExitCode;
use warpheap::{Device, DeviceError, DeviceHashMap, DeviceVec, LaunchConfig, MapAlloc};
use warpheap_container_kernels::Kernels;
use warpheap_container_kernels::maps::{MapGetEntry, MapInsertEntry};
use warpheap_rt::device::WarpHeap;

fn main() -> ExitCode {
    let bits = std::env::args().nth(1).map_or(Ok(24), |text| text.parse());
    let Some(bits) = bits.ok().filter(|bits| (4..=28).contains(bits)) else {
        eprintln!("error: give the log2 of the number of keys, 4 to 28");
        return ExitCode::FAILURE;
    };
    match run(bits) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bits: u32) -> Result<(), DeviceError> {
    let device = Device::open()?;
    println!("{}: 2^{bits} keys, Mops/s", device.info().name);
    println!("allocator     root    insert      find");
    let kernels = warpheap_container_kernels::load(&device)?;
    for root_bits in [4, 10, 16]
        .into_iter()
        .filter(|root| *root < bits)
        .chain([bits.min(24)])
    {
        rate::<WarpHeap>(&device, &kernels, bits, root_bits)?;
    }
    Ok(())
}

/// The best of five fresh maps.
fn rate<A: MapAlloc + MapInsertEntry + MapGetEntry>(
    device: &Device,
    kernels: &Kernels,
    bits: u32,
    root_bits: u32,
) -> Result<(), DeviceError> {
    let count = 1u32 << bits;
    // A leaf is 16 bytes, nodes are about as much again, and the root has a word for each slot.
    let pool = device.reserve::<A>((count as u64 * 96).max(64 << 20))?;
    // An odd factor keeps them distinct.
    let keys: Vec<u32> = (0..count).map(|i| i.wrapping_mul(0x9e37_79b1)).collect();
    let keys = DeviceVec::from_slice(device, &keys)?;
    let results = DeviceVec::<u32>::zeroed(device, count as usize)?;
    let config = LaunchConfig::for_num_elems(count);
    let mut best = [f64::MAX; 2];
    for _ in 0..5 {
        let map = DeviceHashMap::<u32, u32, A>::new(&pool, root_bits)?;
        let inserted = kernels.map_insert(&pool, config, map.map(), &keys, &keys, &results)?;
        let new = results
            .to_vec()?
            .iter()
            .filter(|&&result| result == 1)
            .count();
        let found = kernels.map_get(&pool, config, map.map(), &keys, &results)?;
        let right = results.to_vec()? == keys.to_vec()?;
        if new != count as usize || !right {
            println!(
                "{}: {new} of {count} keys inserted, all found: {right}",
                A::NAME
            );
        }
        for (best, report) in best.iter_mut().zip([inserted, found]) {
            *best = best.min(report.device_time.as_secs_f64());
        }
    }
    let [insert, find] = best.map(|seconds| count as f64 / seconds / 1e6);
    println!("{:<12} 2^{root_bits:<3} {insert:>9.1} {find:>9.1}", A::NAME);
    Ok(())
}
