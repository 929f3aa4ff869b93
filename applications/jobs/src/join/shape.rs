//! The numbers of a join: partitions, buckets, lanes, and the pages that they may need.

use warpheap_applications::join::matches_of_page;

/// Rows of a partition that is as large as the others, about: with their table they fit a nearby cache.
const PARTITION_ROWS: u32 = 2048;
/// Most partitions, as a power of two.
const MOST_PARTITION_BITS: u32 = 14;

/// How a join is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Two to this power partitions.
    pub partition_bits: u32,
    /// Two to this power buckets, no fewer than partitions.
    pub bucket_bits: u32,
    /// Lanes of the probe.
    pub lanes: u32,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// Matches; if nobody has counted them, as many as there may be.
    pub matches: u64,
}

impl Shape {
    /// The shape of a join of tables with so many rows, `per_lane` of the right one for each lane.
    pub fn new(left: u32, right: u32, matches: u64, per_lane: u32, page_bytes: u32) -> Self {
        let log2 = |count: u32| count.max(2).next_power_of_two().ilog2();
        let partition_bits = log2(left / PARTITION_ROWS).min(MOST_PARTITION_BITS);
        Shape {
            partition_bits,
            bucket_bits: log2(left).max(partition_bits),
            lanes: right.div_ceil(per_lane.max(1)).max(1),
            page_bytes,
            matches,
        }
    }

    /// Bits of a hash that do not tell the partition.
    pub fn partition_shift(&self) -> u32 {
        32 - self.partition_bits
    }

    /// Bits of a hash that do not tell the bucket.
    pub fn bucket_shift(&self) -> u32 {
        32 - self.bucket_bits
    }

    /// Most pages that the lanes can need, however the matches fall to them: each lane that finds something
    /// has a page that is not full.
    pub fn most_pages(&self) -> u64 {
        let room = u64::from(matches_of_page(self.page_bytes)).max(1);
        let lanes = self.matches.min(u64::from(self.lanes));
        (self.matches + lanes * (room - 1)) / room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partitions_and_buckets_grow_with_the_left_table() {
        let bits = |left| {
            let shape = Shape::new(left, 1, 1, 1, 32);
            (shape.partition_bits, shape.bucket_bits)
        };
        assert_eq!(bits(1), (1, 1));
        assert_eq!(bits(1 << 16), (5, 16));
        assert_eq!(bits(10_000_000), (13, 24));
        assert_eq!(bits(1 << 28), (14, 28));
    }

    #[test]
    fn pages_are_enough_for_every_share() {
        let pages =
            |matches, right, per_lane| Shape::new(9, right, matches, per_lane, 128).most_pages();
        // 15 to a page.
        assert_eq!(pages(0, 100, 1), 0);
        assert_eq!(pages(1, 100, 1), 1);
        assert_eq!(pages(100, 100, 1), 100);
        assert_eq!(pages(15, 100, 100), 1);
        assert_eq!(pages(16, 100, 100), 2);
        // One lane with 16 and one with 1 need three.
        assert_eq!(pages(17, 100, 50), 3);
    }
}
