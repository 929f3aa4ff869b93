//! Sequences that are made up: reads of a random genome, some letters of them wrong.

use super::sequences::{Builder, Sequences};

/// How often each base of the genome is read, about.
const COVERAGE: u32 = 16;
/// Bases of a read.
const READ: u32 = 150;
/// One of so many bases is read wrongly.
const ERRORS: u64 = 500;

/// Reads of `bases` bases altogether, from either strand of a genome that is a sixteenth as long, but no shorter than a
/// read. The same seed makes the same reads.
pub fn reads(bases: u32, seed: u64) -> Sequences {
    some_reads(bases, seed, 0, 1)
}

/// Part `part` of `parts` of these reads, in their order. It takes as long as all of them: each read has its numbers behind those of
/// the one before.
pub fn some_reads(bases: u32, seed: u64, part: usize, parts: usize) -> Sequences {
    let border = |part: usize| (u64::from(bases.div_ceil(READ)) * part as u64) / parts as u64;
    let wanted = border(part)..border(part + 1);
    let mut random = Random(seed);
    let length = (bases / COVERAGE).max(READ);
    let genome: Vec<u32> = (0..length).map(|_| random.below(4) as u32).collect();
    let mut builder = Builder::default();
    for number in 0..bases.div_ceil(READ) {
        let length = READ.min(bases - number * READ);
        let kept = wanted.contains(&number.into());
        let begin = random.below(u64::from(genome.len() as u32 - length + 1)) as usize;
        let read = &genome[begin..begin + length as usize];
        let backwards = random.below(2) == 1;
        if kept {
            builder.begin();
        }
        for i in 0..read.len() {
            let mut base = match backwards {
                true => 3 - read[read.len() - 1 - i],
                false => read[i],
            };
            if random.below(ERRORS) == 0 {
                base = (base + 1 + random.below(3) as u32) % 4;
            }
            if kept {
                builder.push(base);
            }
        }
    }
    builder.finish()
}

/// SplitMix64: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `end`, by the upper half of a product.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
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
