//! A graph that all lanes explore together: the visits of every node are compared with those of a search on the
//! CPU.

use super::expect;
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note};
use outside_kernels::exploration::{
    ExploreEntry, PUT, TAKEN, TidyEntry, first_successor, second_successor,
};
use std::time::Duration;
use warpheap::{DeviceChunkQueue, DeviceHashMap, DeviceVec, HostAlloc, LaunchConfig, MapAlloc};

/// Nodes where the search begins.
const SEEDS: u32 = 64;
/// The root of the map is for two to this power keys, a block that all allocators have: it grows a lot.
const ROOT_BITS: u32 = 6;
/// Rings of the queue have room for two to this power elements, which all allocators can serve.
const QUEUE_BITS: u32 = 5;
/// Bytes of the largest block: of a ring of the queue, or of the map's root.
const LARGEST: u32 = 1024;
/// Launches in a row that may find no work although there is some.
const PATIENCE: u32 = 8;

/// Visits of each node: one for each way in from a node that is reached, and one for each time that it is a seed.
fn visits(nodes: u32) -> Vec<u32> {
    let mut visits = vec![0; nodes as usize];
    let mut open: Vec<u32> = seeds(nodes).collect();
    while let Some(node) = open.pop() {
        visits[node as usize] += 1;
        if visits[node as usize] == 1 {
            open.push(first_successor(node, nodes));
            open.push(second_successor(node, nodes));
        }
    }
    visits
}

fn seeds(nodes: u32) -> impl Iterator<Item = u32> {
    (0..SEEDS).map(move |n| n * 97 % nodes)
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + MapAlloc + ExploreEntry + TidyEntry>(stage: &Stage) -> Outcome {
    let nodes = stage.lanes.max(SEEDS) * 2;
    let expected = visits(nodes);
    let reached = expected.iter().filter(|&&visits| visits != 0).count() as u64;
    // A leaf for each key, nodes of the map, and nodes of the queue; a lane gets a leaf before it knows that it needs it.
    let blocks = reached * 2 + u64::from(stage.lanes) + 1024;
    let demand = Demand {
        blocks,
        bytes: blocks * 64,
        all_blocks: blocks * 4,
        all_bytes: blocks * 4 * 64,
        page: LARGEST,
    };
    let heap = match stage.heap::<A>(demand)? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };

    let map = DeviceHashMap::<u32, u32, A>::new(&heap.pool, ROOT_BITS)?;
    let seeds: Vec<u32> = seeds(nodes).collect();
    let open = DeviceChunkQueue::from_slice_in(&heap.pool, &seeds, QUEUE_BITS)?;
    let tally = DeviceVec::<u32>::zeroed(&stage.device, 2)?;
    let mut time = Duration::ZERO;
    let mut failed = [0; 3];
    let (mut before, mut idle) = (0, 0);
    loop {
        let kernels = &stage.kernels;
        let (map, shared) = (map.map(), open.handle());
        let explore = kernels.explore_launch(&heap.pool, stage.shape(), map, shared, nodes, &tally);
        let now = stage.run(&mut time, explore)?;
        let one = LaunchConfig::for_num_elems(1);
        stage.run(
            &mut time,
            kernels.tidy_launch(&heap.pool, one, open.handle()),
        )?;
        for (all, now) in failed.iter_mut().zip(now) {
            *all += now;
        }
        let tally = tally.to_vec()?;
        let (taken, put) = (tally[TAKEN], tally[PUT] + SEEDS);
        idle = if taken == before { idle + 1 } else { 0 };
        before = taken;
        // What lanes had taken when memory ran out is not explored, so the rest is not worth while.
        if taken == put || failed != [0; 3] {
            break;
        }
        expect(taken < put && idle < PATIENCE, || {
            format!("{taken} nodes were taken from the queue, of {put} that were put into it")
        })?;
    }
    let full = heap.expect_room(failed)?;
    expect(failed[2] == 0, || {
        format!("{} requests are unsupported", failed[2])
    })?;

    let found = map.to_vec()?;
    for &(node, visits) in &found {
        let most = expected.get(node as usize).copied().unwrap_or(0);
        expect(visits == most || (full && visits < most), || {
            format!("node {node} was visited {visits} times, not {most}")
        })?;
    }
    expect(full || found.len() as u64 == reached, || {
        format!("{} nodes were reached, not {reached}", found.len())
    })?;
    drop(map);
    drop(open);
    heap.expect_empty()?;
    let note = full_note(failed[0] + failed[1], "lanes");
    Ok(Verdict::Ok { time, note })
}
