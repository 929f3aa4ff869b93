//! Blocks of mixed sizes: lanes' scripts are followed on the CPU, and the blocks that are left are looked at from
//! both sides.

use super::expect;
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note};
use outside_kernels::blocks::{
    AuditEntry, Block, ChurnEntry, ClearEntry, DAMAGED, LARGEST, MISALIGNED, NOT_ZERO, SLOTS, Step,
    TALLY, grown, request, shrunk, step,
};
use std::error::Error;
use std::time::Duration;
use warpheap::{DeviceVec, HostAlloc, Pool};

/// Steps of a lane.
const STEPS: u32 = 24;
/// Steps of a launch.
const EACH: u32 = 8;
/// Mean bytes of a block, about.
const MEAN: u64 = 1400;
/// Blocks that the host reads as a whole.
const SAMPLE: usize = 256;

/// The blocks of a lane after all steps, if every request is served; handles are not known here.
fn follow(lane: u32) -> Vec<Block> {
    let mut slots = vec![Block::NONE; SLOTS as usize];
    let new = |step: Step| {
        let [bytes, align] = request(step);
        Block {
            bytes,
            align,
            stamp: step.stamp,
            ..Block::NONE
        }
    };
    for n in 0..STEPS {
        let step = step(lane, n);
        let block = &mut slots[step.slot as usize];
        *block = match (block.bytes, step.change) {
            (0, _) => new(step),
            (bytes, 0 | 1) => Block {
                bytes: grown(bytes),
                stamp: step.stamp,
                ..*block
            },
            (bytes, 2) => Block {
                bytes: shrunk(bytes),
                stamp: step.stamp,
                ..*block
            },
            (_, 3) => new(Step {
                request: if step.chance & 1 == 0 { 4 } else { 0 },
                ..step
            }),
            (_, 4) => *block,
            _ => Block::NONE,
        };
    }
    slots
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + ChurnEntry + AuditEntry + ClearEntry>(stage: &Stage) -> Outcome {
    let lanes = u64::from(stage.lanes);
    // Half of the slots have a block, and a lane has two for a while beside them.
    let live = u64::from(SLOTS / 2 + 2);
    let demand = Demand {
        blocks: lanes * live,
        bytes: lanes * live * MEAN,
        all_blocks: lanes * u64::from(STEPS),
        all_bytes: lanes * u64::from(STEPS) * MEAN,
        page: LARGEST,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let (device, shape, kernels) = (&stage.device, stage.shape(), &stage.kernels);
    let count = (stage.lanes * SLOTS) as usize;
    let slots = DeviceVec::from_slice(device, &vec![Block::NONE; count])?;
    let ends = DeviceVec::<[u32; 2]>::zeroed(device, count)?;
    let tally = DeviceVec::<u32>::zeroed(device, TALLY)?;
    let mut time = Duration::ZERO;
    for first in (0..STEPS).step_by(EACH as usize) {
        let churn = kernels.churn_launch(&heap.pool, shape, &slots, &tally, first, EACH);
        stage.run(&mut time, churn)?;
    }
    let audit = kernels.audit_launch(&heap.pool, shape, &slots, &tally, &ends);
    stage.run(&mut time, audit)?;

    let told = tally.to_vec()?;
    for (word, what) in [
        (DAMAGED, "were damaged"),
        (NOT_ZERO, "of calloc were not zero"),
        (MISALIGNED, "were not aligned"),
    ] {
        expect(told[word] == 0, || format!("{} blocks {what}", told[word]))?;
    }
    let failed = [told[1], told[2], told[3]];
    let full = heap.expect_room(failed)?;
    expect(failed[2] == 0, || {
        format!("{} requests were unsupported", failed[2])
    })?;

    let blocks = slots.to_vec()?;
    if !full {
        let expected = (0..stage.lanes).flat_map(follow);
        for (at, (found, expected)) in blocks.iter().zip(expected).enumerate() {
            let ptr = if expected.bytes == 0 {
                expected.ptr
            } else {
                found.ptr
            };
            expect(*found == Block { ptr, ..expected }, || {
                format!("slot {at} has {found:?}, not {expected:?}")
            })?;
        }
    }
    look_at(&heap.pool, &blocks, &ends.to_vec()?)?;
    let clear = kernels.clear_launch(&heap.pool, shape, &slots, &tally);
    stage.run(&mut time, clear)?;
    expect(tally.to_vec()? == told, || {
        "blocks were damaged in the end".into()
    })?;
    expect(slots.to_vec()? == vec![Block::NONE; count], || {
        "blocks are left".into()
    })?;
    heap.expect_empty()?;
    let note = full_note(failed[0] + failed[1], "requests");
    Ok(Verdict::Ok { time, note })
}

/// Checks places and contents of the blocks that are left.
fn look_at<A: HostAlloc>(
    pool: &Pool<A>,
    blocks: &[Block],
    ends: &[[u32; 2]],
) -> Result<(), Box<dyn Error>> {
    let mut live: Vec<Block> = Vec::new();
    for (block, &ends) in blocks
        .iter()
        .zip(ends)
        .filter(|(block, _)| !block.ptr.is_null())
    {
        let expected = [block.word(0), block.word(block.words() - 1)];
        expect(ends == expected, || {
            format!("{block:?} has {ends:x?} at its ends")
        })?;
        live.push(*block);
    }
    live.sort_by_key(|block| block.ptr.granule());
    let end = |block: &Block| block.ptr.byte_offset(0) + u64::from(block.bytes);
    for two in live.windows(2) {
        expect(end(&two[0]) <= two[1].ptr.byte_offset(0), || {
            format!("{two:?} overlap")
        })?;
    }
    let last = live.last().map_or(0, end);
    expect(last <= pool.bytes(), || {
        "a block lies beyond the pool".into()
    })?;

    for block in live.iter().step_by(live.len() / SAMPLE + 1) {
        let mut bytes = vec![0; block.words() as usize * 4];
        pool.raw()
            .buffer
            .read(block.ptr.byte_offset(0), &mut bytes)?;
        let right = bytes
            .chunks(4)
            .zip(0..)
            .all(|(four, k)| block.word(k).to_ne_bytes() == *four);
        expect(right, || {
            format!("{block:?} does not hold what was written to it")
        })?;
    }
    Ok(())
}
