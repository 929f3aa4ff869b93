//! Pieces of sequence as they travel, and as sequences.

use crate::kmer::options::MOST_BASES;
use crate::kmer::sequences::Builder;
use warpheap_applications::supermer::Supermer;

/// The piece of so many k-mers with these bases.
pub fn packed(bases: impl Iterator<Item = u32>, kmers: u32) -> Supermer {
    let mut words = [0; 4];
    for (base, at) in bases.zip(0..) {
        words[at / 16] |= base << (at % 16 * 2);
    }
    words[3] |= kmers << 26;
    Supermer { words }
}

/// Puts a piece of k-mers of `k` bases behind others, if 32 bits count all bases.
pub fn append(all: &mut Builder, piece: Supermer, k: u32) -> Result<(), TooMany> {
    let len = piece.kmers() + k - 1;
    if len > MOST_BASES - all.len() {
        return Err(TooMany);
    }
    all.begin();
    for at in 0..len {
        all.push(piece.words[at as usize / 16] >> (at % 16 * 2) & 3);
    }
    Ok(())
}

/// There are more bases than 32 bits count.
#[derive(Debug, PartialEq, Eq)]
pub struct TooMany;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_the_bases_that_were_packed() {
        let bases: Vec<u32> = (0..61).map(|i| i * i % 7 % 4).collect();
        let mut all = Builder::default();
        for (kmers, k) in [(1, 1), (31, 31), (61, 1), (2, 16)] {
            let some = bases.iter().copied().take((kmers + k - 1) as usize);
            let piece = packed(some, kmers);
            assert_eq!(piece.kmers(), kmers);
            append(&mut all, piece, k).unwrap();
        }
        let all = all.finish();
        let mut at = 0;
        for len in [1, 61, 61, 17] {
            for (inside, base) in bases[..len].iter().enumerate() {
                assert_eq!(all.base(at), *base);
                assert_eq!(all.follows_break(at), inside == 0);
                at += 1;
            }
        }
        assert_eq!(all.len, at);
    }
}
