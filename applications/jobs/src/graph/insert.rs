//! Inserting the edges, batch by batch.

use super::batch::Batch;
use super::context::Context;
use super::report::Phases;
use super::steps::Steps;
use crate::clock::Clock;
use crate::pool::Failed;
use crate::threads::each;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceError, DeviceVec, LaunchConfig, Pool, RawBuffer};
use warpheap_applications::graph::{GraphInsertEntry, Segment};

/// Inserts all edges and returns the number of batches. A pool that may grow does when it is full.
///
/// # Errors
/// [`Failed::Full`] if the heap cannot serve a vector.
pub fn insert<A: GraphInsertEntry>(
    context: &Context<'_>,
    pool: &mut Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    steps: &mut Steps,
    phases: &mut Phases,
) -> Result<u32, Failed> {
    let edges = &context.built.edges;
    let most = edges.len().min(context.batch as usize);
    let room = Room::new(context, most)?;
    let bar = context
        .progress
        .bar(format!("{}: inserting edges", A::NAME), edges.len() as u64);
    let mut batches = 0;
    let parts: Vec<&[[u32; 2]]> = edges.chunks(most.max(1)).collect();
    for parts in parts.chunks(Batch::at_once(most)) {
        let started = Instant::now();
        let grouped = each(parts.to_vec(), Batch::of);
        phases.prepare += started.elapsed();
        for batch in grouped {
            one(context, pool, vertices, &room, &batch, steps, phases)?;
            batches += 1;
            let done = format_args!("batch {batches} inserted");
            context.progress.snapshots().take(pool, done)?;
            bar.advance(batch.sources.len() as u64);
        }
    }
    Ok(batches)
}

/// Inserts the edges of a batch.
fn one<A: GraphInsertEntry>(
    context: &Context<'_>,
    pool: &mut Pool<A>,
    vertices: &DeviceVec<HeapVec<u32>>,
    room: &Room,
    batch: &Batch,
    steps: &mut Steps,
    phases: &mut Phases,
) -> Result<(), Failed> {
    let started = Instant::now();
    let sources = room.sources(batch)?;
    phases.upload += started.elapsed();

    let mut left = None;
    loop {
        let groups = left.as_ref().unwrap_or(&batch.groups);
        let started = Instant::now();
        let segments = room.segments(groups)?;
        phases.upload += started.elapsed();

        let started = Clock::start(context.device);
        let shape = LaunchConfig::for_num_elems(segments.len() as u32);
        let report = context
            .kernels
            .graph_insert(pool, shape, vertices, &segments, &sources);
        phases.insert += started.elapsed();
        match report {
            Ok(report) => {
                phases.insert_device += report.device_time;
                steps.whole(&batch.groups);
                return Ok(());
            }
            Err(DeviceError::Kernel(failure)) => {
                if !steps.larger(pool, &failure)? {
                    return Err(Failed::Full(failure.into(), None));
                }
                left = Some(steps.rest(&batch.groups, vertices)?);
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Device memory for one batch, used by all of them.
struct Room {
    segments: RawBuffer,
    sources: RawBuffer,
}

impl Room {
    /// Room for batches of up to this many edges, each of which may enter a vertex of its own.
    fn new(context: &Context<'_>, edges: usize) -> Result<Self, DeviceError> {
        let edges = edges as u64;
        Ok(Self {
            segments: context.device.alloc(edges * size_of::<Segment>() as u64)?,
            sources: context.device.alloc(edges * size_of::<u32>() as u64)?,
        })
    }

    /// Copies segments of a batch to the device.
    fn segments(&self, groups: &[Segment]) -> Result<DeviceVec<Segment>, DeviceError> {
        let count = groups.len() as u32;
        // SAFETY: here and below, the buffer is for this, and the vector is dropped before the next one.
        let mut segments = unsafe { DeviceVec::from_raw_parts(self.segments.clone(), 0, count)? };
        segments.copy_from(groups)?;
        Ok(segments)
    }

    /// Copies the edges of a batch to the device.
    fn sources(&self, batch: &Batch) -> Result<DeviceVec<u32>, DeviceError> {
        let edges = batch.sources.len() as u32;
        // SAFETY: the same.
        let mut sources = unsafe { DeviceVec::from_raw_parts(self.sources.clone(), 0, edges)? };
        sources.copy_from(&batch.sources)?;
        Ok(sources)
    }
}
