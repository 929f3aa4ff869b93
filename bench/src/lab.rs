//! How launches are timed.

use crate::replay::Script;
use crate::row::Floors;
use crate::stats::Spread;
use std::cell::RefCell;
use std::collections::HashMap;
use std::time::{Duration, Instant};
use warpheap_api::DevicePtr;
use warpheap_api::host::{
    Device, DeviceError, DeviceVec, LaunchConfig, LaunchReport, Pool, Prepared,
};
use warpheap_bench_kernels::Kernels;
use warpheap_bench_kernels::replay::Step;
use warpheap_rt::alloc::Bump;

/// Lanes of a block.
const BLOCK_DIM: u32 = 256;

/// Steps of the delay: some 100 microseconds on a GPU, in which the host queues a dozen operations.
const DELAY_STEPS: u32 = 12_000;

/// Repeats before the first one that counts.
const WARM_UP: u32 = 2;

/// Repeats that count, at least.
const LEAST_REPEATS: usize = 3;

/// No more than these repeats are made once they have taken so long: what is as slow as that is known
/// well enough.
const LONG: Duration = Duration::from_secs(4);

/// Steps of the kernel that compares the two clocks: some milliseconds, thousands of the coarser clock's
/// steps.
const PACE_STEPS: u32 = 1_000_000;

/// Bytes of a block of the floor `bump`.
const BUMP_BYTES: u32 = 16;

/// A device with everything that a measurement needs on it.
#[derive(Debug)]
pub struct Lab {
    device: Device,
    kernels: Kernels,
    /// Where the delay puts its result.
    scratch: DeviceVec<u32>,
    repeats: u32,
    floors: RefCell<HashMap<u32, Floors>>,
    tick: RefCell<Option<f64>>,
    replay: Option<Loaded>,
}

/// A trace that can be replayed, on the device.
#[derive(Debug)]
pub struct Loaded {
    /// The launches, and what is expected of them.
    pub script: Script,
    /// What lanes do.
    pub steps: DeviceVec<Step>,
    /// Where the steps of each lane begin.
    pub begins: DeviceVec<u32>,
}

impl Lab {
    /// A lab on `device` that repeats each measurement so many times, at least once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(device: &Device, repeats: u32) -> Result<Self, DeviceError> {
        Ok(Lab {
            device: device.clone(),
            kernels: warpheap_bench_kernels::load(device)?,
            scratch: DeviceVec::zeroed(device, 4)?,
            repeats: repeats.max(1),
            floors: RefCell::default(),
            tick: RefCell::default(),
            replay: None,
        })
    }

    /// The same with this trace on the device, if there is one.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn with_replay(mut self, script: Option<&Script>) -> Result<Self, DeviceError> {
        self.replay = match script {
            None => None,
            Some(script) => Some(Loaded {
                script: script.clone(),
                steps: DeviceVec::from_slice(&self.device, &script.steps)?,
                begins: DeviceVec::from_slice(&self.device, &script.begins)?,
            }),
        };
        Ok(self)
    }

    /// The trace that is replayed.
    pub fn replay(&self) -> Option<&Loaded> {
        self.replay.as_ref()
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernels.
    pub fn kernels(&self) -> &Kernels {
        &self.kernels
    }

    /// Timed repeats of each measurement.
    pub fn repeats(&self) -> u32 {
        self.repeats
    }

    /// The shape of a launch of `n` lanes, at least one.
    pub fn shape(n: u32) -> LaunchConfig {
        let n = n.max(1);
        LaunchConfig {
            grid_dim: n.div_ceil(BLOCK_DIM),
            block_dim: n.min(BLOCK_DIM),
        }
    }

    /// Runs `launches` in order, each behind a delay, all queued together; returns the report of each.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn time(&self, launches: &[Prepared]) -> Result<Vec<LaunchReport>, DeviceError> {
        let delay = self
            .kernels
            .delay_launch(Self::shape(1), &self.scratch, DELAY_STEPS);
        let queue: Vec<_> = launches
            .iter()
            .flat_map(|launch| [delay.clone(), launch.clone()])
            .collect();
        let reports = self.device.run_all(&queue)?;
        Ok(reports.into_iter().skip(1).step_by(2).collect())
    }

    /// Calls `round` for the repeats that warm up and for those that count; returns what the latter
    /// returned. Ends early where a round breaks off, and with fewer repeats where they take long.
    ///
    /// # Errors
    /// Those of `round`.
    pub fn repeat<T, R>(
        &self,
        mut round: impl FnMut() -> Result<Result<T, R>, DeviceError>,
    ) -> Result<Result<Vec<T>, R>, DeviceError> {
        repeated(self.repeats, LONG, &mut round)
    }

    /// The floors for `n` lanes, measured once.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn floors(&self, n: u32) -> Result<Floors, DeviceError> {
        let n = n.max(1);
        if let Some(known) = self.floors.borrow().get(&n) {
            return Ok(*known);
        }
        let out = DeviceVec::<u32>::zeroed(&self.device, n as usize)?;
        let blocks = DeviceVec::<DevicePtr<u8>>::uninit(&self.device, n as usize)?;
        // A granule for each lane, and one more for header and pointer.
        let bytes = (u64::from(n) + 1) * u64::from(BUMP_BYTES) + 4096;
        let mut pool: Pool<Bump> = self.device.reserve(bytes)?;
        let (kernels, shape) = (&self.kernels, Self::shape(n));
        let launches = [
            kernels.empty_launch(shape),
            kernels.store_launch(shape, &out),
            kernels.malloc_launch(&pool, shape, &blocks, BUMP_BYTES),
            kernels.fence_launch(shape, &out),
        ];
        let rounds = self.repeat(|| {
            pool.reset()?;
            let reports = self.time(&launches)?;
            Ok(Ok::<_, std::convert::Infallible>(reports))
        })?;
        let Ok(rounds) = rounds;
        let floor = |at: usize| {
            let times = rounds.iter().filter_map(|reports| reports.get(at));
            spread(&times.map(|report| report.device_time).collect::<Vec<_>>())
        };
        let floors = Floors {
            empty: floor(0),
            store: floor(1),
            bump: floor(2),
            fence: floor(3),
        };
        self.floors.borrow_mut().insert(n, floors);
        Ok(floors)
    }

    /// Nanoseconds of one tick of the clock that kernels read, measured once; `None` where they have
    /// no clock.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn tick(&self) -> Result<Option<f64>, DeviceError> {
        let known = *self.tick.borrow();
        let tick = match known {
            Some(tick) => tick,
            None => {
                let pace = self
                    .kernels
                    .pace_launch(Self::shape(1), &self.scratch, PACE_STEPS);
                self.device.run_all(&[pace])?;
                let passed = self.scratch.to_vec()?;
                let tick = f64::from(passed[1]) / f64::from(passed[0]);
                *self.tick.borrow_mut().insert(tick)
            }
        };
        Ok((tick.is_finite() && tick > 0.0).then_some(tick))
    }
}

