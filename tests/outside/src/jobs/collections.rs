//! Rust's own collections: what a lane comes to is computed by the same function on the CPU, with its own memory.

use super::expect;
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage};
use outside_collections::{CollectEntry, LARGEST, answer};
use std::time::Duration;
use warpheap::{DeviceError, DeviceVec, HostAlloc};

/// Blocks that a lane has at once, about: plates on a stack, parts of a vector.
const LIVE: u64 = 24;
/// Mean bytes of a block, about.
const MEAN: u64 = 128;

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + CollectEntry>(stage: &Stage) -> Outcome {
    let Some(kernels) = &stage.collections else {
        return Ok(Verdict::Refused("there is no `alloc` on Vulkan".into()));
    };
    let lanes = u64::from(stage.lanes);
    let demand = Demand {
        blocks: lanes * LIVE,
        bytes: lanes * LIVE * MEAN,
        all_blocks: lanes * LIVE * 2,
        all_bytes: lanes * LIVE * 2 * MEAN,
        page: LARGEST,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    kernels.bind_heap(&heap.pool)?;
    let answers = DeviceVec::<u32>::zeroed(&stage.device, stage.lanes as usize)?;
    let mut time = Duration::ZERO;
    let collect = kernels.collect_launch(&heap.pool, stage.shape(), &answers);
    match stage.run(&mut time, collect) {
        Ok(failed) => expect(failed == [0; 3], || format!("lanes failed: {failed:?}"))?,
        // Rust's collections have no other answer to a heap that is full. What such a lane had is lost.
        Err(DeviceError::Panic(panic))
            if heap.may_be_full && panic.message.contains("memory allocation of") =>
        {
            let note = format!(
                "{} lanes panicked in a heap that may be full: {}",
                panic.lanes, panic.message
            );
            return Ok(Verdict::Ok { time, note });
        }
        Err(error) => return Err(error.into()),
    }
    for (lane, found) in (0..).zip(answers.to_vec()?) {
        let expected = answer(lane);
        expect(found == expected, || {
            format!("lane {lane} came to {found:#x}, not {expected:#x}")
        })?;
    }
    heap.expect_empty()?;
    let note = String::new();
    Ok(Verdict::Ok { time, note })
}
