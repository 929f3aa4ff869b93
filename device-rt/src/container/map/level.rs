//! Groups, one below the other: which bits of the hash lead to which, and going from one to the next.

use super::branch::{self, BRANCH_BITS, GROUPS, is_branch};
use super::filter::Bits;
use super::flat::Flat;
use super::slot::EMPTY;
use super::tag::SIDE_BITS;
use crate::arch;
use warpheap_api::HeapMemory;

/// A group, and the way that leads to it. Plain words.
#[derive(Clone, Copy, Debug)]
pub struct Level {
    /// The hash of a key that comes here. Of all keys here it has the bits before [`shift`](Self::shift), but for the first three.
    pub way: u32,
    /// The first bit of the hash that does not tell the group.
    pub shift: u32,
    /// The branch that the group is of; [`EMPTY`] in the root.
    pub branch: u32,
    /// The word in which the group begins.
    pub first: usize,
    /// What the link said when it was last looked at.
    pub link: u32,
}

impl Level {
    /// No group.
    pub const NONE: Level = Level {
        way: 0,
        shift: 0,
        branch: EMPTY,
        first: 0,
        link: EMPTY,
    };

    /// The group of the root. Its link is not looked at.
    #[inline(always)]
    pub fn root(flat: Flat, way: u32) -> Self {
        let group = group_of(flat.bits, way);
        Level {
            way,
            shift: flat.bits,
            branch: EMPTY,
            first: flat.first + group as usize * flat.group_words(),
            link: EMPTY,
        }
    }

    /// The word of its link.
    #[inline(always)]
    pub fn link_at<M: HeapMemory>(self, flat: Flat, memory: M) -> usize {
        if self.is_root() {
            // Few searches look at it.
            let bits = arch::late(flat.bits);
            let links = Flat { bits, ..flat }.links();
            links + group_of(bits, self.way) as usize
        } else {
            branch::header(memory, self.branch, self.digit())
        }
    }

    /// Which of its branch's groups it is.
    #[inline(always)]
    fn digit(self) -> u32 {
        (self.way >> (self.shift - BRANCH_BITS)) & (GROUPS - 1)
    }

    /// The same with the link as it is now.
    #[inline(always)]
    pub fn looked<M: HeapMemory>(self, flat: Flat, memory: M) -> Self {
        let mut level = self;
        level.link = memory.load_acquire(self.link_at(flat, memory));
        level
    }

    /// Whether there are bits of the hash left for a branch.
    #[inline(always)]
    pub fn has_bits(self) -> bool {
        self.shift + BRANCH_BITS <= u32::BITS
    }

    /// The group on the way in this branch, at whose link the way has come to `shift`. Its own link is not looked at.
    #[inline(always)]
    fn inside<M: HeapMemory>(flat: Flat, memory: M, branch: u32, way: u32, shift: u32) -> Self {
        let digit = (way >> shift) & (GROUPS - 1);
        Level {
            way,
            shift: shift + BRANCH_BITS,
            branch,
            first: branch::group(memory, branch, digit, flat.group_words()),
            link: EMPTY,
        }
    }

    /// The next group on the way, in the branch that the link names. Its own link is not looked at.
    #[inline(always)]
    pub fn below<M: HeapMemory>(self, flat: Flat, memory: M) -> Self {
        Self::inside(flat, memory, self.link, self.way, self.shift)
    }

    /// Whether it is a group of the root.
    #[inline(always)]
    pub fn is_root(self) -> bool {
        self.branch == EMPTY
    }

    /// Where a search goes on that found neither the key nor room: in what hangs `below` this group, or else in this one; past full groups
    /// whose filters say no.
    #[inline(always)]
    pub fn after<M: HeapMemory>(self, flat: Flat, memory: M, below: bool) -> Self {
        let mut level = self;
        if below {
            level = level.below(flat, memory);
        }
        level.looked(flat, memory).pass(flat, memory)
    }

    /// The last group on the way, from this one on, that may have the key: down past full groups whose filters say no. Links
    /// are looked at.
    #[inline(always)]
    fn pass<M: HeapMemory>(self, flat: Flat, memory: M) -> Self {
        let mut level = self;
        let mut on = is_branch(level.link);
        if on {
            let bits = Bits::of(arch::late(self.way));
            while on {
                let mut below = level.below(flat, memory);
                let header =
                    memory.load4_acquire(branch::header(memory, level.link, below.digit()));
                on = !bits.are_in(header);
                if on {
                    below.link = header[0];
                    level = below;
                    on = is_branch(level.link);
                }
            }
        }
        level
    }

    /// On to the next group of those that hang below one to which the bits of the way before `top` lead: what is below this one, else what is
    /// beside it. A group to which fewer bits lead is on the way there, and the next below it is, too. From bit `top` on, the way has zeros
    /// behind `shift`. The `shift` is 0 when there is none.
    #[inline(always)]
    pub fn next<M: HeapMemory>(self, flat: Flat, memory: M, top: u32) -> Self {
        let mut level = self.looked(flat, memory);
        if is_branch(level.link) {
            level = level.below(flat, memory);
        } else {
            while level.shift > top && level.is_last() {
                level = level.up(flat, memory);
            }
            level = level.beside(flat, memory, top);
        }
        level
    }

    /// Whether it is the last group of its branch.
    #[inline(always)]
    pub fn is_last(self) -> bool {
        self.digit() == GROUPS - 1
    }

    /// The group below which the branch hangs that this one is of.
    #[inline(always)]
    pub fn up<M: HeapMemory>(self, flat: Flat, memory: M) -> Self {
        let shift = self.shift - BRANCH_BITS;
        let way = self.way & !((GROUPS - 1) << shift);
        let above = branch::above(memory, self.branch);
        if above == EMPTY {
            Self::root(flat, way)
        } else {
            Self::inside(flat, memory, above, way, shift - BRANCH_BITS)
        }
    }

    /// The next group of the same branch; one with a `shift` of 0 if that is not below the groups at bit `top`.
    #[inline(always)]
    pub fn beside<M: HeapMemory>(self, flat: Flat, memory: M, top: u32) -> Self {
        let mut level = self;
        if level.shift > top {
            let shift = level.shift - BRANCH_BITS;
            level = Self::inside(flat, memory, level.branch, level.way + (1 << shift), shift);
        } else {
            level.shift = 0;
        }
        level
    }
}

/// The number of the root's group to which a way leads, when there are `2^bits` buckets.
#[inline(always)]
fn group_of(bits: u32, way: u32) -> u32 {
    (way & ((1 << bits) - 1)) >> SIDE_BITS
}

/// The way to the groups of a share: bits of `prefix` from the group of the root on.
#[inline(always)]
pub fn way_of(prefix: u32) -> u32 {
    // The group leaves room for the bits of the bucket in it.
    prefix << SIDE_BITS
}
