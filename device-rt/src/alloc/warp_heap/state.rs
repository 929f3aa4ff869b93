//! The word of a chunk: what it is used for, and how much of it.
//!
//! The tag is in the upper eight bits. The count below it is of blocks (of units, in a chunk of units)
//! that are taken *or about to be*: whoever wants bits of a chunk adds to the count first or at the same
//! time and takes back what it did not get. So a count of zero says that nobody is at it, and a chunk
//! changes its use by a compare-and-swap that expects that.

/// Bits of the count.
const COUNT_BITS: u32 = 24;

/// The word of a chunk that nobody uses.
pub(crate) const FREE: u32 = 0;

/// Number of slab classes at most: sizes to 32 KiB in the largest chunks.
pub(crate) const SLAB_CLASSES: u32 = 40;

/// Tag of a chunk that is handed out in units.
pub(crate) const UNITS: u32 = SLAB_CLASSES + 1;
/// Tag of a chunk that somebody looks at to see whether it may get another use.
pub(crate) const LOCKED: u32 = UNITS + 1;
/// Tag of the first chunk of a block of more than a chunk.
pub(crate) const RUN_HEAD: u32 = LOCKED + 1;
/// Tag of its other whole chunks.
pub(crate) const RUN: u32 = RUN_HEAD + 1;

/// Set in the word of a slab that blocks are to leave: with it the tag is nobody's, so that nothing more is handed out.
pub(crate) const LEAVING: u32 = 1 << (COUNT_BITS + 6);

/// The tag of a slab class.
#[inline(always)]
pub(crate) const fn tag_for(class: u32) -> u32 {
    class + 1
}

/// The word of a chunk.
#[inline(always)]
pub(crate) const fn pack(tag: u32, count: u32) -> u32 {
    tag << COUNT_BITS | count
}

/// The tag of a chunk.
#[inline(always)]
pub(crate) const fn tag_of(state: u32) -> u32 {
    state >> COUNT_BITS
}

/// The count of a chunk.
#[inline(always)]
pub(crate) const fn count_of(state: u32) -> u32 {
    state & ((1 << COUNT_BITS) - 1)
}

/// The tag of a chunk, whether blocks are to leave it or not.
#[inline(always)]
pub(crate) const fn use_of(state: u32) -> u32 {
    tag_of(state & !LEAVING)
}

/// Whether nothing of a chunk with a use is taken, so that it may get another.
#[inline(always)]
pub(crate) const fn is_idle(state: u32) -> bool {
    (state != FREE) & (count_of(state) == 0) & (tag_of(state) <= UNITS)
}
