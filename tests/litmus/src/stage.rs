//! A device with the kernels, and launches until there are enough instances.

use crate::arguments::Arguments;
use crate::environment::{Dice, Environment};
use crate::fences::Fences;
use litmus_common::example::EXAMPLE_WORDS;
use litmus_common::stress::SCRATCH_WORDS;
use std::time::{Duration, Instant};
use warpheap::{Device, DeviceError, DeviceVec, Prepared};

/// Where tests are done.
#[derive(Debug)]
pub struct Stage {
    /// The device.
    pub device: Device,
    /// Lanes that test.
    pub lanes: u32,
    /// Instances of each test.
    pub instances: u64,
    /// No test begins another launch after so long.
    pub longest: Duration,
    /// Makes the environments.
    pub seed: u64,
    /// The fences inside the allocators.
    pub fences: Fences,
    /// The kernels over words.
    pub kernels: litmus_kernels::Kernels,
    /// Those that malloc and free.
    pub reuse: litmus_reuse::Kernels,
    /// Memory that is nothing but hammered.
    pub scratch: DeviceVec<u32>,
}

/// What all launches of a test left in their tallies.
#[derive(Clone, Debug)]
pub struct Totals {
    /// The sums.
    pub words: Vec<u64>,
    /// The first example.
    pub example: Option<[u32; EXAMPLE_WORDS]>,
    /// Launches.
    pub launches: u64,
    /// Time on the device.
    pub time: Duration,
}

/// A launch takes about as long, by changing the rounds of its lanes.
const BRIEF: Duration = Duration::from_millis(40);
/// Rounds of a lane in the first launch: allocators differ by a factor of thousands.
const FIRST_ROUNDS: u32 = 2;

impl Stage {
    /// Opens a device and loads the kernels.
    ///
    /// # Errors
    /// As `Device::open_backend` and `load`.
    pub fn open(arguments: &Arguments) -> Result<Self, DeviceError> {
        let device = arguments.fences.open(arguments.backend)?;
        Ok(Stage {
            lanes: arguments.lanes,
            instances: arguments.instances,
            longest: arguments.longest,
            seed: arguments.seed,
            fences: arguments.fences,
            kernels: litmus_kernels::load(&device)?,
            reuse: litmus_reuse::load(&device)?,
            scratch: DeviceVec::zeroed(&device, SCRATCH_WORDS as usize)?,
            device,
        })
    }

    /// Launches again and again: `launches` makes them for an environment and a number of rounds, at most `most_rounds`,
    /// and `instances` says how many there were by the sums so far.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn run(
        &self,
        tally_words: usize,
        example: Option<usize>,
        most_rounds: u32,
        instances: impl Fn(&[u64]) -> u64,
        mut launches: impl FnMut(
            &mut Dice,
            Environment,
            u32,
            &DeviceVec<u32>,
        ) -> Result<Vec<Prepared>, DeviceError>,
    ) -> Result<Totals, DeviceError> {
        let tally = DeviceVec::<u32>::zeroed(&self.device, tally_words)?;
        let mut dice = Dice::new(self.seed);
        let mut totals = Totals {
            words: vec![0; tally_words],
            example: None,
            launches: 0,
            time: Duration::ZERO,
        };
        let mut rounds = FIRST_ROUNDS.min(most_rounds);
        let began = Instant::now();
        while instances(&totals.words) < self.instances && began.elapsed() < self.longest {
            let largest = self.device.info().max_block_dim;
            let environment = Environment::any(&mut dice, self.lanes, rounds, largest);
            tally.fill_zero()?;
            let prepared = launches(&mut dice, environment, rounds, &tally)?;
            let mut time = Duration::ZERO;
            for report in self.device.run_all(&prepared)? {
                time += report.device_time;
            }
            let words = tally.to_vec()?;
            let sums = totals.words.iter_mut().zip(&words);
            sums.for_each(|(sum, &word)| *sum += u64::from(word));
            if let Some(at) = example
                && words[at] != 0
                && totals.example.is_none()
            {
                let mut found = [0; EXAMPLE_WORDS];
                found.copy_from_slice(&words[at..at + EXAMPLE_WORDS]);
                totals.example = Some(found);
            }
            totals.launches += 1;
            totals.time += time;
            if time < BRIEF / 2 {
                rounds = (rounds * 2).min(most_rounds);
            } else if time > BRIEF * 2 {
                rounds = (rounds / 2).max(1);
            }
        }
        Ok(totals)
    }
}
