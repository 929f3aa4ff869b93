//! About how many different k-mers a rank will get, before any is sent.

use crate::error::JobError;
use crate::kmer::options::Options;
use crate::kmer::sequences::Sequences;
use crate::kmer::survey::{self, Survey};
use crate::ranks::owner::{mixed, of_hash};
use warpheap_dist::{Op, World};

/// What a rank gets if all get as many, and a fourth more, since they do not; and how many k-mers this one has. A call of all ranks.
///
/// # Errors
/// As [`World::exchange`].
pub fn of_a_rank(
    world: &World,
    sequences: &Sequences,
    options: &Options,
) -> Result<(Survey, u64), JobError> {
    let size = world.size();
    let mut places = [sequences.places(options.k).into()];
    world.reduce(Op::Sum, &mut places)?;
    let bits = survey::bits(places[0]);
    let (total, sample) = survey::sample(sequences, options.k, options.canonical, bits);
    // Each k-mer of the sample is counted by one rank, whoever has met it.
    let mut parts = vec![Vec::new(); size];
    for kmer in sample {
        parts[of_hash(mixed(!kmer), size)].push(kmer);
    }
    let mut different: Vec<u64> = world.exchange(&parts)?.concat();
    different.sort_unstable();
    different.dedup();
    let mut sums = [total, different.len() as u64];
    world.reduce(Op::Sum, &mut sums)?;
    let size = size as u64;
    let all = Survey::of_sample(sums[0], sums[1], bits);
    let expected = Survey {
        total: all.total / size,
        distinct: all.distinct / size * 5 / 4 + 1,
    };
    Ok((expected, total))
}
