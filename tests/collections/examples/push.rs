//! How long `Vec::push` takes from many lanes: `push [LANES [PUSHES]]`, by default 2^20 lanes and 16 pushes each.
//! Each line is one launch, with the time on the device.

use std::time::Instant;
use warpheap_api::host::{DeviceError, DeviceVec, LaunchConfig};
use warpheap_collection_tests::Site;
use warpheap_rt::alloc::WarpHeap;

/// A GPU if there is one.
fn site() -> Site {
    #[cfg(feature = "cuda")]
    if let Some(site) = Site::cuda() {
        return site.clone();
    }
    Site::host(32)
}

fn main() -> Result<(), DeviceError> {
    let mut numbers = std::env::args().skip(1).map_while(|text| text.parse().ok());
    let lanes = numbers.next().unwrap_or(1 << 20);
    let pushes = numbers.next().unwrap_or(16);
    let start = Instant::now();
    let site = site();
    eprintln!("kernels loaded in {:.3?}", start.elapsed());
    let pool = site.heap::<WarpHeap>(1 << 30);
    site.kernels.bind_heap(&pool)?;
    let sums = DeviceVec::<u32>::zeroed(&site.device, lanes as usize)?;
    let config = LaunchConfig::for_num_elems(lanes);
    println!(
        "{}: {pushes} pushes in each of {lanes} lanes",
        site.device.info().name
    );
    for _ in 0..5 {
        let global = site.kernels.push(config, &sums, pushes)?.device_time;
        let held = site
            .kernels
            .push_in(&pool, config, &sums, pushes, 0)?
            .device_time;
        println!("global heap {global:>12.3?}    Vec<u32, Heap<WarpHeap>> {held:>12.3?}");
    }
    Ok(())
}
