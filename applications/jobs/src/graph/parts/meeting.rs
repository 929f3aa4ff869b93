//! Where the ranks of a job meet while they work on a graph.

use crate::error::JobError;
use std::cell::Cell;
use warpheap_dist::World;

/// The ranks of a job, each of which builds a part of a graph.
#[derive(Debug)]
pub struct Meeting<'a> {
    world: &'a World,
    /// Whether the others, if something fails here, wait for what this rank sends, and not in [`World::agree`].
    apart: Cell<bool>,
}

impl<'a> Meeting<'a> {
    /// The ranks of this world.
    pub fn new(world: &'a World) -> Self {
        Meeting {
            world,
            apart: Cell::new(false),
        }
    }

    /// Waits until all ranks have built their parts, and does `work`, in which they send each other what they find. A rank that has not
    /// built its part does not come here: it agrees with the others that it failed, by [`agree`](Self::agree).
    ///
    /// # Errors
    /// Those of `work`.
    pub fn together<T>(
        &self,
        work: impl FnOnce(&World) -> Result<T, JobError>,
    ) -> Result<T, JobError> {
        self.world.agree(Ok::<_, JobError>(()))?;
        self.apart.set(true);
        let done = work(self.world)?;
        self.apart.set(false);
        Ok(done)
    }

    /// As [`World::agree`]. But what failed while ranks worked together is an error at once, which ends the job on all ranks: the others
    /// wait for something else.
    ///
    /// # Errors
    /// What `outcome` has.
    pub fn agree<T>(&self, outcome: Result<T, JobError>) -> Result<T, JobError> {
        match outcome {
            Err(error) if self.apart.get() => Err(error),
            outcome => self.world.agree(outcome),
        }
    }
}
