//! Sequences that are made up: reads of a random genome, some letters of them wrong.

use super::sequences::{Builder, Sequences};
use crate::ranks::border;
use crate::ranks::owner::mixed;
use crate::threads::in_parts;

/// How often each base of the genome is read, about.
const COVERAGE: u32 = 16;
/// Bases of a read.
const READ: u32 = 150;
/// One of so many bases is read wrongly.
const ERRORS: u64 = 500;
/// Reads that are worth a thread.
const LEAST_READS: u32 = 1 << 10;
/// SplitMix64's step.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Reads of `bases` bases altogether, from either strand of a genome that is a sixteenth as long, but no shorter than a
/// read. The same seed makes the same reads.
pub fn reads(bases: u32, seed: u64) -> Sequences {
    some_reads(bases, seed, 0, 1)
}

/// Part `part` of `parts` of these reads, in their order. Each read has numbers of its own, so a part takes its share of the time.
pub fn some_reads(bases: u32, seed: u64, part: usize, parts: usize) -> Sequences {
    let count = bases.div_ceil(READ);
    let border = |part| border(count.into(), part, parts) as u32;
    let (first, end) = (border(part), border(part + 1));
    let genome = Genome {
        key: mixed(seed.wrapping_add(GOLDEN)),
        length: (bases / COVERAGE).max(READ),
    };
    let pieces = in_parts(end - first, LEAST_READS, |range| {
        let mut builder = Builder::default();
        for number in first + range.start..first + range.end {
            let length = READ.min(bases - number * READ);
            genome.read(
                length,
                Random(mixed(genome.key ^ u64::from(number))),
                &mut builder,
            );
        }
        builder
    });
    let mut pieces = pieces.into_iter();
    let mut all = pieces.next().unwrap_or_default();
    for piece in pieces {
        all.append_all(&piece);
    }
    all.finish()
}

/// A random genome, of which each base is known by its place.
struct Genome {
    key: u64,
    length: u32,
}

impl Genome {
    /// Base `at`.
    fn base(&self, at: u32) -> u32 {
        let word = u64::from(at / 32) | 1 << 32;
        (mixed(self.key ^ word) >> (2 * (at % 32))) as u32 & 3
    }

    /// Appends a read of so many bases from anywhere.
    fn read(&self, length: u32, mut random: Random, builder: &mut Builder) {
        let begin = random.below(u64::from(self.length - length + 1)) as u32;
        let backwards = random.below(2) == 1;
        builder.begin();
        for i in 0..length {
            let mut base = match backwards {
                true => 3 - self.base(begin + length - 1 - i),
                false => self.base(begin + i),
            };
            if random.below(ERRORS) == 0 {
                base = (base + 1 + random.below(3) as u32) % 4;
            }
            builder.push(base);
        }
    }
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        mixed(self.0)
    }

    /// A number below `end`, by the upper half of a product.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::*;

    #[test]
    fn as_many_bases_as_asked_for_and_the_same_again() {
        for bases in [1, 149, 150, 151, 10_000] {
            let reads = reads(bases, 7);
            assert_eq!(reads.len, bases);
            assert_eq!(reads.records, bases.div_ceil(READ));
        }
        assert_eq!(reads(1000, 7).bases, reads(1000, 7).bases);
        assert_ne!(reads(1000, 7).bases, reads(1000, 8).bases);
    }

    #[test]
    fn reads_cover_a_genome_with_few_errors() {
        let bases = 400_000;
        let counts = reference::count(&reads(bases, 3), 21, true);
        let genome = u64::from(bases / COVERAGE);
        let spectrum = counts.found(0).spectrum;
        let often: u64 = (spectrum.iter().filter(|(count, _)| *count >= 4))
            .map(|(_, kmers)| kmers)
            .sum();
        assert!(
            (genome * 95 / 100..genome).contains(&often),
            "{often} of {genome}"
        );
        // Of 21 letters one is wrong in four hundredths of all.
        let once = spectrum[0].1 * 100 / counts.total;
        assert!((2..=5).contains(&once), "{once} %");
    }

    #[test]
    fn parts_are_all_reads_in_their_order() {
        let all = reads(1000, 7);
        for parts in [2, 3, 20] {
            let mut at = 0;
            for part in (0..parts).map(|part| some_reads(1000, 7, part, parts)) {
                for i in 0..part.len {
                    let both = [all.base(at), all.follows_break(at).into()];
                    assert_eq!([part.base(i), part.follows_break(i).into()], both);
                    at += 1;
                }
            }
            assert_eq!(at, 1000, "{parts} parts");
        }
    }
}
