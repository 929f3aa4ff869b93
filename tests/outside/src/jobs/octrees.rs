//! Octrees over random points: what a walk adds up is compared with what follows from the points alone.

use super::{expect, notes};
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note};
use outside_kernels::octrees::{
    DEPTH, LEAF, Link, RaiseEntry, Stack, Sums, WalkEntry, count, part, point, weight,
};
use std::time::Duration;
use warpheap::{DeviceVec, HostAlloc};

/// Bytes of a cube's block, and of its eight links.
const CUBE: u64 = 32;
/// Bytes of a stack.
const STACK: u64 = 512;
/// Bytes of a block where all have one size: enough for all but the fullest finest cubes.
const PAGE: u32 = 1024;

/// What a walk finds in a cube at a depth that holds these points.
fn sums(points: &[u32], depth: u32) -> Sums {
    if points.len() <= LEAF as usize || depth == DEPTH {
        let hash = points.iter().map(|&point| weight(point, depth));
        return Sums {
            points: points.len() as u32,
            leaves: 1,
            cut: 0,
            hash: hash.fold(0, u32::wrapping_add),
        };
    }
    let mut all = Sums {
        cut: 1,
        ..Sums::default()
    };
    for at in 0..8 {
        let inside = points.iter().filter(|&&point| part(point, depth) == at);
        let inside: Vec<u32> = inside.copied().collect();
        if !inside.is_empty() {
            let found = sums(&inside, depth + 1);
            all.points += found.points;
            all.leaves += found.leaves;
            all.cut += found.cut;
            all.hash = all.hash.wrapping_add(found.hash);
        }
    }
    all
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + RaiseEntry + WalkEntry>(stage: &Stage) -> Outcome {
    let expected: Vec<Sums> = (0..stage.lanes)
        .map(|cell| {
            let points: Vec<u32> = (0..count(cell)).map(|k| point(cell, k)).collect();
            sums(&points, 0)
        })
        .collect();
    let of = |part: fn(&Sums) -> u32| expected.iter().map(|sums| u64::from(part(sums))).sum();
    let (leaves, cut): (u64, u64) = (of(|sums| sums.leaves), of(|sums| sums.cut));
    let lanes = u64::from(stage.lanes);
    // Each leaf has a vector, each lane a stack.
    let blocks = 2 * leaves + 2 * cut + lanes;
    let demand = Demand {
        blocks,
        bytes: blocks * CUBE + lanes * STACK,
        // Every cut cube was a leaf, whose vector grew twice.
        all_blocks: 2 * blocks,
        all_bytes: 2 * blocks * CUBE + lanes * STACK,
        page: PAGE,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let (device, lanes) = (&stage.device, stage.lanes as usize);
    // Not zeros: a handle of zero is a granule, and not null.
    let mut roots = DeviceVec::from_slice(device, &vec![Link::NULL; lanes])?;
    let mut stacks = DeviceVec::<Stack>::zeroed(device, lanes)?;
    let mut found = DeviceVec::<Sums>::zeroed(device, lanes)?;
    let (kernels, shape) = (&stage.kernels, stage.shape());
    let mut time = Duration::ZERO;
    let raise = kernels.raise_launch(&heap.pool, shape, &mut roots, &mut stacks);
    let failed = stage.run(&mut time, raise)?;
    let full = heap.expect_room(failed)?;
    expect(failed[2] == 0, || {
        format!("{} cubes are no block", failed[2])
    })?;
    let tied = heap.tied_note()?;
    // The second walk frees what it finds.
    for fell in [false, true] {
        let (of, with) = (&mut roots, &mut stacks);
        let walk = kernels.walk_launch(&heap.pool, shape, of, with, &mut found, fell);
        let lacking = stage.run(&mut time, walk)?;
        expect(lacking == [0; 3], || {
            format!("stacks were too short: {lacking:?}")
        })?;
        let mut partial = 0;
        for (cell, (found, expected)) in found.to_vec()?.into_iter().zip(&expected).enumerate() {
            let missing = found.points < expected.points;
            partial += u32::from(missing);
            expect(found == *expected || (full && missing), || {
                format!("tree {cell} has {found:?}, not {expected:?}")
            })?;
        }
        let errors = failed[0] + failed[1];
        expect(partial == errors, || {
            format!("{partial} trees lack points, but {errors} lanes say so")
        })?;
    }
    heap.expect_empty()?;
    let lanes = failed[0] + failed[1];
    let note = notes([tied, full_note(lanes, "trees")]);
    Ok(Verdict::Ok { time, note })
}
