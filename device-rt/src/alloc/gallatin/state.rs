//! The words that lanes meet on: the state of a segment, the counts of a block's slices that were handed out
//! and that came back, a block buffer.

/// Where things lie in a segment's part of the memory table.
#[derive(Clone, Copy)]
pub(crate) struct Places {
    /// Words before the counters of its blocks.
    pub counters: u32,
    /// Words of a segment.
    pub words: u32,
}

const TAG_SHIFT: u32 = 24;
/// Half of what a count has room for. The count of a segment may be below zero for a moment.
const HALF: u32 = 1 << (TAG_SHIFT - 1);

/// Tag of a segment that is in no use, and of a block that nobody has.
pub(crate) const UNUSED: u32 = 0;
/// Tag of the first segment of a request of several.
pub(crate) const RUN_HEAD: u32 = 62;
/// Tag of the other segments of such a request.
pub(crate) const RUN: u32 = 63;
/// Tag of a block that is handed out as a whole.
pub(crate) const WHOLE: u32 = 64;

/// Tag of segments and blocks of a class.
#[inline(always)]
pub(crate) const fn tag_for(class: u32) -> u32 {
    class + 1
}

/// A tag with a count.
#[inline(always)]
pub(crate) const fn pack(tag: u32, count: u32) -> u32 {
    (tag << TAG_SHIFT).wrapping_add(count)
}

/// The tag of a segment.
#[inline(always)]
pub(crate) const fn segment_tag(state: u32) -> u32 {
    state.wrapping_add(HALF) >> TAG_SHIFT
}

/// How many blocks a segment has to hand out; as a signed number.
#[inline(always)]
pub(crate) const fn segment_blocks(state: u32) -> i32 {
    (state << (32 - TAG_SHIFT)) as i32 >> (32 - TAG_SHIFT)
}

/// The tag of a block.
#[inline(always)]
pub(crate) const fn block_tag(taken: u32) -> u32 {
    taken >> TAG_SHIFT
}

/// The slices of a block that were asked for: more than it has once it is spent.
#[inline(always)]
pub(crate) const fn block_count(taken: u32) -> u32 {
    taken & ((1 << TAG_SHIFT) - 1)
}

/// The buffer that a block lies in, in the word that counts its slices which are back.
const HOME_SHIFT: u32 = 16;

/// A block of which no slice is back, in a buffer.
#[inline(always)]
pub(crate) const fn none_back(buffer: u32) -> u32 {
    buffer.wrapping_add(1) << HOME_SHIFT
}

/// How many slices of a block are back.
#[inline(always)]
pub(crate) const fn back_count(back: u32) -> u32 {
    back & ((1 << HOME_SHIFT) - 1)
}

/// The buffer that a block was put into; `u32::MAX` if into none.
#[inline(always)]
pub(crate) const fn home(back: u32) -> u32 {
    (back >> HOME_SHIFT).wrapping_sub(1)
}

/// A buffer without a block.
pub(crate) const EMPTY: u32 = 0;
/// A buffer that was empty and that somebody is about to give a block.
pub(crate) const BUSY: u32 = 1;
/// A buffer that had a block, and whose block somebody is about to change.
pub(crate) const HELD: u32 = 2;
/// A buffer with block number 0.
const FIRST: u32 = 3;

/// A buffer with a block.
#[inline(always)]
pub(crate) const fn holds(block: u32) -> u32 {
    block + FIRST
}

/// Whether a buffer has a block.
#[inline(always)]
pub(crate) const fn is_block(buffer: u32) -> bool {
    buffer >= FIRST
}

/// The block in a buffer that has one.
#[inline(always)]
pub(crate) const fn block_in(buffer: u32) -> u32 {
    buffer.wrapping_sub(FIRST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_below_zero_leave_the_tag_alone() {
        for tag in [UNUSED, tag_for(0), tag_for(12), RUN_HEAD, RUN] {
            for count in [-300_000i32, -1, 0, 1, 256] {
                let state = pack(tag, count as u32);
                assert_eq!((segment_tag(state), segment_blocks(state)), (tag, count));
            }
        }
        assert_eq!(pack(UNUSED, 0), 0, "a fresh table is zero");
    }

    #[test]
    fn buffers_are_empty_busy_or_blocks() {
        assert!(!is_block(EMPTY) && !is_block(BUSY) && !is_block(HELD));
        for block in [0, 1, 1 << 28] {
            assert!(is_block(holds(block)));
            assert_eq!(block_in(holds(block)), block);
        }
    }

    #[test]
    fn slices_that_are_back_leave_the_buffer_alone() {
        for buffer in [0, 5, 13 * 1024] {
            let back = none_back(buffer) + 4096;
            assert_eq!((home(back), back_count(back)), (buffer, 4096));
        }
        assert_eq!(home(17), u32::MAX, "in no buffer");
    }
}
