//! What the same batches cost where nothing is allocated: compressed sparse rows, all written anew for each batch.

use super::batch::Batch;
use super::context::Context;
use super::expected::{Expected, Phase};
use super::merge::run as run_all;
use super::report::Rebuild;
use super::room::{Loaded, Room};
use crate::error::JobError;
use crate::graph::check::{self, Mismatch};
use crate::pool::Failed;
use std::time::Duration;
use warpheap::{DeviceError, DeviceVec, LaunchConfig};
use warpheap_applications::csr::COPIED;

/// Does all steps.
///
/// # Errors
/// Errors of the device, and a wrong answer.
pub fn run(context: &Context<'_>) -> Result<Rebuild, JobError> {
    Ok(steps(context)?)
}

fn steps(context: &Context<'_>) -> Result<Rebuild, Failed> {
    let expected = context.expected;
    let room = Room::new(context.device, expected)?;
    let mut sparse = Sparse::new(context)?;
    let mut rebuild = Rebuild::default();
    let bar = context.progress.bar(
        "compressed sparse rows".to_owned(),
        expected.steps.len() as u64,
    );
    for step in &expected.steps {
        let on = room.load(&expected.batches[step.batch])?;
        let time = sparse.merge(
            context,
            &room,
            &on,
            &expected.batches[step.batch],
            step.adding(),
        )?;
        match step.phase {
            Phase::Init => rebuild.init += time,
            Phase::Insert => rebuild.inserts.push(time),
            Phase::Delete => rebuild.deletes.push(time),
        }
        if let Some(state) = step.state {
            let state = &expected.states[state];
            let mut got = sparse.edges[0].to_vec()?;
            got.truncate(state.sources.len());
            let wrong = |mismatch: Mismatch| JobError::Wrong {
                allocator: "compressed sparse rows",
                backend: context.device.info().backend.to_string(),
                what: mismatch.to_string(),
            };
            check::neighbours(state, &mut got, context.base).map_err(wrong)?;
            rebuild.bytes = rebuild.bytes.max(bytes(state.sources.len(), expected));
        }
        bar.advance(1);
    }
    Ok(rebuild)
}

/// Bytes of compressed sparse rows.
fn bytes(edges: usize, expected: &Expected) -> u64 {
    4 * (edges as u64 + u64::from(expected.vertices) + 1)
}

/// The rows before and after a batch, which change places.
struct Sparse {
    offsets: [DeviceVec<u32>; 2],
    edges: [DeviceVec<u32>; 2],
    starts: DeviceVec<u32>,
}

impl Sparse {
    fn new(context: &Context<'_>) -> Result<Self, DeviceError> {
        let (device, expected) = (context.device, context.expected);
        let vertices = expected.vertices as usize;
        let most = expected
            .states
            .iter()
            .map(|state| state.sources.len())
            .max();
        let words = |count: usize| DeviceVec::<u32>::zeroed(device, count);
        let most = most.unwrap_or(0).max(1);
        Ok(Sparse {
            offsets: [words(vertices + 1)?, words(vertices + 1)?],
            edges: [words(most)?, words(most)?],
            starts: words(vertices + 1)?,
        })
    }

    /// Inserts or deletes a batch; gives the time on the device, without that of the prefix sum over the batch's
    /// vertices, which the CPU does here.
    fn merge(
        &mut self,
        context: &Context<'_>,
        room: &Room,
        on: &Loaded,
        batch: &Batch,
        adding: bool,
    ) -> Result<Duration, Failed> {
        let kernels = context.kernels;
        let flag = u32::from(adding);
        self.starts
            .copy_from(&starts(batch, context.expected.vertices))?;
        let [offsets, moved] = &self.offsets;
        let [old, new] = &self.edges;
        let lanes = |count: usize| LaunchConfig::for_num_elems(count as u32);
        let edges = lanes(on.edges.len() + 1);
        let find = kernels.csr_find_launch(
            edges, offsets, old, &on.owners, &on.edges, &on.places, &on.counts, flag,
        );
        let mut launches = vec![find];
        launches.extend(room.sums.launches(kernels, &on.counts)?);
        launches.push(kernels.csr_offsets_launch(
            lanes(moved.len()),
            offsets,
            &self.starts,
            &on.counts,
            moved,
            flag,
        ));
        launches.push(kernels.csr_copy_launch(
            lanes(old.len().div_ceil(COPIED as usize)),
            offsets,
            &self.starts,
            &on.edges,
            &on.counts,
            old,
            new,
            flag,
        ));
        if adding {
            launches.push(kernels.csr_put_launch(edges, &on.edges, &on.places, &on.counts, new));
        }
        let time = run_all(context, &launches)?;
        self.offsets.swap(0, 1);
        self.edges.swap(0, 1);
        Ok(time)
    }
}

/// Where the edges of each vertex begin in a batch, and its end.
fn starts(batch: &Batch, vertices: u32) -> Vec<u32> {
    let mut starts = Vec::with_capacity(vertices as usize + 1);
    for segment in &batch.segments {
        starts.resize(segment.vertex as usize + 1, segment.begin);
    }
    starts.resize(vertices as usize + 1, batch.edges.len() as u32);
    starts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_without_edges_begin_where_the_next_does() {
        let batch = Batch::random(10, 5, 40, 1);
        let starts = starts(&batch, 10);
        assert_eq!(starts.len(), 11);
        for vertex in 0..10u32 {
            let row = starts[vertex as usize] as usize..starts[vertex as usize + 1] as usize;
            assert!(
                batch.owners[row.clone()]
                    .iter()
                    .all(|owner| *owner == vertex)
            );
            let edges = batch.owners.iter().filter(|owner| **owner == vertex);
            assert_eq!(row.len(), edges.count());
        }
    }
}
