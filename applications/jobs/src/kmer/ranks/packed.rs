//! Pieces as they travel, one behind the other: of each a word with the number of bases, the bases, a bit for each that follows a break.

use crate::kmer::options::MOST_BASES;
use crate::kmer::sequences::Builder;

/// Why a piece was not taken.
#[derive(Debug, PartialEq, Eq)]
pub enum Refused {
    /// It is not what [`words`] makes.
    Broken,
    /// With it there are more bases than 32 bits count.
    TooMany,
}

/// Puts a piece as words behind others; no word if it has no base.
pub fn pack(piece: &Builder, words: &mut Vec<u32>) {
    let (bases, breaks) = piece.words();
    if piece.len() > 0 {
        words.push(piece.len());
        words.extend_from_slice(bases);
        words.extend_from_slice(breaks);
    }
}

/// Puts pieces behind others.
pub fn append(all: &mut Builder, mut words: &[u32]) -> Result<(), Refused> {
    while let Some((&len, rest)) = words.split_first() {
        let (bases, rest) = rest
            .split_at_checked(len.div_ceil(16) as usize)
            .ok_or(Refused::Broken)?;
        let (breaks, rest) = rest
            .split_at_checked(len.div_ceil(32) as usize)
            .filter(|_| len > 0)
            .ok_or(Refused::Broken)?;
        if len > MOST_BASES - all.len() {
            return Err(Refused::TooMany);
        }
        all.append(len, bases, breaks);
        words = rest;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmer::generate;

    #[test]
    fn pieces_of_any_length_lie_behind_each_other() {
        let reads = generate::reads(700, 2);
        let mut all = Builder::default();
        let mut one_by_one = Builder::default();
        let (mut from, mut words) = (0, Vec::new());
        for length in [0, 1, 15, 16, 17, 31, 32, 33, 100, 5, 27] {
            let mut piece = Builder::default();
            for at in from..from + length {
                for into in [&mut piece, &mut one_by_one] {
                    if at == from || reads.follows_break(at) {
                        into.begin();
                    }
                    into.push(reads.base(at));
                }
            }
            from += length;
            pack(&piece, &mut words);
        }
        append(&mut all, &words).unwrap();
        let (all, expected) = (all.finish(), one_by_one.finish());
        assert_eq!(all.len, from);
        assert_eq!(all.bases, expected.bases);
        assert_eq!(all.breaks, expected.breaks);
    }

    #[test]
    fn what_is_no_piece_is_refused() {
        let mut all = Builder::default();
        for words in [&[1][..], &[17, 0, 0], &[0, 0, 0], &[u32::MAX]] {
            assert_eq!(append(&mut all, words), Err(Refused::Broken), "{words:?}");
        }
        assert_eq!(all.len(), 0);
    }
}
