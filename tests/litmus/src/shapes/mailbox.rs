//! `mailbox`: memory handed over through a word.

use super::{named, verdict};
use crate::report::{Outcome, Rule};
use crate::stage::Stage;
use litmus_kernels::mailbox::{
    EXAMPLE, LATE, LINE, Mail, OTHER_BLOCK, OTHER_LANE, STALE, TAKEN, TALLY,
};
use litmus_kernels::pairs::{ACQUIRES, RELEASES};
use warpheap::DeviceVec;
use warpheap::device::Bump;

/// Tries of a lane in a launch.
const MOST_ROUNDS: u32 = 1 << 12;
/// Tries of all lanes in a launch: stamps have 32 bits.
const MOST_TRIES: u32 = 1 << 30;
/// Launches that use the same memory, so that slots are of one size.
const LAUNCHES: u32 = 8;

/// Memory with slots.
struct Slots {
    memory: DeviceVec<u32>,
    /// Words of a slot that are written.
    words: u32,
    /// Words between two of those that hand slots over.
    stride: u32,
    /// The greatest stamp so far.
    before: u32,
    /// Launches so far.
    launches: u32,
}

/// With both fences.
///
/// # Errors
/// Errors of the device.
pub fn fences(stage: &Stage) -> Outcome {
    run(stage, Rule::Forbidden, RELEASES | ACQUIRES)
}

/// Without the release fence.
///
/// # Errors
/// Errors of the device.
pub fn no_release(stage: &Stage) -> Outcome {
    run(stage, Rule::Mutant, ACQUIRES)
}

/// Without the acquire fence.
///
/// # Errors
/// Errors of the device.
pub fn no_acquire(stage: &Stage) -> Outcome {
    run(stage, Rule::Mutant, RELEASES)
}

/// Without fences.
///
/// # Errors
/// Errors of the device.
pub fn relaxed(stage: &Stage) -> Outcome {
    run(stage, Rule::Mutant, 0)
}

/// Words of the slots, and of those that hand them over: slot `i` is free, with the stamp of tester `i`.
fn fresh(slots: u32, stride: u32) -> Vec<u32> {
    let slot = |word: usize| word as u32 / LINE + 1;
    let mut words: Vec<u32> = (0..(slots * LINE) as usize).map(slot).collect();
    words.resize((slots * (LINE + stride)) as usize, 0);
    for i in 0..slots {
        words[(slots * LINE + i * stride) as usize] = i + 1;
    }
    words
}

fn run(stage: &Stage, rule: Rule, fences: u32) -> Outcome {
    let lanes = stage.lanes;
    let slots = lanes / 2;
    let bytes = u64::from(slots) * u64::from(LINE) * 2 * 4 + (1 << 16);
    let mut pool = stage.device.reserve::<Bump>(bytes)?;
    let mut made: Option<Slots> = None;
    let totals = stage.run(
        TALLY,
        Some(EXAMPLE),
        MOST_ROUNDS.min(MOST_TRIES / lanes),
        |words| words[TAKEN],
        |dice, environment, rounds, tally| {
            let place = match &mut made {
                Some(place) if place.launches < LAUNCHES && place.before < u32::MAX / 2 => place,
                _ => {
                    made = None;
                    pool.reset()?;
                    let stride = dice.one_of(&[1, 8, LINE]);
                    made.insert(Slots {
                        memory: DeviceVec::from_slice_in(&pool, &fresh(slots, stride))?,
                        words: dice.one_of(&[1, 4, 8, LINE]),
                        stride,
                        before: lanes,
                        launches: 0,
                    })
                }
            };
            let plan = Mail {
                crew: environment.crew,
                first: place.memory.heap_ptr().map_or(0, |ptr| ptr.granule() * 4),
                slots,
                hot: (slots / dice.one_of(&[1, 4, 16, 64])).max(1),
                words: place.words,
                stride: place.stride,
                rounds,
                before: place.before,
                fences,
            };
            place.before += rounds * lanes;
            place.launches += 1;
            let plan = DeviceVec::from_slice(&stage.device, &[plan])?;
            let (kernels, shape) = (&stage.kernels, environment.config);
            Ok(vec![kernels.mailbox_launch(
                &pool,
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
            ("from other lanes", OTHER_LANE),
            ("from other blocks", OTHER_BLOCK),
            ("not what was left", STALE),
            ("not kept", LATE),
        ],
    );
    let weak = totals.words[STALE] + totals.words[LATE];
    Ok(verdict(rule, &totals, totals.words[TAKEN], weak, note))
}
