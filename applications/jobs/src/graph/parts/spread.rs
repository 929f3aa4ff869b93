//! Edges brought to the ranks that build them.

use super::arrivals::Arrivals;
use super::borders::Borders;
use crate::error::JobError;
use crate::progress::Progress;
use crate::ranks::cut::by_owner;
use crate::ranks::rounds::{self, Rounds, Times};
use warpheap_dist::World;

/// Edges that a rank sends at a time, at most.
const MOST: u32 = 1 << 24;

/// What a rank has to build, and what it took to bring it there.
pub struct Spread {
    /// All edges that enter this rank's vertices, in the order of the whole input. Targets count from the first of the vertices.
    pub edges: Vec<[u32; 2]>,
    /// Sorting edges by ranks and putting together what came, and the exchange.
    pub times: Times,
}

/// Sends the edges that this rank read to those that build them, `batch` at a time, and receives its own. A call of all ranks.
///
/// # Errors
/// More edges than 32 bits count for one rank; as [`World::exchange`]; edges that are lost.
pub fn spread(
    world: &World,
    edges: Vec<[u32; 2]>,
    borders: &Borders,
    batch: u32,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let batch = batch.min(MOST) as usize;
    let rounds = edges.len().div_ceil(batch) as u64;
    let bar = progress.bar("exchanging edges".to_owned(), rounds);
    let sending: Vec<[u64; 1]> = borders.mine.iter().map(|edges| [*edges]).collect();
    let coming = world.exchange(&sending)?.concat();
    let mine = Arrivals::new(borders.of(world.rank()).start, &coming);
    let mut edges = Edges {
        edges,
        batch,
        borders,
        ranks: world.size(),
        arrivals: world.agree(mine)?,
    };
    let exchange = |parts: Vec<Vec<[u32; 2]>>| world.exchange(&parts);
    let times = rounds::all(world, rounds, &mut edges, exchange, || bar.advance(1))?;
    let edges = world.agree(edges.arrivals.finish())?;
    Ok(Spread { edges, times })
}

/// The edges that are sent, and those that came.
struct Edges<'a> {
    edges: Vec<[u32; 2]>,
    batch: usize,
    borders: &'a Borders,
    ranks: usize,
    arrivals: Arrivals,
}

impl Rounds for Edges<'_> {
    type Out = Vec<Vec<[u32; 2]>>;
    type In = Vec<Vec<[u32; 2]>>;

    fn cut(&mut self, round: u64) -> Vec<Vec<[u32; 2]>> {
        let batch = self.edges.chunks(self.batch).nth(round as usize);
        by_owner(batch.unwrap_or_default(), self.ranks, |[_, target]| {
            self.borders.owner(*target)
        })
    }

    fn take(&mut self, parts: Vec<Vec<[u32; 2]>>) {
        self.arrivals.take(&parts);
    }
}
