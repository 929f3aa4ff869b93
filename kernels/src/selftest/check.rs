//! Runs the self-test.

use super::expect::{self, Divergence, Verdict};
use super::groups::MEMBERS;
use super::{COUNTERS, STEPS, Step, Summary};
use crate::Kernels;
use warpheap_rt::alloc::Bump;
use warpheap_rt::api::host::{Device, DeviceError, DeviceVec, LaunchConfig};
use warpheap_rt::sync::hash;

/// Blocks of each launch.
const BLOCKS: u32 = 16;
/// Lanes of a block, where the device allows as many.
const LANES: u32 = 128;
/// Times that most kernels run: what goes wrong only sometimes has as many chances.
const TIMES: u32 = 2;

/// Runs the self-test's kernels on `device` and compares what they stored with what they must have
/// stored. Takes milliseconds.
///
/// # Errors
/// [`DeviceError::SelfTest`] with the first wrong result; otherwise as loading and launching.
pub fn check(device: &Device) -> Result<(), DeviceError> {
    let test = Test {
        device,
        kernels: crate::load(device)?,
        config: LaunchConfig {
            grid_dim: BLOCKS,
            block_dim: LANES.min(device.info().max_block_dim),
        },
    };
    test.rounds()?;
    for time in 0..TIMES {
        test.index()?;
        test.divergence(time)?;
        test.atomics()?;
        test.claims()?;
        test.draws()?;
        test.groups()?;
        test.vectors()?;
        test.messages()?;
        test.reports()?;
    }
    Ok(())
}

struct Test<'a> {
    device: &'a Device,
    kernels: Kernels,
    config: LaunchConfig,
}

impl Test<'_> {
    fn lanes(&self) -> u32 {
        self.config.grid_dim * self.config.block_dim
    }

    fn zeros(&self, len: u32) -> Result<DeviceVec<u32>, DeviceError> {
        DeviceVec::zeroed(self.device, len as usize)
    }

    fn judge(&self, verdict: Verdict) -> Result<(), DeviceError> {
        let info = self.device.info();
        verdict.map_err(|what| DeviceError::SelfTest {
            device: format!("{} ({})", info.name, info.driver),
            what,
        })
    }

    fn rounds(&self) -> Result<(), DeviceError> {
        // A warp will do: each lane takes long.
        let width = self.device.info().warp_width;
        let out = self.zeros(width)?;
        let config = LaunchConfig {
            grid_dim: 1,
            block_dim: width,
        };
        self.kernels.selftest_rounds(config, &out)?;
        self.judge(expect::rounds(&out.to_vec()?))
    }

    fn index(&self) -> Result<(), DeviceError> {
        // The last block reaches beyond the end.
        let out = self.zeros(self.lanes() - 3)?;
        let launch = || self.kernels.selftest_index_launch(self.config, &out);
        self.device.run_all(&[launch(), launch()])?;
        self.judge(expect::twice(&out.to_vec()?))
    }

    fn divergence(&self, time: u32) -> Result<(), DeviceError> {
        let lanes = self.lanes();
        let counts: Vec<u32> = (0..lanes).map(|i| count(i, time)).collect();
        let steps = DeviceVec::<Step>::zeroed(self.device, (lanes * STEPS) as usize)?;
        let summaries = DeviceVec::<Summary>::zeroed(self.device, lanes as usize)?;
        let told = DeviceVec::from_slice(self.device, &counts)?;
        let kernels = &self.kernels;
        kernels.selftest_divergence(self.config, &told, &steps, &summaries)?;
        let trace = Divergence {
            block_dim: self.config.block_dim,
            width: self.device.info().warp_width,
            counts: &counts,
            steps: &steps.to_vec()?,
            summaries: &summaries.to_vec()?,
        };
        self.judge(trace.judge())
    }

    fn atomics(&self) -> Result<(), DeviceError> {
        let lanes = self.lanes();
        let counters = self.zeros(COUNTERS as u32)?;
        // Nearly full at the end, so that lanes probe for a while, each for a different one.
        let places = self.zeros(lanes + lanes / 16)?;
        let (tickets, found) = (self.zeros(lanes)?, self.zeros(lanes)?);
        let kernels = &self.kernels;
        kernels.selftest_atomics(self.config, &counters, &places, &tickets, &found)?;
        let mut counted = [0; COUNTERS];
        counters.copy_to(&mut counted)?;
        self.judge(expect::atomics(
            &counted,
            &places.to_vec()?,
            &tickets.to_vec()?,
            &found.to_vec()?,
        ))
    }

    fn claims(&self) -> Result<(), DeviceError> {
        let lanes = self.lanes();
        // Twice as many bits as lanes.
        let bitmap = self.zeros((lanes / 16).next_power_of_two())?;
        let claimed = self.zeros(lanes)?;
        self.kernels
            .selftest_claims(self.config, &bitmap, &claimed)?;
        self.judge(expect::claims(&bitmap.to_vec()?, &claimed.to_vec()?))
    }

    fn groups(&self) -> Result<(), DeviceError> {
        const ROUNDS: u32 = 24;
        let lanes = self.lanes();
        let words = self.zeros(MEMBERS as u32 + 1)?;
        let wrong = self.zeros(lanes)?;
        self.kernels
            .selftest_groups(self.config, ROUNDS, &words, &wrong)?;
        self.judge(expect::groups(ROUNDS, &words.to_vec()?, &wrong.to_vec()?))
    }

    fn draws(&self) -> Result<(), DeviceError> {
        let (next, drawn) = (self.zeros(1)?, self.zeros(self.lanes())?);
        self.kernels.selftest_draws(self.config, &next, &drawn)?;
        self.judge(expect::draws(next.to_vec()?[0], &drawn.to_vec()?))
    }

    fn vectors(&self) -> Result<(), DeviceError> {
        let sums = self.zeros(self.lanes())?;
        // All vectors take less than 128 words each, with what they outgrew.
        let pool = self
            .device
            .reserve::<Bump>(self.lanes() as u64 * 512 + 4096)?;
        self.kernels.selftest_vectors(&pool, self.config, &sums)?;
        self.judge(expect::vectors(&sums.to_vec()?))
    }

    fn messages(&self) -> Result<(), DeviceError> {
        let lanes = self.lanes();
        let (letters, flags) = (self.zeros(lanes)?, self.zeros(lanes)?);
        let taken = self.zeros(lanes)?;
        let kernels = &self.kernels;
        kernels.selftest_messages(self.config, &letters, &flags, &taken)?;
        self.judge(expect::messages(&taken.to_vec()?))
    }

    fn reports(&self) -> Result<(), DeviceError> {
        let failing = (7, 3);
        let launch = self
            .kernels
            .selftest_reports_launch(self.config, failing.0, failing.1);
        let reports = self.device.run_all(&[launch])?;
        let words = reports.first().map_or([0; _], |report| report.words);
        let block_dim = self.config.block_dim;
        self.judge(expect::reports(&words, self.lanes(), block_dim, failing))
    }
}

/// How many steps a lane takes: all numbers occur in every few lanes.
fn count(i: u32, time: u32) -> u32 {
    hash(i ^ (time << 16)) % (STEPS + 1)
}
