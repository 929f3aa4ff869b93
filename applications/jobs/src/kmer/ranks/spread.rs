//! K-mers brought to the ranks that count them.

use super::owners::Cutter;
use super::packed::{self, Refused};
use crate::error::JobError;
use crate::kmer::options::{MOST_BASES, Options};
use crate::kmer::sequences::{Builder, Sequences};
use crate::progress::Progress;
use std::time::{Duration, Instant};
use warpheap_dist::{Op, World};

/// What a rank has to count, and what it took to bring it there.
pub struct Spread {
    /// Pieces of sequences with all k-mers that belong to this rank, and no others.
    pub sequences: Sequences,
    /// K-mers of the part that this rank read.
    pub kmers: u64,
    /// Cutting sequences, and putting together what came.
    pub cut: Duration,
    /// Sending and receiving, and waiting for others.
    pub exchange: Duration,
}

/// Sends what this rank read to those that count it, `batch` places of the sequences at a time, and receives its own. A call of
/// all ranks.
///
/// # Errors
/// A rank would get more bases than a device counts; an exchange fails.
pub fn spread(
    world: &World,
    sequences: &Sequences,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Spread, JobError> {
    let cutter = Cutter::new(options.k, world.size());
    let places = sequences.places(options.k);
    let mut rounds = [places.div_ceil(options.batch).into()];
    world.reduce(Op::Max, &mut rounds)?;
    let bar = progress.bar("exchanging k-mers".to_owned(), rounds[0]);
    let mut received = Builder::default();
    let mut outcome = Ok(());
    let (mut kmers, mut cut, mut exchange) = (0, Duration::ZERO, Duration::ZERO);
    let mut first = 0;
    for _ in 0..rounds[0] {
        let started = Instant::now();
        let end = places.min(first + options.batch.min(places - first));
        let (pieces, here) = cutter.pieces(sequences, first..end);
        let pieces: Vec<Vec<u32>> = pieces.iter().map(packed::words).collect();
        kmers += here;
        first = end;
        cut += started.elapsed();

        let started = Instant::now();
        let pieces = world.exchange(&pieces)?;
        exchange += started.elapsed();

        let started = Instant::now();
        // Whoever has no room goes on: the others find out when all are through.
        for (from, piece) in pieces.iter().enumerate() {
            let appended = packed::append(&mut received, piece);
            outcome = outcome.and(appended.map_err(|why| refused(from, &why)));
        }
        cut += started.elapsed();
        bar.advance(1);
    }
    world.agree(outcome)?;
    Ok(Spread {
        sequences: received.finish(),
        kmers,
        cut,
        exchange,
    })
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
