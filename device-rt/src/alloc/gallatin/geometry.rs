//! Where everything lies.
//!
//! Sizes of slices, blocks and segments are powers of two of granules, and come as exponents. A block is
//! named by its segment and by the *unit*, the smallest block there is, with which it begins.

use super::state::Places;
use crate::bits::VebTree;
use warpheap_api::{HeapParams, header, least, select};

/// Parameter: granule at which the first segment begins.
pub(crate) const PARAM_DATA: usize = 0;
/// Parameter: number of segments.
pub(crate) const PARAM_SEGMENTS: usize = 1;
/// Parameter: exponents, a byte each: granules of a segment, of a unit, of the largest slice.
pub(crate) const PARAM_SIZES: usize = 2;
/// Parameter: exponents, a byte each: buffers of the smallest class, with the number of classes that have as many
/// as the next in its upper three bits, least buffers of a class, words from one buffer to the next, words from
/// one unit's counters to the next.
pub(crate) const PARAM_BUFFERS: usize = 3;
/// Parameter: first word of the segment tree; the trees of the classes follow.
pub(crate) const PARAM_TREES: usize = 4;
/// Parameter: first word of the memory table.
pub(crate) const PARAM_TABLE: usize = 5;

/// Counts moves of memory that began (see `moves`).
pub(crate) const BEGUN_WORD: u32 = header::HEADER_WORDS as u32;
/// Counts moves of memory that ended.
pub(crate) const ENDED_WORD: u32 = BEGUN_WORD + 8;
/// Most classes: slices of 16 bytes to 64 KiB.
pub(crate) const MOST_CLASSES: u32 = 13;
/// First word of the block buffers.
pub(crate) const BUFFERS_WORD: u32 = ENDED_WORD + 8;
/// Words of a segment before its ring.
const HEAD_WORDS: u32 = 4;

/// The parameters of a heap.
#[derive(Clone, Copy)]
pub(crate) struct Geometry {
    /// Granule at which the first segment begins.
    pub data: u32,
    /// Number of segments.
    pub segments: u32,
    sizes: u32,
    buffers: u32,
    trees: u32,
    table: u32,
}

impl Geometry {
    #[inline(always)]
    pub const fn new(params: HeapParams) -> Self {
        Geometry {
            data: params[PARAM_DATA],
            segments: params[PARAM_SEGMENTS],
            sizes: params[PARAM_SIZES],
            buffers: params[PARAM_BUFFERS],
            trees: params[PARAM_TREES],
            table: params[PARAM_TABLE],
        }
    }

    /// Exponent of a segment's granules.
    #[inline(always)]
    pub const fn segment_log(self) -> u32 {
        self.sizes & 31
    }

    /// Exponent of a unit's granules: also of the slices in a block that is no whole segment.
    #[inline(always)]
    pub const fn unit_log(self) -> u32 {
        self.sizes >> 8 & 31
    }

    /// Exponent of the largest slice's granules: the last class.
    #[inline(always)]
    pub const fn largest_log(self) -> u32 {
        self.sizes >> 16 & 31
    }

    /// Number of classes; class 0 has slices of one granule, the next ones twice as much each.
    #[inline(always)]
    pub const fn classes(self) -> u32 {
        self.largest_log() + 1
    }

    /// Exponent of the units of a segment.
    #[inline(always)]
    pub const fn units_log(self) -> u32 {
        self.segment_log() - self.unit_log()
    }

    /// Exponent of the granules of a class's blocks.
    #[inline(always)]
    pub const fn block_log(self, class: u32) -> u32 {
        least(class + self.unit_log(), self.segment_log())
    }

    /// Exponent of the blocks of a class in a segment.
    #[inline(always)]
    pub const fn blocks_log(self, class: u32) -> u32 {
        self.segment_log() - self.block_log(class)
    }

