//! What the vertices' vectors ask of the heap while they grow.
//!
//! A `HeapVec` that is pushed to element by element holds blocks of 4, 8, 16, … elements, one after
//! the other: it asks for the next block, copies, and gives the old one back.

/// Elements of the first block.
const FIRST: u32 = 4;
/// Bytes of an element: a vertex id.
const ELEMENT: u64 = 4;

/// Capacity of a vector that `len` elements were pushed to; 0 for none.
pub fn capacity(len: u32) -> u64 {
    match len {
        0 => 0,
        len => u64::from(len.max(FIRST)).next_power_of_two(),
    }
}

/// How many blocks of each size the vectors of a graph ask for in all: `blocks[k]` of
/// `4 * 2^k` elements. A vector with more than one counts in each of its sizes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Demand {
    /// Blocks by size, the smallest first.
    pub blocks: Vec<u64>,
    /// Bytes of the blocks that the vectors hold in the end.
    pub live: u64,
}

impl Demand {
    /// Counts for vectors that these numbers of elements are pushed to.
    pub fn new(lengths: impl Iterator<Item = u32>) -> Self {
        let mut blocks = Vec::new();
        let mut live = 0;
        for len in lengths {
            let capacity = capacity(len);
            live += capacity * ELEMENT;
            let steps = match capacity {
                0 => 0,
                capacity => (capacity / u64::from(FIRST)).ilog2() as usize + 1,
            };
            if blocks.len() < steps {
                blocks.resize(steps, 0);
            }
            // Only the last size here; the sums below add those before it.
            if let Some(last) = steps.checked_sub(1) {
                blocks[last] += 1;
            }
        }
        for step in (1..blocks.len()).rev() {
            blocks[step - 1] += blocks[step];
        }
        Self { blocks, live }
    }

    /// Bytes of a block of that step.
    fn bytes(step: usize) -> u64 {
        (u64::from(FIRST) << step) * ELEMENT
    }

    /// Number of all blocks ever asked for.
    pub fn mallocs(&self) -> u64 {
        self.blocks.iter().sum()
    }

    /// Bytes of the largest block.
    pub fn largest(&self) -> u64 {
        self.blocks.len().checked_sub(1).map_or(0, Self::bytes)
    }

    /// Bytes of all blocks ever asked for.
    pub fn total(&self) -> u64 {
        let sizes = self.blocks.iter().enumerate();
        sizes.map(|(step, blocks)| blocks * Self::bytes(step)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacities_double_from_four() {
        for (len, expected) in [
            (0, 0),
            (1, 4),
            (4, 4),
            (5, 8),
            (8, 8),
            (9, 16),
            (1000, 1024),
        ] {
            assert_eq!(capacity(len), expected, "{len}");
        }
        assert_eq!(capacity(u32::MAX), 1 << 32);
    }

    #[test]
    fn demand_counts_every_block() {
        // 3 elements: 4. 9 elements: 4, 8, 16. 5 elements: 4, 8. None: none.
        let demand = Demand::new([3, 9, 0, 5].into_iter());
        assert_eq!(demand.blocks, [3, 2, 1]);
        assert_eq!(demand.total(), 3 * 16 + 2 * 32 + 64);
        assert_eq!(demand.mallocs(), 6);
        assert_eq!(demand.live, 16 + 64 + 32);
        assert_eq!(demand.largest(), 64);
        assert_eq!(Demand::new([0].into_iter()).total(), 0);
    }
}
