//! Pinned memory that copies of streams go through, kept for the next ones.
//!
//! A copy from or to other memory of the host makes the driver wait for the stream. Pinning takes longer than most copies, so pieces
//! are kept by their size, a power of two; small ones are cut from slabs.

use std::collections::BTreeMap;
use std::ptr::NonNull;

/// The smallest piece.
const LEAST: usize = 4 << 10;

/// What smaller pieces are cut from.
const SLAB: usize = 1 << 20;

/// Bytes of large pieces that are kept though nobody uses them.
const KEPT: usize = 256 << 20;

/// The largest copy that goes through one piece.
pub(crate) const MOST: usize = 64 << 20;

/// Pinned memory. It is not freed by itself.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) start: NonNull<u8>,
    pub(crate) bytes: usize,
}

// SAFETY: who has it is the only one that uses the memory, from whatever thread.
unsafe impl Send for Piece {}

/// Pieces that nobody uses.
#[derive(Default)]
pub(crate) struct Staging {
    free: BTreeMap<usize, Vec<NonNull<u8>>>,
    slabs: Vec<NonNull<u8>>,
    /// Bytes of free pieces that are not parts of slabs.
    large: usize,
}

// SAFETY: as for pieces.
unsafe impl Send for Staging {}

impl Staging {
    /// The size of the piece for so many bytes.
    fn class(bytes: usize) -> usize {
        bytes.max(LEAST).next_power_of_two()
    }

    /// How much to pin when there is no piece for so many bytes.
    pub(crate) fn room(bytes: usize) -> usize {
        Self::class(bytes).max(SLAB)
    }

    /// A free piece for so many bytes.
    pub(crate) fn take(&mut self, bytes: usize) -> Option<Piece> {
        let bytes = Self::class(bytes);
        let start = self.free.get_mut(&bytes)?.pop()?;
        if bytes >= SLAB {
            self.large -= bytes;
        }
        Some(Piece { start, bytes })
    }

    /// A piece for so many bytes out of memory that was just pinned for it, [`room`](Self::room) bytes of it.
    pub(crate) fn cut(&mut self, pinned: NonNull<u8>, bytes: usize) -> Piece {
        let class = Self::class(bytes);
        if class >= SLAB {
            return Piece {
                start: pinned,
                bytes: class,
            };
        }
        self.slabs.push(pinned);
        let rest = (class..SLAB).step_by(class).rev();
        let rest = rest.filter_map(|at| NonNull::new(pinned.as_ptr().wrapping_add(at)));
        self.free.entry(class).or_default().extend(rest);
        Piece {
            start: pinned,
            bytes: class,
        }
    }

    /// Takes a piece back that nothing uses any more.
    pub(crate) fn give(&mut self, piece: Piece) {
        if piece.bytes >= SLAB {
            self.large += piece.bytes;
        }
        self.free.entry(piece.bytes).or_default().push(piece.start);
    }

    /// Whether there are more large pieces that nobody uses than are kept.
    pub(crate) fn has_surplus(&self) -> bool {
        self.large > KEPT
    }

    /// One of these, to be given back.
    pub(crate) fn surplus(&mut self) -> Option<NonNull<u8>> {
        if !self.has_surplus() {
            return None;
        }
        let (bytes, start) = self
            .free
            .range_mut(SLAB..)
            .rev()
            .find_map(|(bytes, starts)| Some((*bytes, starts.pop()?)))?;
        self.large -= bytes;
        Some(start)
    }

    /// All that was pinned, for the end of the device; every piece was given back.
    pub(crate) fn close(self) -> impl Iterator<Item = NonNull<u8>> {
        let large = self.free.into_iter().filter(|(bytes, _)| *bytes >= SLAB);
        large.flat_map(|(_, starts)| starts).chain(self.slabs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory that is not there, at a multiple of a slab's size.
    fn pinned(at: usize) -> NonNull<u8> {
        NonNull::new(std::ptr::without_provenance_mut(at * SLAB)).unwrap()
    }

    #[test]
    fn small_pieces_share_a_slab_and_do_not_overlap() {
        let mut staging = Staging::default();
        assert_eq!(staging.take(100), None);
        assert_eq!(Staging::room(100), SLAB);
        let mut pieces = vec![staging.cut(pinned(1), 100)];
        while let Some(piece) = staging.take(1) {
            pieces.push(piece);
        }
        assert_eq!(pieces.len(), SLAB / LEAST);
        let mut starts: Vec<_> = pieces
            .iter()
            .map(|piece| piece.start.addr().get())
            .collect();
        starts.sort();
        let want: Vec<_> = (0..SLAB / LEAST).map(|i| SLAB + i * LEAST).collect();
        assert_eq!(starts, want);
        assert!(pieces.iter().all(|piece| piece.bytes == LEAST));
    }

    #[test]
    fn pieces_are_used_again_by_their_size() {
        let mut staging = Staging::default();
        let piece = staging.cut(pinned(1), 3 * SLAB);
        assert_eq!(piece.bytes, 4 * SLAB);
        assert_eq!(Staging::room(3 * SLAB), 4 * SLAB);
        staging.give(piece);
        assert_eq!(staging.take(SLAB), None);
        assert_eq!(staging.take(LEAST), None);
        let again = staging.take(4 * SLAB).unwrap();
        assert_eq!(again.start, pinned(1));
        assert_eq!(staging.take(4 * SLAB), None);
    }

    #[test]
    fn what_is_too_much_is_handed_out_the_largest_first() {
        let mut staging = Staging::default();
        let count = KEPT / MOST;
        for at in 0..count {
            let piece = staging.cut(pinned(100 + at), MOST);
            staging.give(piece);
        }
        assert_eq!(staging.surplus(), None);
        let small = staging.cut(pinned(1), SLAB);
        staging.give(small);
        assert!(staging.surplus().unwrap() >= pinned(100));
        assert_eq!(staging.surplus(), None);
    }

    #[test]
    fn closing_hands_out_slabs_and_large_pieces() {
        let mut staging = Staging::default();
        let small = staging.cut(pinned(1), 8);
        staging.give(small);
        let large = staging.cut(pinned(2), 2 * SLAB);
        staging.give(large);
        let mut all: Vec<_> = staging.close().collect();
        all.sort();
        assert_eq!(all, [pinned(1), pinned(2)]);
    }
}