/// [`Lab::repeat`], with fewer repeats once they have taken `long`.
fn repeated<T, R, E>(
    repeats: u32,
    long: Duration,
    round: &mut dyn FnMut() -> Result<Result<T, R>, E>,
) -> Result<Result<Vec<T>, R>, E> {
    let start = Instant::now();
    let mut kept = Vec::new();
    for repeat in 0..WARM_UP + repeats {
        let counts = repeat >= WARM_UP || start.elapsed() > long;
        match round()? {
            Ok(value) if counts => kept.push(value),
            Ok(_) => {}
            Err(refusal) => return Ok(Err(refusal)),
        }
        if kept.len() >= LEAST_REPEATS && start.elapsed() > long {
            break;
        }
    }
    Ok(Ok(kept))
}

/// The spread of `times`, all zero if there are none.
pub(crate) fn spread(times: &[Duration]) -> Spread {
    Spread::of(times).unwrap_or(Spread::exactly(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_measurements_are_repeated_less_often() {
        let mut calls = 0;
        let mut slow = || {
            calls += 1;
            std::thread::sleep(Duration::from_millis(20));
            Ok::<_, ()>(Ok::<_, ()>(calls))
        };
        let forever = Duration::from_secs(3600);
        assert_eq!(repeated(5, forever, &mut slow), Ok(Ok(vec![3, 4, 5, 6, 7])));
        // The first warms up, the second is already late.
        let kept = repeated(1000, Duration::from_millis(10), &mut slow);
        assert_eq!(kept, Ok(Ok(vec![9, 10, 11])));
        let refused = repeated(5, forever, &mut || Ok::<_, ()>(Err::<(), _>("no")));
        assert_eq!(refused, Ok(Err("no")));
    }

    #[test]
    fn shapes_have_a_lane_for_each_request() {
        for n in [1, 2, 255, 256, 257, 1 << 20, (1 << 20) + 1] {
            let shape = Lab::shape(n);
            assert!(shape.grid_dim * shape.block_dim >= n);
            assert!((shape.grid_dim - 1) * shape.block_dim < n);
            assert!(shape.block_dim <= 256);
        }
        assert_eq!(Lab::shape(0), Lab::shape(1));
    }
}
