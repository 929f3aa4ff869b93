//! What pushing to and popping from one queue costs all lanes, beside the additions alone and a queue of tickets that are measured
//! in the same run. `queue_rate [log2 of the number of lanes]`, 20 without; `WARPHEAP_BACKEND` chooses the device.

use std::process::ExitCode;
use warpheap::device::*;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool};
use warpheap_api::host::LaunchReport;
use warpheap_container_kernels::Kernels;
use warpheap_container_kernels::queue_rates::{COUNTERS, Done};
use warpheap_rt::host::container::{DeviceChunkQueue, DeviceQueue};

/// Fresh queues, of which the fastest counts.
const RUNS: usize = 5;
/// Elements that each lane pushes, and pops, on average.
const EACH: u32 = 16;
/// Elements of the first ring of the queue that grows, as a power of two.
const RING_LOG2: u32 = 12;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let bits = argument.map_or(Ok(20), |text| text.parse());
    let Some(bits) = bits.ok().filter(|bits| (6..=20).contains(bits)) else {
        eprintln!("error: give the log2 of the number of lanes, 6 to 20");
        return ExitCode::FAILURE;
    };
    match Rates::open(bits).and_then(|rates| rates.table()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: a queue lost elements or has others");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Rates {
    device: Device,
    kernels: Kernels,
    lanes: u32,
}

/// The fastest of some launches.
struct Best {
    seconds: f64,
    /// Pushes and pops that were given up.
    missed: u64,
    /// Whether what was popped and what is left is what was pushed, in each.
    right: bool,
}

impl Rates {
    fn open(bits: u32) -> Result<Self, DeviceError> {
        let device = Device::open()?;
        device.keep_pace(true);
        println!(
            "{}: 2^{bits} lanes, {EACH} pushes and {EACH} pops a lane, the best of {RUNS} runs",
            device.info().name
        );
        println!(
            "{:<44} {:>10} {:>10} {:>7} {:>9}",
            "", "ms", "M/s", "ratio", "given up"
        );
        Ok(Rates {
            kernels: warpheap_container_kernels::load(&device)?,
            device,
            lanes: 1 << bits,
        })
    }

    /// Prints all rows; whether all is right.
    fn table(&self) -> Result<bool, DeviceError> {
        let mut right = true;
        for (apart, title) in [
            (0, "Each lane pushes and pops in turn"),
            (1, "Every other warp pushes, the others pop"),
        ] {
            println!("{title}");
            let floor = self.additions(apart)?;
            let mut row = |what: &str, best: Best| {
                let operations = f64::from(self.lanes) * f64::from(EACH) * 2.0;
                println!(
                    "  {what:<42} {:>10.3} {:>10.0} {:>7.2} {:>9}{}",
                    best.seconds * 1e3,
                    operations / best.seconds / 1e6,
                    best.seconds / floor,
                    best.missed,
                    if best.right { "" } else { "  wrong" }
                );
                right &= best.right;
            };
            println!("  {:<42} {:>10.3}", "the additions alone", floor * 1e3);
            row("a queue of tickets", self.tickets(apart)?);
            row("HeapQueue", self.bounded(apart)?);
            row("HeapChunkQueue", self.chunked(apart)?);
        }
        Ok(right)
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.lanes)
    }

    /// Room for all that is pushed while nobody pops.
    fn log2(&self) -> u32 {
        (self.lanes * EACH).ilog2()
    }

    fn done(&self) -> Result<DeviceVec<Done>, DeviceError> {
        DeviceVec::zeroed(&self.device, self.lanes as usize)
    }

    fn additions(&self, apart: u32) -> Result<f64, DeviceError> {
        let mut seconds = f64::MAX;
        for _ in 0..RUNS {
            let counters = DeviceVec::<u32>::zeroed(&self.device, COUNTERS)?;
            let ring = DeviceVec::<u32>::zeroed(&self.device, 1 << self.log2())?;
            let mut done = self.done()?;
            let report = self.kernels.mix_additions(
                self.config(),
                &counters,
                &ring,
                self.log2(),
                EACH,
                apart,
                &mut done,
            )?;
            seconds = seconds.min(report.device_time.as_secs_f64());
        }
        Ok(seconds)
    }

    fn tickets(&self, apart: u32) -> Result<Best, DeviceError> {
        self.best(|done| {
            let counters = DeviceVec::<u32>::zeroed(&self.device, COUNTERS)?;
            let ring = DeviceVec::<u32>::zeroed(&self.device, 2 << self.log2())?;
            let report = self.kernels.mix_tickets(
                self.config(),
                &counters,
                &ring,
                self.log2(),
                EACH,
                apart,
                done,
            )?;
            // A place whose ticket is odd has an element.
            let words = ring.to_vec()?;
            let left = words.chunks(2).filter(|place| place[0] & 1 != 0);
            Ok((report, left.map(|place| place[1]).collect()))
        })
    }

    fn bounded(&self, apart: u32) -> Result<Best, DeviceError> {
        let pool = self.pool()?;
        self.best(|done| {
            let queue = DeviceQueue::<u32, WarpHeap>::new_in(&pool, 1 << self.log2())?;
            let handle = queue.handle();
            let report = self
                .kernels
                .mix_queue(&pool, self.config(), handle, EACH, apart, done)?;
            Ok((report, queue.to_vec()?))
        })
    }

    fn chunked(&self, apart: u32) -> Result<Best, DeviceError> {
        let pool = self.pool()?;
        self.best(|done| {
            let queue = DeviceChunkQueue::<u32, WarpHeap>::new_in(&pool, RING_LOG2)?;
            let handle = queue.handle();
            let report =
                self.kernels
                    .mix_chunk_queue(&pool, self.config(), handle, EACH, apart, done)?;
            Ok((report, queue.to_vec()?))
        })
    }

    /// A heap for four times what is pushed, with a number beside each element.
    fn pool(&self) -> Result<Pool<WarpHeap>, DeviceError> {
        let bytes = u64::from(self.lanes * EACH) * 8 * 4;
        self.device.reserve::<WarpHeap>(bytes.max(64 << 20))
    }

    /// The fastest of some launches, each of which leaves what its lanes did, and gives the elements that are left.
    fn best(
        &self,
        launch: impl Fn(&mut DeviceVec<Done>) -> Result<(LaunchReport, Vec<u32>), DeviceError>,
    ) -> Result<Best, DeviceError> {
        let mut best = Best {
            seconds: f64::MAX,
            missed: 0,
            right: true,
        };
        for _ in 0..RUNS {
            let mut done = self.done()?;
            let (report, left) = launch(&mut done)?;
            let lanes = done.to_vec()?;
            let sum_of = |of: fn(&Done) -> u32| lanes.iter().map(|lane| u64::from(of(lane))).sum();
            let (pushed, popped): (u64, u64) =
                (sum_of(|lane| lane.pushed), sum_of(|lane| lane.popped));
            let sum = |sum: u32, element: u32| sum.wrapping_add(element);
            let moved = lanes.iter().map(|lane| lane.sum).fold(0, sum);
            best.right &= pushed == popped + left.len() as u64;
            best.right &= moved == left.into_iter().fold(0, sum);
            let missed = u64::from(self.lanes) * u64::from(EACH) * 2 - pushed - popped;
            let seconds = report.device_time.as_secs_f64();
            if seconds < best.seconds {
                (best.seconds, best.missed) = (seconds, missed);
            }
        }
        Ok(best)
    }
}
