//! Numbers of all ranks made one, and parts of all ranks brought to one.

use crate::{DistError, World};
use warpheap::api::Element;

/// What is made of the numbers of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Their sum, modulo 2⁶⁴.
    Sum,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl World {
    /// Replaces each number by the sum, least or greatest of those that the ranks have in its place: the same on all ranks. A call
    /// of all ranks.
    ///
    /// # Errors
    /// [`DistError::Lengths`] on all ranks if they do not have equally many numbers.
    pub fn reduce(&self, op: Op, numbers: &mut [u64]) -> Result<(), DistError> {
        // The greatest of the complements is the complement of the least.
        let length = numbers.len() as u64;
        let mut lengths = [length, !length];
        self.link().reduce(Op::Max, &mut lengths);
        let [most, least] = [lengths[0], !lengths[1]];
        if least != most {
            return Err(DistError::Lengths { least, most });
        }
        self.link().reduce(op, numbers);
        Ok(())
    }

    /// What each rank has, on rank 0 in the order of ranks, and nothing on the others. A call of all ranks.
    ///
    /// # Errors
    /// As [`exchange`](World::exchange).
    pub fn gather<T: Element + Copy>(&self, mine: &[T]) -> Result<Vec<Vec<T>>, DistError> {
        let mut parts = vec![&[][..]; self.size()];
        parts[0] = mine;
        let mut all = self.exchange(&parts)?;
        if self.rank() != 0 {
            all.clear();
        }
        Ok(all)
    }
}
