//! How large blocks are, and at multiples of what they lie.

use super::dice::Dice;
use warpheap_api::DevicePtr;

/// Bytes of the largest small block, and of the largest that is no large one.
const SMALL: u32 = 1 << 10;
const MEDIUM: u32 = 32 << 10;
/// Bytes of the largest block of all.
const MOST: u64 = 8 << 20;
/// A block takes no more than one of so many parts of the heap.
const PARTS: u64 = 32;
/// What all blocks lie at multiples of.
pub(super) const GRANULE: u32 = DevicePtr::<u8>::GRANULE_BYTES as u32;
/// Of so many blocks, one lies at a multiple of more.
const ALIGNED: u32 = 8;

/// Which sizes are frequent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Law {
    /// Up to 1 KiB.
    Small,
    /// Small ones for the most part, and some of each size.
    Mixed,
    /// Large ones for the most part.
    Large,
}

impl Law {
    /// All of them, the one with the smallest blocks first.
    pub const ALL: [Law; 3] = [Law::Small, Law::Mixed, Law::Large];
}

/// The sizes that a heap serves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    most: u32,
    most_align: u32,
    means: [u64; 3],
}

impl Sizes {
    /// Those of a heap that has `room` bytes and serves blocks of up to `largest`, at multiples of up to `align`.
    pub fn new(room: u64, largest: u64, align: u32) -> Self {
        let most = largest.min(MOST).min((room / PARTS).max(16)).max(1) as u32;
        let mut sizes = Sizes {
            most,
            most_align: align.min(1 << most.ilog2()),
            means: [0; 3],
        };
        sizes.means = Law::ALL.map(|law| {
            let mut dice = Dice::new(law as u64);
            (0..4096)
                .map(|_| u64::from(sizes.draw(law, &mut dice)))
                .sum::<u64>()
                / 4096
        });
        sizes
    }

    /// The largest size.
    pub fn most(self) -> u32 {
        self.most
    }

    /// A size; no bytes are one, too.
    pub fn draw(self, law: Law, dice: &mut Dice) -> u32 {
        let kind = dice.below(32);
        let (small, medium) = match law {
            Law::Small => (31, 0),
            Law::Mixed => (20, 9),
            Law::Large => (2, 6),
        };
        let (least, most) = if kind < small {
            (1, SMALL)
        } else if kind < small + medium {
            (SMALL, MEDIUM)
        } else if law == Law::Small {
            return 0;
        } else {
            (MEDIUM, self.most)
        };
        dice.skewed(least.min(self.most), most.min(self.most))
    }

    /// Another size of a block of `bytes` bytes: a little more, twice as much, much less, or any.
    pub fn another(self, bytes: u32, law: Law, dice: &mut Dice) -> u32 {
        let size = match dice.below(4) {
            0 => bytes.saturating_add(1 + dice.below(bytes / 4 + 16)),
            1 => bytes.saturating_mul(2),
            2 => dice.below(bytes + 1),
            _ => self.draw(law, dice),
        };
        size.min(self.most)
    }

    /// What a block of `bytes` bytes lies at a multiple of: a power of two.
    pub fn align(self, bytes: u32, law: Law, dice: &mut Dice) -> u32 {
        let aligned = dice.once_in(ALIGNED);
        let most = match law {
            Law::Small => self.most_align.min(SMALL),
            _ => self.most_align,
        };
        // Seldom much more than its size, or the heap would be full of what lies between blocks.
        let most = match dice.once_in(4) {
            true => most,
            false => most.min(bytes.next_power_of_two().max(4 * GRANULE)),
        };
        match aligned && most > GRANULE {
            true => GRANULE << (1 + dice.below((most / GRANULE).ilog2())),
            false => GRANULE,
        }
    }

    /// The law, or the first one behind it of which so many blocks take so many bytes.
    pub fn law_for(self, law: Law, bytes: u64, blocks: u64) -> Law {
        let enough = |law: &Law| self.means[*law as usize] * blocks >= bytes;
        let laws = Law::ALL.into_iter().filter(|other| *other >= law);
        laws.into_iter().find(enough).unwrap_or(Law::Large)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_that_the_heap_serves() {
        let mut dice = Dice::new(3);
        for (room, largest, most) in [
            (64 << 20, u64::MAX, 2 << 20),
            (64 << 20, 4096, 4096),
            (8 << 30, u64::MAX, 8 << 20),
            (100, u64::MAX, 16),
        ] {
            let sizes = Sizes::new(room, largest, 1 << 16);
            assert_eq!(sizes.most, most);
            for law in Law::ALL {
                let drawn: Vec<u32> = (0..5000).map(|_| sizes.draw(law, &mut dice)).collect();
                assert!(drawn.iter().all(|&bytes| bytes <= most));
                assert!(drawn.contains(&0) == (law == Law::Small));
            }
            for bytes in [0, 1, 100, most] {
                (0..100).for_each(|_| {
                    assert!(sizes.another(bytes, Law::Mixed, &mut dice) <= most);
                });
            }
        }
    }

    #[test]
    fn few_blocks_that_are_to_take_much_are_larger() {
        let sizes = Sizes::new(64 << 20, u64::MAX, 1 << 16);
        assert_eq!(sizes.law_for(Law::Small, 1 << 20, 100_000), Law::Small);
        assert_eq!(sizes.law_for(Law::Small, 1 << 20, 500), Law::Mixed);
        assert_eq!(sizes.law_for(Law::Small, 1 << 30, 10), Law::Large);
        assert_eq!(sizes.law_for(Law::Large, 0, 10), Law::Large);
    }

    #[test]
    fn alignments_are_those_that_the_heap_serves() {
        let mut dice = Dice::new(4);
        for (room, align, law, most) in [
            (64 << 20, 1 << 16, Law::Mixed, 1 << 16),
            (64 << 20, 4096, Law::Large, 4096),
            (64 << 20, 1 << 16, Law::Small, 1024),
            (3 << 20, 1 << 16, Law::Mixed, 1 << 16),
            (1 << 20, 1 << 16, Law::Mixed, 1 << 15),
            (64 << 20, 16, Law::Mixed, 16),
            (100, 1 << 16, Law::Mixed, 16),
        ] {
            let sizes = Sizes::new(room, u64::MAX, align);
            let drawn: Vec<u32> = (0..5000).map(|_| sizes.align(64, law, &mut dice)).collect();
            let expected = (4..17).map(|shift| 1 << shift);
            for align in expected {
                assert_eq!(drawn.contains(&align), align <= most, "{align} of {most}");
            }
            let granules = drawn.iter().filter(|&&align| align == GRANULE).count();
            assert!(granules > 4000, "{granules} of 5000 as ever");
            assert!(drawn.iter().all(|align| align.is_power_of_two()));
        }
    }
}