    /// Slices of a block.
    #[inline(always)]
    pub const fn slices(self, class: u32) -> u32 {
        1 << (self.block_log(class) - class)
    }

    /// The first class whose blocks have 2^`log` granules or more.
    #[inline(always)]
    pub const fn class_of_block(self, log: u32) -> u32 {
        select(log > self.unit_log(), log.wrapping_sub(self.unit_log()), 0)
    }

    /// The granule at which a segment begins.
    #[inline(always)]
    pub const fn granule_of(self, segment: u32) -> u32 {
        self.data + (segment << self.segment_log())
    }

    /// Whether a slice of a class, which begins at a granule, is the first of its block.
    #[inline(always)]
    pub const fn begins_block(self, granule: u32, class: u32) -> bool {
        granule.wrapping_sub(self.data) & ((1 << self.block_log(class)) - 1) == 0
    }

    /// The segment of a granule.
    #[inline(always)]
    pub const fn segment_of(self, granule: u32) -> u32 {
        granule.wrapping_sub(self.data) >> self.segment_log()
    }

    /// The granule at which a block begins.
    #[inline(always)]
    pub const fn block_granule(self, block: u32) -> u32 {
        self.data + (block << self.unit_log())
    }

    /// The block of a class that a granule lies in.
    #[inline(always)]
    pub const fn block_of(self, granule: u32, class: u32) -> u32 {
        let log = self.block_log(class);
        granule.wrapping_sub(self.data) >> log << (log - self.unit_log())
    }

    /// The segment of a block.
    #[inline(always)]
    pub const fn segment_of_block(self, block: u32) -> u32 {
        block >> self.units_log()
    }

    /// The word at which a segment's part of the memory table begins: its state.
    #[inline(always)]
    pub const fn state_word(self, segment: u32) -> usize {
        (self.table + segment * self.places().words) as usize
    }

    /// The word of the next place of the ring to take a block from.
    #[inline(always)]
    pub const fn ring_head(self, segment: u32) -> usize {
        self.state_word(segment) + 1
    }

    /// The word of the next place of the ring to put a block to.
    #[inline(always)]
    pub const fn ring_tail(self, segment: u32) -> usize {
        self.state_word(segment) + 2
    }

    /// The first word of a segment's ring.
    #[inline(always)]
    pub const fn ring_word(self, segment: u32) -> usize {
        self.state_word(segment) + HEAD_WORDS as usize
    }

    /// The word that counts the slices of a block that were handed out. The next one counts those that
    /// came back.
    #[inline(always)]
    pub const fn taken_word(self, block: u32) -> usize {
        let segment = self.segment_of_block(block);
        let unit = block & ((1 << self.units_log()) - 1);
        self.state_word(segment)
            + (self.places().counters + (unit << self.counter_stride_log())) as usize
    }

    /// The word that counts the slices of a block that came back, and tells its buffer.
    #[inline(always)]
    pub const fn back_word(self, block: u32) -> usize {
        self.taken_word(block) + 1
    }

    /// Where things lie in a segment's part of the memory table.
    #[inline(always)]
    pub const fn places(self) -> Places {
        let units = 1 << self.units_log();
        let counters = HEAD_WORDS + units;
        Places {
            counters,
            words: (counters + (units << self.counter_stride_log()) + 7) & !7,
        }
    }

    /// Exponent of the words from one unit's counters to the next.
    #[inline(always)]
    pub const fn counter_stride_log(self) -> u32 {
        self.buffers >> 24 & 31
    }

    /// The segments that are free.
    #[inline(always)]
    pub const fn segment_tree(self) -> VebTree {
        self.tree(0)
    }

    /// The segments that have blocks of a class to hand out.
    #[inline(always)]
    pub const fn block_tree(self, class: u32) -> VebTree {
        self.tree(class + 1)
    }

    /// The segment tree, or a class's with the class's number and one.
    #[inline(always)]
    pub const fn tree(self, number: u32) -> VebTree {
        let words = VebTree::words(self.segments);
        VebTree::new(self.trees + number * words, self.segments)
    }

