//! The word of a page: its chunk size in granules and how many of its chunks are reserved.
//!
//! | bits | content |
//! |---|---|
//! | 20..32 | granules of a chunk; 0 for a page that is not split; two codes for pages of a run |
//! | 0..20 | chunks reserved |
//!
//! One word for both means that an addition to the count learns the chunk size that it counted for,
//! and that a page is reset, or taken for a run, only while nothing of it is reserved. Lanes add
//! what they hope for and take back what was too much, so for a moment the count may exceed the
//! number of chunks by one for each lane that runs at the time: 20 bits are enough for a device
//! with a million of them.

/// Bits of the count.
const COUNT_BITS: u32 = 20;
const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;

/// In place of a chunk size: the first page of a run.
pub(crate) const MULTI_HEAD: u32 = 0xffe;
/// In place of a chunk size: a later page of a run.
pub(crate) const MULTI_TAIL: u32 = 0xfff;

/// A page that is neither split nor part of a run.
pub(crate) const FREE: u32 = 0;

#[inline(always)]
pub(crate) const fn pack(chunk: u32, count: u32) -> u32 {
    chunk << COUNT_BITS | count
}

/// Granules of a chunk, 0 for a page that is not split.
#[inline(always)]
pub(crate) const fn chunk_of(state: u32) -> u32 {
    state >> COUNT_BITS
}

/// Chunks reserved.
#[inline(always)]
pub(crate) const fn count_of(state: u32) -> u32 {
    state & COUNT_MASK
}

/// Whether the page belongs to a run.
#[inline(always)]
pub(crate) const fn is_multi(state: u32) -> bool {
    chunk_of(state) >= MULTI_HEAD
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::scatter::MAX_PAGE_GRANULES;

    #[test]
    fn a_count_beyond_the_chunks_does_not_reach_the_chunk_size() {
        let lanes = 1_000_000;
        let state = pack(1, MAX_PAGE_GRANULES) + lanes;
        assert_eq!(
            (chunk_of(state), count_of(state)),
            (1, MAX_PAGE_GRANULES + lanes)
        );
        assert!(!is_multi(pack(MAX_PAGE_GRANULES, COUNT_MASK)));
        assert!(is_multi(pack(MULTI_TAIL, 0)) && is_multi(pack(MULTI_HEAD, 7)));
    }
}
