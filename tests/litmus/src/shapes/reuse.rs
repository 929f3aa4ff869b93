//! `reuse`: blocks that malloc hands out again.

use super::{named, verdict};
use crate::fences::Fences;
use crate::report::{Counted, Outcome, Rule, Verdict};
use crate::stage::Stage;
use litmus_reuse::circulate::{
    AGAIN, BLOCKS, CirculateEntry, EXAMPLE, FAILED, FROM_BLOCK, FROM_LANE, LARGEST, LATE, Plan,
    RECORD, REWRITTEN, STALE, TALLY,
};
use std::error::Error;
use warpheap::{DeviceError, DeviceVec, HostAlloc, PlanError, Pool};

/// Mallocs of a lane in a launch.
const MOST_ROUNDS: u32 = 1 << 12;
/// Bytes of the largest block.
const LARGEST_BYTES: u32 = LARGEST * 16;
/// How often a heap is made larger in which most mallocs fail.
const LARGER: u32 = 6;
/// Bytes of a heap that is no longer small.
const MOST: u64 = 1 << 30;

/// A small heap, so that blocks go round, or why there is none.
fn heap<A: HostAlloc>(stage: &Stage, bytes: u64) -> Result<Result<Pool<A>, Verdict>, DeviceError> {
    let config = A::config_for(LARGEST_BYTES);
    let mut made = stage.device.reserve_with::<A>(bytes, &config);
    let mut larger = bytes;
    // The least size grows with the size.
    while let Err(DeviceError::Plan(PlanError::TooSmall { .. })) = &made
        && larger < MOST
    {
        larger *= 2;
        made = stage.device.reserve_with::<A>(larger, &config);
    }
    match made {
        Ok(pool) => Ok(Ok(pool)),
        Err(
            error @ (DeviceError::Plan(PlanError::TooSmall { .. } | PlanError::OnlyOn { .. })
            | DeviceError::TooLarge { .. }
            | DeviceError::OutOfMemory { .. }),
        ) => Ok(Err(Verdict::Refused(error.to_string()))),
        Err(error) => Err(error),
    }
}

/// Does the test.
///
/// # Errors
/// Errors of the device, and a heap that is not empty after all blocks were freed. Without fences these are what is
/// looked for.
pub fn run<A: HostAlloc + CirculateEntry>(stage: &Stage) -> Outcome {
    let outcome = circulate::<A>(stage);
    match outcome {
        Err(error) if stage.fences != Fences::ALL && broke(&*error) => Ok(Verdict::Ran(
            Rule::Mutant,
            Counted {
                instances: 1,
                weak: 1,
                launches: 1,
                time: std::time::Duration::ZERO,
                note: format!("the heap broke: {error}"),
            },
        )),
        outcome => outcome,
    }
}

/// Whether it may be the heap's doing: blocks that are left, or a device that was lost. Not what stops the test before it begins.
fn broke(error: &(dyn Error + 'static)) -> bool {
    match error.downcast_ref() {
        None | Some(DeviceError::Lost { .. }) => true,
        Some(_) => false,
    }
}

fn circulate<A: HostAlloc + CirculateEntry>(stage: &Stage) -> Outcome {
    if !A::CAPS.frees {
        let why = "it frees nothing, so nothing is handed out again";
        return Ok(Verdict::Refused(why.into()));
    }
    // Two blocks of the mean size for each lane.
    let mut bytes = u64::from(stage.lanes) * u64::from(LARGEST_BYTES);
    let mut larger = 0;
    loop {
        let pool = match heap::<A>(stage, bytes)? {
            Ok(pool) => pool,
            Err(verdict) => return Ok(verdict),
        };
        let granules = (pool.bytes() / 16) as usize;
        let turns = DeviceVec::<u32>::zeroed(&stage.device, granules)?;
        let records = DeviceVec::<u32>::zeroed(&stage.device, granules)?;
        let full = |words: &[u64]| larger < LARGER && words[FAILED] > words[BLOCKS];
        let totals = stage.run(
            TALLY,
            Some(EXAMPLE),
            MOST_ROUNDS,
            // A heap in which most mallocs fail is done with at once.
            |words| {
                if full(words) { u64::MAX } else { words[AGAIN] }
            },
            |_, environment, rounds, tally| {
                let crew = environment.crew;
                let plan = DeviceVec::from_slice(&stage.device, &[Plan { crew, rounds }])?;
                let (kernels, shape) = (&stage.reuse, environment.config);
                Ok(vec![kernels.circulate_launch(
                    &pool,
                    shape,
                    &turns,
                    &records,
                    tally,
                    &stage.scratch,
                    &plan,
                )])
            },
        )?;
        let weak = totals.words[RECORD] + totals.words[STALE] + totals.words[LATE];
        if full(&totals.words) && weak == 0 {
            larger += 1;
            bytes *= 2;
            continue;
        }
        let used = pool.stats()?.usage.used_bytes;
        if used != 0 {
            return Err(format!("{used} bytes are in use after all blocks were freed").into());
        }
        let note = named(
            &totals,
            &[
                ("from other lanes", FROM_LANE),
                ("from other blocks", FROM_BLOCK),
                ("of blocks", BLOCKS),
                ("failed", FAILED),
                ("words rewritten", REWRITTEN),
                ("old records", RECORD),
                ("old stamps", STALE),
                ("not kept", LATE),
            ],
        );
        let instances = totals.words[AGAIN];
        let rule = match stage.fences == Fences::ALL {
            true => Rule::Forbidden,
            false => Rule::Mutant,
        };
        return Ok(verdict(rule, &totals, instances, weak, note));
    }
}