    /// Exponent of the buffers of a class.
    #[inline(always)]
    pub const fn buffers_log(self, class: u32) -> u32 {
        let (first, fewest) = (self.buffers & 31, self.buffers >> 8 & 31);
        let halved = class - least(class, self.equal_classes());
        select(first > fewest + halved, first.wrapping_sub(halved), fewest)
    }

    /// How many classes have as many buffers as the one behind them; from there on each has half as many.
    #[inline(always)]
    const fn equal_classes(self) -> u32 {
        self.buffers >> 5 & 7
    }

    /// Buffers of all classes before this one.
    #[inline(always)]
    pub const fn buffers_before(self, class: u32) -> u32 {
        let (first, fewest) = (self.buffers & 31, self.buffers >> 8 & 31);
        let equal = least(class, self.equal_classes());
        let class = class - equal;
        // Halving ones: 2^first + … down to twice the fewest; then the fewest each.
        let halving = least(class, first - fewest);
        (equal << first) + (2u32 << first) - (2u32 << (first - halving))
            + ((class - halving) << fewest)
    }

    /// The word of a buffer, counted through all classes.
    #[inline(always)]
    pub const fn buffer_word(self, buffer: u32) -> usize {
        let stride_log = self.buffers >> 16 & 31;
        (BUFFERS_WORD + (buffer << stride_log)) as usize
    }

    /// The word of a lock, held by who makes a segment one of the class. The buffers of a class that take as
    /// many blocks as a segment has share one.
    #[inline(always)]
    pub const fn lock_word(self, class: u32, buffer: u32) -> usize {
        // Beside a buffer: there are at least two words for each.
        self.buffer_word(self.buffers_before(class) + (buffer >> self.blocks_log(class))) + 1
    }

    /// The buffer of its class that a lane of a launch tries first: lanes whose slices fill a block together
    /// share one.
    #[inline(always)]
    pub const fn buffer_of(self, class: u32, lane: u32) -> u32 {
        lane >> (self.block_log(class) - class) & ((1 << self.buffers_log(class)) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_classes_lie_one_behind_the_other() {
        for (first, equal, fewest) in [(0, 0, 0), (3, 2, 3), (4, 0, 2), (7, 4, 2), (10, 7, 0)] {
            let mut params = [0; 8];
            params[PARAM_BUFFERS] = first | equal << 5 | fewest << 8;
            let geometry = Geometry::new(params);
            let mut before = 0;
            for class in 0..MOST_CLASSES {
                assert_eq!(geometry.buffers_before(class), before, "{first} {fewest}");
                let log = geometry.buffers_log(class);
                let halved = class.saturating_sub(equal);
                assert_eq!(log, first.saturating_sub(halved).max(fewest));
                before += 1 << log;
            }
        }
    }

    #[test]
    fn blocks_are_named_by_their_first_unit() {
        let mut params = [0; 8];
        params[PARAM_DATA] = 1 << 12;
        // The paper's: segments of 16 MiB, units of 64 KiB.
        params[PARAM_SIZES] = 20 | 12 << 8 | 12 << 16;
        let geometry = Geometry::new(params);
        for class in 0..MOST_CLASSES {
            let log = geometry.block_log(class);
            assert_eq!(geometry.slices(class) << class, 1 << log);
            for block in [0, 1, 5, 300] {
                let granule = geometry.data + (block << log);
                let name = geometry.block_of(granule + (1 << log) - 1, class);
                assert_eq!(geometry.block_granule(name), granule);
                let segment = geometry.segment_of(granule);
                assert_eq!(geometry.segment_of_block(name), segment);
            }
        }
        assert_eq!(geometry.slices(0), 4096);
        assert_eq!(geometry.slices(8), 4096);
        assert_eq!(geometry.slices(12), 256);
    }
}
