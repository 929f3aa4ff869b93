//! Edges that come to the rank that builds them.

use crate::error::JobError;
use std::ops::Range;

/// Edges that came, and room for those that are still to come: one behind the other by the ranks that read them, so that they lie in
/// the order of the whole input.
pub struct Arrivals {
    /// The first vertex of this rank, from which targets count.
    first: u32,
    edges: Vec<[u32; 2]>,
    /// Where the next ones of each rank belong, and those behind them end.
    room: Vec<Range<usize>>,
}

impl Arrivals {
    /// Nothing yet, and so many are coming from each rank, to vertices from `first` on.
    ///
    /// # Errors
    /// [`JobError::Usage`] for more than 32 bits count.
    pub fn new(first: u32, coming: &[u64]) -> Result<Self, JobError> {
        let all: u64 = coming.iter().sum();
        if all > u32::MAX.into() {
            return Err(JobError::Usage(format!(
                "{all} edges enter the vertices of one rank; at most {} can be handled: take more ranks",
                u32::MAX
            )));
        }
        let mut end = 0;
        let room = coming.iter().map(|&coming| {
            let begin = end;
            end += coming as usize;
            begin..end
        });
        Ok(Arrivals {
            first,
            room: room.collect(),
            edges: vec![[0; 2]; all as usize],
        })
    }

    /// Keeps what came from each rank.
    pub fn take(&mut self, parts: &[Vec<[u32; 2]>]) {
        for (room, part) in self.room.iter_mut().zip(parts) {
            let to = &mut self.edges[room.clone()];
            for (to, [source, target]) in to.iter_mut().zip(part) {
                *to = [*source, target.wrapping_sub(self.first)];
            }
            // Beyond its end if more came than there is room for.
            room.start += part.len();
        }
    }

    /// All edges in the order of the whole input, once all have come.
    ///
    /// # Errors
    /// [`JobError::Run`] if they have not, or others too.
    pub fn finish(self) -> Result<Vec<[u32; 2]>, JobError> {
        for (from, room) in self.room.iter().enumerate() {
            if room.start != room.end {
                let other = match room.start < room.end {
                    true => "fewer",
                    false => "more",
                };
                return Err(JobError::Run(format!(
                    "rank {from} sent {other} edges than it said: the MPI library or the network is wrong"
                )));
            }
        }
        Ok(self.edges)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lie_in_the_order_of_the_whole_input() {
        let mut arrivals = Arrivals::new(10, &[3, 0, 2]).unwrap();
        // A round of each rank, and another one.
        arrivals.take(&[vec![[7, 10], [8, 11]], vec![], vec![[1, 19]]]);
        arrivals.take(&[vec![[9, 10]], vec![], vec![[2, 10]]]);
        let edges = arrivals.finish().unwrap();
        assert_eq!(edges, [[7, 0], [8, 1], [9, 0], [1, 9], [2, 0]]);
    }

    #[test]
    fn lost_edges_are_told() {
        for (part, says) in [
            (vec![[1, 0]], "rank 0 sent fewer edges"),
            (vec![[1, 0]; 3], "rank 0 sent more edges"),
        ] {
            let mut arrivals = Arrivals::new(0, &[2]).unwrap();
            arrivals.take(&[part]);
            let error = arrivals.finish().unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
        let many = Arrivals::new(0, &[1 << 31, 1 << 31]).err();
        assert!(many.is_some_and(|error| error.to_string().contains("4294967296 edges")));
    }
}
