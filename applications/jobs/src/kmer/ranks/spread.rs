//! K-mers brought to the ranks that count them.

use super::owners::Cutter;
use super::packed::{self, Refused};
use crate::error::JobError;
use crate::kmer::options::{MOST_BASES, Options};
use crate::kmer::sequences::{Builder, Sequences};
use crate::progress::Progress;
use crate::ranks::rounds::{self, Rounds, Times};
use crate::threads::in_parts;
use std::sync::mpsc::Sender;
use warpheap_dist::World;

/// Places that are worth a thread.
const LEAST: u32 = 1 << 14;

/// What a rank has to count, and what it took to bring it there.
pub struct Spread {
    /// Pieces of sequences with all k-mers that belong to this rank, and no others.
    pub sequences: Sequences,
    /// K-mers of the part that this rank read.
    pub kmers: u64,
    /// Cutting sequences and putting together what came, and the exchange.
    pub times: Times,
}

/// Sends what this rank read to those that count it, `batch` places of the sequences at a time, and receives its own, which also goes
/// to whoever is `counting`, round by round. A call of all ranks.
///
/// # Errors
/// A rank would get more bases than a device counts; an exchange fails.
pub fn spread(
    world: &World,
    sequences: &Sequences,
    options: &Options,
    counting: Sender<Sequences>,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let places = sequences.places(options.k);
    let rounds = u64::from(places.div_ceil(options.batch));
    let mut pieces = Pieces {
        cutter: Cutter::new(options.k, world.size()),
        ranks: world.size(),
        sequences,
        batch: options.batch,
        places,
        kmers: 0,
        received: Builder::default(),
        counting,
        outcome: Ok(()),
    };
    let bar = progress.bar("exchanging k-mers".to_owned(), rounds);
    let times = rounds::all(world, rounds, &mut pieces, || bar.advance(1))?;
    // Whoever has no room went on: the others find out here.
    world.agree(pieces.outcome)?;
    Ok(Spread {
        sequences: pieces.received.finish(),
        kmers: pieces.kmers,
        times,
    })
}

/// What is cut, and what came.
struct Pieces<'a> {
    cutter: Cutter,
    ranks: usize,
    sequences: &'a Sequences,
    /// Places of a round.
    batch: u32,
    /// Places of all.
    places: u32,
    /// K-mers that were cut.
    kmers: u64,
    received: Builder,
    /// Where each round goes to be counted.
    counting: Sender<Sequences>,
    outcome: Result<(), JobError>,
}

impl Rounds<u32> for Pieces<'_> {
    fn cut(&mut self, round: u64) -> Vec<Vec<u32>> {
        let border = |round: u64| (round * u64::from(self.batch)).min(self.places.into()) as u32;
        let places = border(round)..border(round + 1);
        let first = places.start;
        let cut = in_parts(places.end - first, LEAST, |range| {
            let places = first + range.start..first + range.end;
            self.cutter.pieces(self.sequences, places)
        });
        let mut parts = vec![Vec::new(); self.ranks];
        for (pieces, kmers) in cut {
            self.kmers += kmers;
            for (part, piece) in parts.iter_mut().zip(&pieces) {
                packed::pack(piece, part);
            }
        }
        parts
    }

    fn take(&mut self, parts: Vec<Vec<u32>>) {
        let mut round = Builder::default();
        for (from, piece) in parts.iter().enumerate() {
            let appended = packed::append(&mut round, piece);
            let appended = appended.and_then(|()| packed::append(&mut self.received, piece));
            let appended = appended.map_err(|why| refused(from, &why));
            self.outcome = std::mem::replace(&mut self.outcome, Ok(())).and(appended);
        }
        // Whoever counts may have failed: then all is counted once more.
        let _ = self.counting.send(round.finish());
    }
}

fn refused(from: usize, why: &Refused) -> JobError {
    JobError::Run(match why {
        Refused::Broken => {
            format!("what rank {from} sent is no piece of sequence: ranks run one program")
        }
        Refused::TooMany => format!(
            "more than {MOST_BASES} bases with k-mers of this rank, and its device counts no more: take more ranks"
        ),
    })
}
