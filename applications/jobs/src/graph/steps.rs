//! A pool that grows while the graph is built: steps, and what a launch that found it full has left to do.

use super::context::Context;
use super::report::Step;
use std::time::Instant;
use warpheap::device::HeapVec;
use warpheap::{DeviceError, DeviceVec, Growth, HostAlloc, KernelFailure, Pool, vector_lengths};
use warpheap_applications::graph::Segment;

/// Enlarges the pool of a run.
pub struct Steps {
    /// By how much; `None` if the pool has one size.
    growth: Option<Growth>,
    /// Edges of each vertex that whole batches have inserted.
    inserted: Vec<u32>,
    /// What was done.
    pub done: Vec<Step>,
}

impl Steps {
    /// The pool doubles, if the user said how large it may become.
    pub fn new(context: &Context<'_>) -> Self {
        let growth = context.grow.map(|most| Growth::double().at_most(most));
        let vertices = match growth {
            Some(_) => context.built.rows() as usize,
            None => 0,
        };
        Steps {
            growth,
            inserted: vec![0; vertices],
            done: Vec::new(),
        }
    }

    /// Enlarges a pool that was full; whether that is possible.
    ///
    /// # Errors
    /// The device cannot give as much.
    pub fn larger<A: HostAlloc>(
        &mut self,
        pool: &mut Pool<A>,
        failure: &KernelFailure,
    ) -> Result<bool, DeviceError> {
        let [full, _, unsupported] = failure.by_cause;
        let of_room = full > 0 && unsupported == 0 && failure.own() == 0;
        let next = self.growth.filter(|_| of_room);
        let Some(bytes) = next.and_then(|growth| growth.after(pool.bytes())) else {
            return Ok(false);
        };
        let started = Instant::now();
        pool.grow_to(bytes)?;
        self.done.push(Step {
            pool_bytes: bytes,
            time: started.elapsed(),
        });
        Ok(true)
    }

    /// What is left of a batch of which a launch inserted a part: a vector has the first edges of its segment.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn rest(
        &self,
        segments: &[Segment],
        vertices: &DeviceVec<HeapVec<u32>>,
    ) -> Result<Vec<Segment>, DeviceError> {
        let lengths: Vec<u32> = vector_lengths(vertices)?;
        let rest = segments.iter().map(|segment| {
            let vertex = segment.vertex as usize;
            let has = lengths[vertex].saturating_sub(self.inserted[vertex]);
            let all = segment.end - segment.begin;
            // A vector that has more than it was given is found by the check of the whole graph.
            Segment {
                begin: segment.begin + has.min(all),
                ..*segment
            }
        });
        Ok(rest.filter(|rest| rest.begin < rest.end).collect())
    }

    /// All edges of a batch are inserted.
    pub fn whole(&mut self, segments: &[Segment]) {
        if self.growth.is_some() {
            for segment in segments {
                self.inserted[segment.vertex as usize] += segment.end - segment.begin;
            }
        }
    }
}
