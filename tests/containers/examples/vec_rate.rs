//! What appending to vectors costs beside floors that are measured in the same run: vectors of lanes, vectors of warps,
//! and one vector of all lanes. `vec_rate [log2 of the number of lanes]`, 20 without; `WARPHEAP_BACKEND` chooses the
//! device.

use std::process::ExitCode;
use warpheap::device::*;
use warpheap::{Device, DeviceError, DeviceVec, LaunchConfig, Pool};
use warpheap_api::host::{HostAlloc, LaunchReport};
use warpheap_container_kernels::Kernels;
use warpheap_container_kernels::rates::{
    PushByWarpsEntry, PushOwnEntry, PushToOneEntry, StoreByWarpsEntry, StoreOwnEntry,
};
use warpheap_rt::host::container::{DeviceSharedVec, vector_lengths};

/// Fresh heaps, of which the fastest counts.
const RUNS: usize = 5;
/// Elements that each lane appends to its own vector, or to that of its warp.
const EACH: u32 = 16;
/// Elements that each lane appends to the vector of all.
const TO_ONE: u32 = 64;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    let bits = argument.map_or(Ok(20), |text| text.parse());
    let Some(bits) = bits.ok().filter(|bits| (4..=20).contains(bits)) else {
        eprintln!("error: give the log2 of the number of lanes, 4 to 20");
        return ExitCode::FAILURE;
    };
    match Rates::open(bits).and_then(|rates| rates.table()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An allocator with the kernels.
trait Subject:
    HostAlloc + PushOwnEntry + StoreOwnEntry + PushByWarpsEntry + StoreByWarpsEntry + PushToOneEntry
{
}

impl<A> Subject for A where
    A: HostAlloc
        + PushOwnEntry
        + StoreOwnEntry
        + PushByWarpsEntry
        + StoreByWarpsEntry
        + PushToOneEntry
{
}

struct Rates {
    device: Device,
    kernels: Kernels,
    lanes: u32,
}

impl Rates {
    fn open(bits: u32) -> Result<Self, DeviceError> {
        let device = Device::open()?;
        device.keep_pace(true);
        println!(
            "{}: 2^{bits} lanes, the best of {RUNS} runs",
            device.info().name
        );
        println!("{:<42} {:>10} {:>10} {:>7}", "", "ms", "M/s", "ratio");
        Ok(Rates {
            kernels: warpheap_container_kernels::load(&device)?,
            device,
            lanes: 1 << bits,
        })
    }

    fn table(&self) -> Result<(), DeviceError> {
        let number = self.lanes * EACH;
        let title = |what: &str| println!("{what}, {EACH} elements for each lane");
        title("A vector for each lane");
        let floor = self.own::<Bump>(false)?;
        row("room at once, Bump", number, floor, floor);
        row(
            "room at once, WarpHeap",
            number,
            self.own::<WarpHeap>(false)?,
            floor,
        );
        row("pushed, Bump", number, self.own::<Bump>(true)?, floor);
        row(
            "pushed, WarpHeap",
            number,
            self.own::<WarpHeap>(true)?,
            floor,
        );

        title("A vector for each warp");
        let floor = self.by_warps::<Bump>(false)?;
        row("room at once, Bump", number, floor, floor);
        row(
            "room at once, WarpHeap",
            number,
            self.by_warps::<WarpHeap>(false)?,
            floor,
        );
        row("pushed, Bump", number, self.by_warps::<Bump>(true)?, floor);
        row(
            "pushed, WarpHeap",
            number,
            self.by_warps::<WarpHeap>(true)?,
            floor,
        );

        println!("A vector for all, {TO_ONE} elements for each lane");
        let number = self.lanes * TO_ONE;
        let floor = self.store_to_one()?;
        row("one addition a warp and the stores", number, floor, floor);
        for log2 in [10, number.ilog2()] {
            let name = |allocator| format!("from 2^{log2}, {allocator}");
            row(&name("Bump"), number, self.to_one::<Bump>(log2)?, floor);
            row(
                &name("WarpHeap"),
                number,
                self.to_one::<WarpHeap>(log2)?,
                floor,
            );
        }
        Ok(())
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.lanes)
    }

    /// Seconds of the fastest launch, each with a fresh heap.
    fn best<A: Subject>(
        &self,
        launch: impl Fn(&Pool<A>) -> Result<LaunchReport, DeviceError>,
    ) -> Result<f64, DeviceError> {
        // Eight times what is there in the end: a vector whose segments double asks for one of four times as much ahead, in one piece.
        let bytes = (u64::from(self.lanes) * 4 * u64::from(EACH.max(TO_ONE)) * 16).max(64 << 20);
        // Vulkan's buffers end a little below 4 GiB.
        let bytes = bytes.min(self.device.info().max_buffer_bytes);
        let mut best = f64::MAX;
        for _ in 0..RUNS {
            let pool = self.device.reserve::<A>(bytes)?;
            best = best.min(launch(&pool)?.device_time.as_secs_f64());
        }
        Ok(best)
    }

    fn own<A: Subject>(&self, grows: bool) -> Result<f64, DeviceError> {
        self.best::<A>(|pool| {
            let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(&self.device, self.lanes as usize)?;
            let report = if grows {
                self.kernels
                    .push_own(pool, self.config(), &mut vectors, EACH)?
            } else {
                self.kernels
                    .store_own(pool, self.config(), &mut vectors, EACH)?
            };
            complete(&vectors, self.lanes * EACH)?;
            Ok(report)
        })
    }

    fn by_warps<A: Subject>(&self, grows: bool) -> Result<f64, DeviceError> {
        self.best::<A>(|pool| {
            let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(&self.device, self.lanes as usize)?;
            let report = if grows {
                self.kernels
                    .push_by_warps(pool, self.config(), &mut vectors, EACH)?
            } else {
                self.kernels
                    .store_by_warps(pool, self.config(), &mut vectors, EACH)?
            };
            complete(&vectors, self.lanes * EACH)?;
            Ok(report)
        })
    }

    /// Into a vector whose first segment has `1 << log2` elements.
    fn to_one<A: Subject>(&self, log2: u32) -> Result<f64, DeviceError> {
        self.best::<A>(|pool| {
            let vector = DeviceSharedVec::<u32, A>::new_in(pool, log2)?;
            let report = self
                .kernels
                .push_to_one(pool, self.config(), vector.handle(), TO_ONE)?;
            if vector.len()? != (self.lanes * TO_ONE) as usize {
                println!("{}: {} elements", A::NAME, vector.len()?);
            }
            Ok(report)
        })
    }

    fn store_to_one(&self) -> Result<f64, DeviceError> {
        let mut out = DeviceVec::<u32>::zeroed(&self.device, (self.lanes * TO_ONE) as usize)?;
        let mut best = f64::MAX;
        for _ in 0..RUNS {
            let counter = DeviceVec::<u32>::zeroed(&self.device, 1)?;
            let report = self
                .kernels
                .store_to_one(self.config(), &counter, &mut out, TO_ONE)?;
            best = best.min(report.device_time.as_secs_f64());
        }
        Ok(best)
    }
}

/// Tells if the vectors have not so many elements.
fn complete(vectors: &DeviceVec<HeapVec<u32>>, number: u32) -> Result<(), DeviceError> {
    let found: u32 = vector_lengths(vectors)?.iter().sum();
    if found != number {
        println!("{found} elements instead of {number}");
    }
    Ok(())
}

fn row(what: &str, number: u32, seconds: f64, floor: f64) {
    let rate = f64::from(number) / seconds / 1e6;
    println!(
        "  {what:<40} {:>10.3} {rate:>10.0} {:>7.2}",
        seconds * 1e3,
        seconds / floor
    );
}
