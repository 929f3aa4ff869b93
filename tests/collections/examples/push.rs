//! How long `Vec::push` takes from many lanes, with each allocator: `push [LANES [PUSHES]]`, by default 2^20 lanes and
//! 16 pushes each. The shortest of five launches, each in a fresh heap, with the time on the device.

use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, LaunchConfig};
use warpheap_collection_tests::Site;
use warpheap_global_heap_kernels::{Kernels, PushEntry, PushInEntry};
use warpheap_rt::device::*;

/// Launches of which the shortest counts.
const RUNS: usize = 5;

/// Bytes of the pool for each lane, many more than its vectors take.
const EACH: u64 = 16 << 10;
/// Bytes of the largest pool.
const MOST: u64 = 16 << 30;

/// A GPU if there is one.
fn site() -> Site {
    #[cfg(feature = "cuda")]
    if let Some(site) = Site::cuda() {
        return site.clone();
    }
    Site::host(32)
}

/// What each allocator does.
struct Job {
    site: Site,
    kernels: Kernels,
    lanes: u32,
    pushes: u32,
}

impl Job {
    fn time<A: HostAlloc + PushEntry + PushInEntry>(&self) -> Result<[Duration; 2], DeviceError> {
        let largest = (self.pushes.max(4) * 4).next_power_of_two();
        let bytes = (u64::from(self.lanes) * EACH).clamp(64 << 20, MOST);
        let sums = DeviceVec::<u32>::zeroed(&self.site.device, self.lanes as usize)?;
        let shape = LaunchConfig::for_num_elems(self.lanes);
        let mut best = [Duration::MAX; 2];
        for _ in 0..RUNS {
            for (held, best) in best.iter_mut().enumerate() {
                let config = A::config_for(largest);
                let pool = self.site.device.reserve_with::<A>(bytes, &config)?;
                self.kernels.bind_heap(&pool)?;
                let done = match held {
                    0 => self.kernels.push(&pool, shape, &sums, self.pushes),
                    _ => self.kernels.push_in(&pool, shape, &sums, self.pushes),
                };
                *best = done?.device_time.min(*best);
            }
        }
        Ok(best)
    }

    fn line<A: HostAlloc + PushEntry + PushInEntry>(&self) {
        match self.time::<A>() {
            Ok([global, held]) => println!("{:<20} {global:>12.3?} {held:>12.3?}", A::NAME),
            Err(error) => println!("{:<20} {error}", A::NAME),
        }
    }
}

fn main() {
    let mut numbers = std::env::args().skip(1).map_while(|text| text.parse().ok());
    let lanes = numbers.next().unwrap_or(1 << 20);
    let pushes = numbers.next().unwrap_or(16);
    let start = Instant::now();
    let site = site();
    let job = Job {
        kernels: site.any_heap(),
        site,
        lanes,
        pushes,
    };
    eprintln!("kernels loaded in {:.3?}", start.elapsed());
    println!(
        "{}: {pushes} pushes in each of {lanes} lanes",
        job.site.device.info().name
    );
    println!("allocator             global heap  Vec<u32, Heap<A>>");
    macro_rules! lines {
        ($($allocator:ident),* $(,)?) => {$(job.line::<$allocator>();)*};
    }
    warpheap_rt::for_each_allocator!(lines);
}
