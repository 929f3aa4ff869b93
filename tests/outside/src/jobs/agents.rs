//! Agents that write to each other: what each keeps at the end is compared with the same steps on the CPU.

use super::{expect, notes};
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note, short_note};
use outside_kernels::agents::{
    BeginToMoveEntry, EndToMoveEntry, LAST, LeaveEntry, MoveInboxEntry, ReceiveEntry, SendEntry,
    count, done, receiver, value,
};
use outside_kernels::mix;
use std::time::Duration;
use warpheap::device::HeapVec;
use warpheap::{BackendKind, DeviceVec, HostAlloc};

/// Steps, and steps of the emulator.
const STEPS: u32 = 1000;
const STEPS_ON_HOST: u32 = 20;
/// With more agents there are fewer steps: about so many of one agent in all, …
const IN_ALL: u32 = 100_000_000;
/// … but no fewer than this for each.
const LEAST: u32 = 16;
/// Steps after which the heap is compacted, by allocators that can.
const TIDIED: u32 = 10;
/// Bytes of a message.
const MESSAGE: u64 = 16;
/// Bytes of an inbox, of which the old one and the new one are there for a moment.
const INBOX: u64 = 128;
/// Bytes of a block where all have one size.
const PAGE: u32 = 4096;

/// What each agent keeps after so many steps.
fn follow(agents: u32, steps: u32) -> Vec<Vec<u32>> {
    let mut kept = vec![Vec::new(); agents as usize];
    for step in 0..steps {
        for agent in 0..agents {
            for n in 0..count(agent, step) {
                let to = receiver(agent, step, n, agents);
                kept[to as usize].push(value(agent, step, n));
            }
        }
        for inbox in &mut kept {
            inbox.retain(|&value| !done(value, step));
        }
    }
    kept
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A>(stage: &Stage) -> Outcome
where
    A: HostAlloc + SendEntry + ReceiveEntry + LeaveEntry,
    A: BeginToMoveEntry + MoveInboxEntry + EndToMoveEntry,
{
    let steps = match stage.device.info().backend {
        BackendKind::Host => STEPS_ON_HOST,
        _ => (IN_ALL / stage.lanes).clamp(LEAST, STEPS),
    };
    let lanes = u64::from(stage.lanes);
    // An agent sends 1.1 messages in a step, and its inbox gets a new block in one step of two.
    let demand = Demand {
        blocks: lanes * 4,
        bytes: lanes * (2 * MESSAGE + 2 * INBOX),
        all_blocks: lanes * u64::from(steps) * 2,
        all_bytes: lanes * u64::from(steps) * (2 * MESSAGE + INBOX),
        page: PAGE,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let (device, lanes) = (&stage.device, stage.lanes as usize);
    let lists = DeviceVec::from_slice(device, &vec![LAST; lanes])?;
    let mut inboxes = DeviceVec::<HeapVec<u32>>::zeroed(device, lanes)?;
    let mut sums = DeviceVec::<u32>::zeroed(device, lanes)?;
    let (kernels, shape) = (&stage.kernels, stage.shape());
    let mut time = Duration::ZERO;
    let (mut full, mut refused) = (0, 0);
    for step in 0..steps {
        let send = kernels.send_launch(&heap.pool, shape, step, &lists);
        let (into, totals) = (&mut inboxes, &mut sums);
        let receive = kernels.receive_launch(&heap.pool, shape, step, &lists, into, totals);
        for launch in [send, receive] {
            let failed = stage.run(&mut time, launch)?;
            heap.expect_room(failed)?;
            full += failed[0] + failed[1];
            refused += failed[2];
        }
        if A::COMPACTS && (step + 1).is_multiple_of(TIDIED) {
            let begin = kernels.begin_to_move_launch(&heap.pool, shape);
            let moves = kernels.move_inbox_launch(&heap.pool, shape, &mut inboxes);
            let end = kernels.end_to_move_launch(&heap.pool, shape);
            for launch in [begin, moves, end] {
                stage.run(&mut time, launch)?;
            }
        }
    }
    let tied = heap.tied_note()?;
    let mut kept = DeviceVec::<u32>::zeroed(device, lanes)?;
    stage.run(
        &mut time,
        kernels.leave_launch(&heap.pool, shape, &mut inboxes, &mut kept),
    )?;
    heap.expect_empty()?;
    // An inbox that may not grow loses messages, and so does a full heap.
    if full + refused == 0 {
        let found = kept.to_vec()?.into_iter().zip(sums.to_vec()?);
        let expected = follow(stage.lanes, steps);
        for (agent, (found, expected)) in found.zip(expected).enumerate() {
            let sum = expected.iter().map(|&value| mix(value));
            let expected = (expected.len() as u32, sum.fold(0, u32::wrapping_add));
            expect(found == expected, || {
                format!("agent {agent} has kept {found:?}, not {expected:?}")
            })?;
        }
    }
    let short = short_note(refused, "inboxes could not grow", heap.largest);
    let note = notes([tied, short, full_note(full, "agents")]);
    Ok(Verdict::Ok { time, note })
}
