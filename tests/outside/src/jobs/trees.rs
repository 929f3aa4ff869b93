//! Trees of boxes: what is found, and what is left, is compared with maps of `std`.

use super::expect;
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note};
use outside_kernels::trees::{
    ABSENT, FellEntry, INSERTED, KEYS, Link, PlantEntry, PruneEntry, hash, key, removed, value,
};
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use warpheap::{DeviceVec, HostAlloc};

/// Bytes of a node.
const NODE: u32 = 16;

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + PlantEntry + PruneEntry + FellEntry>(stage: &Stage) -> Outcome {
    let nodes = u64::from(stage.lanes) * u64::from(INSERTED);
    let demand = Demand {
        blocks: nodes,
        bytes: nodes * u64::from(NODE),
        all_blocks: nodes,
        all_bytes: nodes * u64::from(NODE),
        page: NODE,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let lanes = stage.lanes as usize;
    let device = &stage.device;
    // Not zeros: a handle of zero is a granule, and not null.
    let roots = DeviceVec::from_slice(device, &vec![Link::NULL; lanes])?;
    let hashes = DeviceVec::<u32>::zeroed(device, lanes)?;
    let pairs = DeviceVec::<[u32; 2]>::zeroed(device, lanes * INSERTED as usize)?;
    let counts = DeviceVec::<u32>::zeroed(device, lanes)?;
    let (kernels, shape) = (&stage.kernels, stage.shape());
    let mut time = Duration::ZERO;

    let failed = stage.run(&mut time, kernels.plant_launch(&heap.pool, shape, &roots))?;
    let full = heap.expect_room(failed)?;
    expect(failed[2] == 0, || {
        format!("{} nodes are no block", failed[2])
    })?;
    let prune = kernels.prune_launch(&heap.pool, shape, &roots, &hashes);
    stage.run(&mut time, prune)?;
    let fell = kernels.fell_launch(&heap.pool, shape, &roots, &pairs, &counts);
    stage.run(&mut time, fell)?;

    let pairs = pairs.to_vec()?;
    let trees = pairs.chunks(INSERTED as usize);
    let found = trees.zip(counts.to_vec()?).zip(hashes.to_vec()?);
    let mut partial = 0;
    for (lane, ((pairs, count), hash)) in (0..).zip(found) {
        expect(count <= INSERTED, || {
            format!("tree {lane} has {count} nodes")
        })?;
        let pairs = &pairs[..count as usize];
        // A tree that found the heap full has the first of its keys: as many as explain what is left.
        let inserted = if full {
            0..INSERTED + 1
        } else {
            INSERTED..INSERTED + 1
        };
        let right = inserted.rev().find(|&n| is_tree(lane, n, pairs, hash));
        match right {
            Some(n) => partial += u32::from(n < INSERTED),
            None => return Err(wrong(lane, pairs, hash)),
        }
    }
    heap.expect_empty()?;
    let lanes = failed[0] + failed[1];
    expect(partial <= lanes, || {
        format!("{partial} trees lack keys, but only {lanes} lanes say so")
    })?;
    let note = full_note(lanes, "trees");
    Ok(Verdict::Ok { time, note })
}

/// Whether a lane that inserted its first `n` keys finds and leaves this.
fn is_tree(lane: u32, n: u32, pairs: &[[u32; 2]], found: u32) -> bool {
    let mut tree: BTreeMap<u32, u32> = (0..n).map(|n| (key(lane, n), value(lane, n))).collect();
    let values = (0..KEYS).map(|key| tree.get(&key).copied().unwrap_or(ABSENT));
    if values.fold(0, hash) != found {
        return false;
    }
    tree.retain(|&key, _| !removed(key));
    tree.into_iter()
        .map(|(key, value)| [key, value])
        .eq(pairs.iter().copied())
}

fn wrong(lane: u32, pairs: &[[u32; 2]], hash: u32) -> Box<dyn Error> {
    format!("tree {lane} has the hash {hash:#x} and left {pairs:?}").into()
}
