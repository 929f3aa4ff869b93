//! Vectors that lanes grow in branches: every element is compared.

use super::{expect, notes};
use crate::report::{Outcome, Verdict};
use crate::stage::{Demand, Stage, full_note, short_note};
use outside_kernels::branches::{
    CopyAndFreeEntry, GrowEntry, Reading, ascending, length, reading, scattered,
};
use std::time::Duration;
use warpheap::device::HeapVec;
use warpheap::{DeviceVec, HostAlloc, vector_lengths};

/// Elements of a vector's first block, at least.
const FIRST: u32 = 4;
/// Bytes of a block where all have one size: enough for most vectors.
const PAGE: u32 = 1024;
/// The heap is used again for a second set of vectors.
const ROUNDS: u32 = 2;

/// What comes of a lane.
struct Vector {
    /// Elements at the end.
    len: u32,
    /// Whether a block was asked for that is too large for the allocator.
    refused: bool,
    /// Bytes of the blocks that it asks for, one after the other.
    blocks: Vec<u64>,
}

/// Bytes of an element.
fn element(lane: u32) -> u64 {
    if lane % 3 == 2 { 16 } else { 4 }
}

/// Follows a lane's vector in a heap whose largest block has so many bytes.
fn vector(lane: u32, largest: u64) -> Vector {
    let len = length(lane);
    let mut vector = Vector {
        len,
        refused: false,
        blocks: Vec::new(),
    };
    let mut capacity = 0;
    if lane % 3 == 1 && len / 2 > 0 {
        let room = (len / 2).max(FIRST);
        if u64::from(room) * element(lane) <= largest {
            vector.blocks.push(u64::from(room) * element(lane));
            capacity = room;
        }
    }
    while capacity < len {
        let next = (capacity * 2).max(FIRST);
        let bytes = u64::from(next) * element(lane);
        if bytes > largest {
            vector.len = capacity;
            vector.refused = true;
            break;
        }
        vector.blocks.push(bytes);
        capacity = next;
    }
    vector
}

/// What all lanes ask for: the last two blocks of a vector are live together for a moment.
fn demand(lanes: u32) -> Demand {
    let mut demand = Demand {
        blocks: 0,
        bytes: 0,
        all_blocks: 0,
        all_bytes: 0,
        page: PAGE,
    };
    for lane in 0..lanes {
        let blocks = vector(lane, u64::MAX).blocks;
        let together = blocks.len().min(2);
        demand.blocks += together as u64;
        demand.bytes += blocks.iter().rev().take(2).sum::<u64>();
        demand.all_blocks += (blocks.len() as u64) * u64::from(ROUNDS);
        demand.all_bytes += blocks.iter().sum::<u64>() * u64::from(ROUNDS);
    }
    demand
}

/// Does the job.
///
/// # Errors
/// What is wrong.
pub fn run<A: HostAlloc + GrowEntry + CopyAndFreeEntry>(stage: &Stage) -> Outcome {
    let heap = match stage.heap::<A>(demand(stage.lanes))? {
        Ok(heap) => heap,
        Err(verdict) => return Ok(verdict),
    };
    let lanes = stage.lanes as usize;
    let expected: Vec<Vector> = (0..stage.lanes)
        .map(|lane| vector(lane, heap.largest))
        .collect();
    let refused = expected.iter().filter(|vector| vector.refused).count() as u32;

    let mut words = DeviceVec::<HeapVec<u32>>::zeroed(&stage.device, lanes)?;
    let mut readings = DeviceVec::<HeapVec<Reading>>::zeroed(&stage.device, lanes)?;
    let mut time = Duration::ZERO;
    let mut full = 0;
    for _ in 0..ROUNDS {
        let kernels = &stage.kernels;
        let grow = kernels.grow_launch(&heap.pool, stage.shape(), &mut words, &mut readings);
        let failed = stage.run(&mut time, grow)?;
        let is_full = heap.expect_room(failed)?;
        full += failed[0] + failed[1];
        expect(
            failed[2] == refused || (is_full && failed[2] < refused),
            || {
                format!(
                    "{} lanes asked for too large a block, not {refused}",
                    failed[2]
                )
            },
        )?;

        // Where the elements of each lane will be. A length that is wrong is found before it is believed.
        let mut starts = Vec::with_capacity(lanes);
        let mut end = 0u32;
        let found = vector_lengths(&words)?
            .into_iter()
            .zip(vector_lengths(&readings)?);
        for ((lane, expected), (words, readings)) in (0..).zip(&expected).zip(found) {
            let (len, other) = match lane % 3 {
                2 => (readings, words),
                _ => (words, readings),
            };
            let right = len == expected.len || (is_full && len < expected.len);
            expect(right && other == 0, || {
                format!(
                    "the vector of lane {lane} has {len} elements, not {}",
                    expected.len
                )
            })?;
            starts.push(end);
            end += len * (element(lane) / 4) as u32;
        }
        let out = DeviceVec::<u32>::zeroed(&stage.device, end.max(1) as usize)?;
        let from = DeviceVec::from_slice(&stage.device, &starts)?;
        let free = kernels.copy_and_free_launch(
            &heap.pool,
            stage.shape(),
            &mut words,
            &mut readings,
            &from,
            &out,
        );
        stage.run(&mut time, free)?;
        check(&starts, &out.to_vec()?[..end as usize])?;
        heap.expect_empty()?;
    }
    let note = notes([
        short_note(refused, "vectors stayed short", heap.largest),
        full_note(full, "vectors"),
    ]);
    Ok(Verdict::Ok { time, note })
}

/// Compares every element of every vector.
fn check(starts: &[u32], out: &[u32]) -> Result<(), Box<dyn std::error::Error>> {
    for (i, &start) in starts.iter().enumerate() {
        let lane = i as u32;
        let end = starts.get(i + 1).map_or(out.len(), |&next| next as usize);
        let each = (element(lane) / 4) as usize;
        for (k, words) in (0..).zip(out[start as usize..end].chunks(each)) {
            let right = match lane % 3 {
                0 => words == [ascending(lane, k)],
                1 => words == [scattered(lane, k)],
                _ => {
                    let whole = reading(lane, k);
                    words == [whole.lane, whole.number, whole.value, whole.check]
                }
            };
            expect(right, || {
                format!("element {k} of the vector of lane {lane} is {words:x?}")
            })?;
        }
    }
    Ok(())
}
