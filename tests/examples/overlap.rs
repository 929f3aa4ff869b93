//! Whether streams work at the same time: launches of one block of lanes, which hand blocks over in one heap, in one stream and
//! in one for each. `WARPHEAP_BACKEND` chooses the device. Prints a table.

use std::time::{Duration, Instant};
use warpheap::Device;
use warpheap_api::host::DeviceError;
use warpheap_rt::alloc::WarpHeap;
use warpheap_tests::Site;
use warpheap_tests::suite::lifetime::{HandOver, judge};

/// Launches at the same time, at most.
const MOST: usize = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let site = Site::new(Device::open()?);
    let info = site.device.info();
    println!("{}: {}, {}", info.backend, info.name, info.driver);
    let pool = site.device.reserve::<WarpHeap>(256 << 20)?;
    let rounds = if site.compiles_slowly() { 100 } else { 2000 };
    let time = |launches: usize, streams: usize| -> Result<Duration, DeviceError> {
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let seeds = 1..=launches as u32;
            let work: Vec<_> = seeds
                .map(|seed| HandOver::new(&site, &pool, 96, rounds, seed, 300))
                .collect();
            let start = Instant::now();
            site.device.scope(|scope| {
                let opened: Result<Vec<_>, _> = (0..streams).map(|_| scope.stream()).collect();
                let opened = opened?;
                for (one, stream) in work.iter().zip(opened.iter().cycle()) {
                    stream.launch_all(one.launches.clone())?;
                }
                Ok(())
            })?;
            best = best.min(start.elapsed());
            judge(&pool, &work);
        }
        Ok(best)
    };
    println!("launches  streams     time  over one launch");
    let one = time(1, 1)?;
    for (launches, streams) in [(1, 1), (2, 1), (2, 2), (MOST, 1), (MOST, MOST)] {
        let took = time(launches, streams)?;
        println!(
            "{launches:8}  {streams:7}  {:5.1} ms  {:.2}",
            took.as_secs_f64() * 1e3,
            took.as_secs_f64() / one.as_secs_f64()
        );
    }
    Ok(())
}
