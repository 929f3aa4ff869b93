//! `mp`, `sb` and `corr`: two lanes and two words.

use super::{named, verdict};
use crate::environment::{Dice, Environment};
use crate::report::{Outcome, Rule};
use crate::stage::Stage;
use litmus_kernels::pairs::{ACQUIRES, Pairs, RELEASES};
use litmus_kernels::{coherence, message_passing as mp, store_buffering as sb};
use warpheap::device::Bump;
use warpheap::{DeviceError, DeviceVec, LaunchConfig, Pool};

/// The greatest distance of two locations, in words.
const MOST_STRIDE: u32 = 64;
/// Rounds of a lane in which everything that is read is kept.
const KEPT_ROUNDS: u32 = 64;
/// Rounds of a lane in which it is only counted.
const MOST_ROUNDS: u32 = 1 << 14;

/// Memory with the locations of all instances.
struct Locations {
    pool: Pool<Bump>,
    memory: DeviceVec<u32>,
    /// The greatest number in any of them.
    before: u32,
}

impl Locations {
    fn new(stage: &Stage, more_words: u64) -> Result<Self, DeviceError> {
        let words = u64::from(stage.lanes) * 2 * u64::from(MOST_STRIDE) + more_words;
        let pool = stage.device.reserve::<Bump>(words * 4 + (1 << 16))?;
        Ok(Locations {
            memory: DeviceVec::zeroed_in(&pool, words as usize)?,
            pool,
            before: 0,
        })
    }

    /// The plan of the next launch.
    fn plan(
        &mut self,
        stage: &Stage,
        dice: &mut Dice,
        environment: Environment,
        rounds: u32,
        fences: u32,
    ) -> Result<Pairs, DeviceError> {
        if self.before > u32::MAX / 2 {
            self.memory.fill_zero()?;
            self.before = 0;
        }
        let (factor, shift) = dice.shuffle(stage.lanes);
        let first = self.memory.heap_ptr().map_or(0, |ptr| ptr.granule() * 4);
        let plan = Pairs {
            crew: environment.crew,
            first,
            stride: dice.one_of(&[1, 2, 4, 8, 16, 32, MOST_STRIDE]),
            factor,
            shift,
            rounds,
            before: self.before,
            fences,
        };
        self.before += rounds;
        Ok(plan)
    }
}

/// Message passing with both fences: may not be seen out of order.
///
/// # Errors
/// Errors of the device.
pub fn mp_fences(stage: &Stage) -> Outcome {
    message_passing(stage, Rule::Forbidden, RELEASES | ACQUIRES)
}

/// Message passing without the release fence.
///
/// # Errors
/// Errors of the device.
pub fn mp_no_release(stage: &Stage) -> Outcome {
    message_passing(stage, Rule::Mutant, ACQUIRES)
}

/// Message passing without the acquire fence.
///
/// # Errors
/// Errors of the device.
pub fn mp_no_acquire(stage: &Stage) -> Outcome {
    message_passing(stage, Rule::Mutant, RELEASES)
}

/// Message passing without fences.
///
/// # Errors
/// Errors of the device.
pub fn mp_relaxed(stage: &Stage) -> Outcome {
    message_passing(stage, Rule::Mutant, 0)
}

fn message_passing(stage: &Stage, rule: Rule, fences: u32) -> Outcome {
    let mut places = Locations::new(stage, 0)?;
    let all = |words: &[u64]| words[mp::NOTHING..=mp::WEAK].iter().sum();
    let totals = stage.run(
        mp::TALLY,
        Some(mp::EXAMPLE),
        MOST_ROUNDS,
        all,
        |dice, environment, rounds, tally| {
            let plan = places.plan(stage, dice, environment, rounds, fences)?;
            let plan = DeviceVec::from_slice(&stage.device, &[plan])?;
            let (kernels, shape) = (&stage.kernels, environment.config);
            Ok(vec![kernels.message_passing_launch(
                &places.pool,
                shape,
                tally,
                &stage.scratch,
                &plan,
            )])
        },
    )?;
    let note = named(
        &totals,
        &[
            ("flag not set", mp::NOTHING),
            ("same round", mp::BOTH),
            ("data newer", mp::NEWER),
            ("data older", mp::WEAK),
        ],
    );
    let weak = totals.words[mp::WEAK];
    Ok(verdict(rule, &totals, all(&totals.words), weak, note))
}

/// Two reads of one word.
///
/// # Errors
/// Errors of the device.
pub fn corr(stage: &Stage) -> Outcome {
    use coherence::{BACKWARD, EXAMPLE, FORWARD, SAME, TALLY};
    let mut places = Locations::new(stage, 0)?;
    let all = |words: &[u64]| words[SAME..=BACKWARD].iter().sum();
    let totals = stage.run(
        TALLY,
        Some(EXAMPLE),
        MOST_ROUNDS,
        all,
        |dice, environment, rounds, tally| {
            let plan = places.plan(stage, dice, environment, rounds, 0)?;
            let plan = DeviceVec::from_slice(&stage.device, &[plan])?;
            let (kernels, shape) = (&stage.kernels, environment.config);
            Ok(vec![kernels.coherence_launch(
                &places.pool,
                shape,
                tally,
                &stage.scratch,
                &plan,
            )])
        },
    )?;
    let names = [("same", SAME), ("forward", FORWARD), ("backward", BACKWARD)];
    let (note, weak) = (named(&totals, &names), totals.words[BACKWARD]);
    let instances = all(&totals.words);
    Ok(verdict(Rule::Forbidden, &totals, instances, weak, note))
}

/// Store buffering with both fences between store and load, which order neither before the other.
///
/// # Errors
/// Errors of the device.
pub fn sb_fences(stage: &Stage) -> Outcome {
    store_buffering(stage, RELEASES | ACQUIRES)
}

/// Store buffering without fences.
///
/// # Errors
/// Errors of the device.
pub fn sb_relaxed(stage: &Stage) -> Outcome {
    store_buffering(stage, 0)
}

fn store_buffering(stage: &Stage, fences: u32) -> Outcome {
    let lanes = stage.lanes;
    let kept = u64::from(lanes) * u64::from(KEPT_ROUNDS) * 2;
    let mut places = Locations::new(stage, kept)?;
    let all = |words: &[u64]| words[sb::ORDERED..=sb::WEAK].iter().sum();
    let totals = stage.run(
        sb::TALLY,
        None,
        KEPT_ROUNDS,
        all,
        |dice, environment, rounds, tally| {
            let plan = places.plan(stage, dice, environment, rounds, fences)?;
            let plan = DeviceVec::from_slice(&stage.device, &[plan])?;
            let (kernels, pool, shape) = (&stage.kernels, &places.pool, environment.config);
            let judges = LaunchConfig::for_num_elems(lanes);
            Ok(vec![
                kernels.store_buffering_launch(pool, shape, tally, &stage.scratch, &plan),
                kernels.judge_launch(pool, judges, tally, &plan, lanes),
            ])
        },
    )?;
    let note = named(
        &totals,
        &[
            ("one before the other", sb::ORDERED),
            ("other lane through", sb::OVER),
            ("neither seen", sb::WEAK),
        ],
    );
    let (instances, weak) = (all(&totals.words), totals.words[sb::WEAK]);
    Ok(verdict(Rule::Allowed, &totals, instances, weak, note))
}
