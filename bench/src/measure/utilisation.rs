//! S6: one size until a lane fails, how long it takes to be told so, then another size in what was freed.

use super::refusal::Refusal;
use super::{Bench, Measured};
use crate::contents;
use crate::lab::spread;
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, RawBuffer};
use warpheap_bench_kernels::mix::Mix;

type Blocks = DeviceVec<DevicePtr<u8>>;

/// Most lanes of a launch.
const MOST_LANES: u64 = 1 << 18;
/// Launches that fill the pool, at least, unless there are few blocks.
const LEAST_LAUNCHES: u64 = 32;
/// Lanes of a launch are a multiple of this, so that its slice of handles begins where slices may.
const STEP: u64 = 64;

/// A heap that is not full after so much time on the device is left at that.
const LONG: Duration = Duration::from_secs(30);

/// Launches that ask a full heap.
const REFUSALS: usize = 5;

/// The blocks that filled a heap.
struct Filled {
    handles: RawBuffer,
    /// Lanes of all launches, also of those that failed.
    lanes: u32,
    /// Lanes of each launch.
    window: u32,
    /// Lanes that were served.
    served: u64,
    /// Whether a lane got nothing.
    full: bool,
}

pub(super) fn measure<A: Measured>(
    mut bench: Bench<'_, A>,
    size: u32,
    then: u32,
    asking: u32,
) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    bench.pool.reset()?;
    for (name, size) in [(Metric::UTILISATION, size), (Metric::REUSED, then)] {
        let filled = fill(&bench, size)?;
        // SAFETY: nobody else has this memory.
        let all = unsafe { DeviceVec::from_raw_parts(filled.handles.clone(), 0, filled.lanes) }?;
        let mut wrong = contents::check(bench.lab, bench.pool, &all, Mix::one(size), 0)?;
        // Lanes without a block are what ends this.
        wrong.missing = 0;
        if let Some(refusal) = Refusal::of_wrong(wrong) {
            refusal.tell(&mut row);
            break;
        }
        if !filled.full {
            row.status = format!(
                "{} blocks of {size} bytes did not fill it in {LONG:?}",
                filled.served
            );
            break;
        }
        let used = filled.served as f64 * f64::from(size) / bench.pool.bytes() as f64;
        let used = Metric::new(name, Unit::Ratio, Spread::exactly(used)).more_is_better();
        row.metrics.push(used);
        if name == Metric::UTILISATION {
            row.metrics.extend(refused(&mut bench, size, asking)?);
        }
        if !A::CAPS.frees {
            row.status = "does not free".to_string();
            break;
        }
        empty(&mut bench, size, &filled)?;
    }
    Ok(row)
}

/// Allocates blocks of `size` bytes, launch after launch, until a lane gets none.
fn fill<A: Measured>(bench: &Bench<'_, A>, size: u32) -> Result<Filled, DeviceError> {
    let device = bench.lab.device();
    let most = bench.pool.bytes() / u64::from(size.max(1).next_multiple_of(16)) + 1;
    let window = (most / LEAST_LAUNCHES).clamp(1, MOST_LANES);
    let window = window.next_multiple_of(STEP);
    let launches = most.div_ceil(window);
    let mut filled = Filled {
        handles: device.alloc(launches * window * 4)?,
        lanes: 0,
        window: window as u32,
        served: 0,
        full: false,
    };
    let mut spent = Duration::ZERO;
    for _ in 0..launches {
        let blocks = filled.window_at(filled.lanes)?;
        let malloc = bench.malloc(&blocks, Mix::one(size));
        let reports = device.run_all(std::slice::from_ref(&malloc))?;
        let failures = reports[0].failure(malloc.entry());
        let failed = failures.map_or(0, |failure| failure.lanes);
        filled.lanes += filled.window;
        filled.served += u64::from(filled.window - failed);
        filled.full = failed != 0;
        spent += reports[0].device_time;
        if filled.full || spent > LONG {
            break;
        }
    }
    Ok(filled)
}

/// How long a launch takes whose `lanes` all ask a full heap in vain.
fn refused<A: Measured>(
    bench: &mut Bench<'_, A>,
    size: u32,
    lanes: u32,
) -> Result<Option<Metric>, DeviceError> {
    let device = bench.lab.device();
    // What the launch that ended the filling left goes to the first one here.
    let last = Blocks::uninit(device, lanes as usize)?;
    let none = Blocks::uninit(device, lanes as usize)?;
    device.run_all(&[bench.malloc(&last, Mix::one(size))])?;
    let launch = bench.malloc(&none, Mix::one(size));
    let mut times = Vec::new();
    let mut spent = Duration::ZERO;
    while times.len() < REFUSALS && spent < LONG {
        let reports = device.run_all(std::slice::from_ref(&launch))?;
        let failed = reports[0].failure(launch.entry()).map(|all| all.lanes);
        // Blocks that were found after all would be lost: this was no full heap.
        if failed != Some(lanes) {
            times.clear();
            if A::CAPS.frees {
                device.run_all(&[bench.free(&none, Mix::one(size))])?;
            }
            break;
        }
        spent += reports[0].device_time;
        times.push(reports[0].device_time);
    }
    if A::CAPS.frees {
        device.run_all(&[bench.free(&last, Mix::one(size))])?;
    }
    let time = || Metric::new(Metric::REFUSED, Unit::Millis, spread(&times));
    Ok((!times.is_empty()).then(time))
}

/// Frees all of them.
fn empty<A: Measured>(
    bench: &mut Bench<'_, A>,
    size: u32,
    filled: &Filled,
) -> Result<(), DeviceError> {
    for first in (0..filled.lanes).step_by(filled.window as usize) {
        let free = bench.free(&filled.window_at(first)?, Mix::one(size));
        bench.lab.device().run_all(&[free])?;
    }
    Ok(())
}

impl Filled {
    /// The handles of the launch whose first lane has this number.
    fn window_at(&self, first: u32) -> Result<Blocks, DeviceError> {
        // SAFETY: nobody else has this memory.
        unsafe { Blocks::from_raw_parts(self.handles.clone(), u64::from(first) * 4, self.window) }
    }
}
