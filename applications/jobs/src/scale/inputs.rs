//! What is shared out, even and skewed. All of it is a function of a seed, in arithmetic that is the same on every machine.

use crate::kmer::Sequences;
use crate::kmer::generate;
use crate::kmer::sequences::Builder;
use crate::ranks::owner::{mixed, of_hash};

/// Bases of a read.
const READ: u32 = 150;
/// Genomes of a sample.
const GENOMES: u32 = 1000;
/// Bases of the repeat, as long as the commonest one of the human genome.
const REPEAT: u32 = 300;
/// One base in so many is in a copy of the repeat: a tenth, as there.
const SHARE_OF_REPEAT: u32 = 10;

/// Where k-mers are from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// Reads of one genome, as `warpheap kmer` generates them.
    Genome,
    /// Reads of a thousand genomes whose abundances fall as one over their number: Zipf's law.
    Abundances,
    /// A genome of which a tenth is copies of one repeat of 300 bases, of which one base in ten is another.
    Repeats,
}

impl Reads {
    /// About so many bases of such reads.
    pub fn sequences(self, bases: u32) -> Sequences {
        let mut builder = Builder::default();
        match self {
            Reads::Genome => return generate::reads(bases, 1),
            Reads::Abundances => {
                let abundance = Zipf::new(GENOMES);
                // All genomes are as long, together as long as they are covered sixteen times.
                let length = (bases / 16 / GENOMES).max(READ);
                for read in 0..bases / READ {
                    let draw = mixed(u64::from(read) + 1);
                    let genome = u64::from(abundance.draw(draw));
                    let begin = of_hash(mixed(draw), (length - READ + 1) as usize) as u32;
                    builder.begin();
                    (begin..begin + READ).for_each(|at| builder.push(base(genome + 1, at)));
                }
            }
            Reads::Repeats => {
                builder.begin();
                let mut at = 0;
                while at < bases {
                    // Where copies of the repeat lie is by chance.
                    let copy = mixed(u64::from(at) ^ 1 << 40) % u64::from(SHARE_OF_REPEAT) == 0;
                    for inside in 0..REPEAT {
                        let other = mixed(u64::from(at + inside) ^ 2 << 40) % 10 == 0;
                        builder.push(match copy && !other {
                            true => base(0, inside),
                            false => base(u64::from(GENOMES) + 1, at + inside),
                        });
                    }
                    at += REPEAT;
                }
            }
        }
        builder.finish()
    }
}

/// Base `at` of a random genome.
fn base(genome: u64, at: u32) -> u32 {
    mixed(genome << 32 | u64::from(at)) as u32 & 3
}

/// Keys of rows: so many rows, drawn from as many keys. If they are skewed, the n-th key comes as often as one over n: Zipf's law.
pub fn keys(rows: u32, skewed: bool) -> Vec<u32> {
    let zipf = skewed.then(|| Zipf::new(rows));
    let key = |row: u32| {
        let draw = mixed(u64::from(row) + 1);
        match &zipf {
            Some(zipf) => zipf.draw(draw),
            None => of_hash(draw, rows as usize) as u32,
        }
    };
    (0..rows).map(key).collect()
}

/// Numbers from 0, of which the n-th comes as often as one over n + 1.
struct Zipf {
    /// The sums of the shares up to each number. Divisions and sums are the same on every machine.
    ends: Vec<f64>,
}

impl Zipf {
    fn new(numbers: u32) -> Self {
        let mut sum = 0.0;
        let end = |number: u32| {
            sum += 1.0 / f64::from(number + 1);
            sum
        };
        Zipf {
            ends: (0..numbers).map(end).collect(),
        }
    }

    /// The number of a draw of 64 bits.
    fn draw(&self, draw: u64) -> u32 {
        let last = self.ends.last().copied().unwrap_or(0.0);
        // 53 bits, as many as the number has.
        let at = (draw >> 11) as f64 / (1u64 << 53) as f64 * last;
        self.ends.partition_point(|end| *end <= at) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skewed_keys_follow_the_law_and_others_do_not() {
        let often = |keys: &[u32], key| keys.iter().filter(|other| **other == key).count();
        let skewed = keys(100_000, true);
        // The sum of 100,000 shares is 12.1.
        assert!((7800..8700).contains(&often(&skewed, 0)));
        assert!((3900..4400).contains(&often(&skewed, 1)));
        let even = keys(100_000, false);
        assert!((0..10).all(|key| often(&even, key) < 10));
    }

    #[test]
    fn reads_are_as_long_as_asked_for() {
        for reads in [Reads::Genome, Reads::Abundances, Reads::Repeats] {
            let len = reads.sequences(60_000).len;
            assert!((59_000..61_000).contains(&len), "{reads:?}: {len}");
        }
    }
}
