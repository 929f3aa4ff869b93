//! A set of small numbers as a tree of bitmap words, changed by many lanes at a time.
//!
//! McCoy, Pandey, *Gallatin: A General-Purpose GPU Memory Manager* (2024), §3.2: a van Emde Boas tree
//! whose nodes are one word each, so that every change of a node is one atomic operation. A bit of a leaf is
//! an element; a bit of a word above says that the word below it has bits. The paper's words have 64 bits,
//! these have 32, which every device has.

mod search;

use super::low_mask;
use warpheap_api::{AllocError, HeapMemory, select};

/// Searches for a run that others disturb, before [`VebTree::claim_run`] gives up.
const SEARCHES: u32 = 64;

/// Looks at a word that others empty and fill at the same time. They look as well.
const LOOKS: u32 = 16;

/// A concurrent set of numbers below its *universe*, in a window of a heap's words.
///
/// A handle: copies name the same set. The words are [`words`](Self::words) many, and all zero for the empty
/// set. Elements may be inserted, removed and claimed by any number of lanes at the same time, and
/// *each element that is in the set is removed by exactly one of those who try*.
///
/// Searches are exact while nobody changes the set. While others do, the words above the leaves may for a
/// moment tell of elements that are gone, which costs a search time and nothing else, or not yet tell of new
/// ones, which a search may then miss. [`scan`](Self::scan) looks at the leaves alone and misses nothing
/// that is there throughout.
///
/// Inserting releases before, removing acquires after, at device scope: who removes an element sees what
/// was written before it was inserted.
///
/// ```
/// use warpheap_rt::arch::Words;
/// use warpheap_rt::bits::VebTree;
///
/// let mut words = vec![0u32; VebTree::words(1000) as usize];
/// // SAFETY: the words are used through this handle alone while it lives.
/// let memory = unsafe { Words::from_address(words.as_mut_ptr() as u64, words.len() as u64) };
/// let set = VebTree::new(0, 1000);
/// assert!(set.insert(memory, 40) && set.insert(memory, 700));
/// assert_eq!(set.successor(memory, 41), Some(700));
/// assert_eq!(set.predecessor(memory, 699), Some(40));
/// assert_eq!(set.claim(memory, 0), Some(40));
/// assert_eq!(set.claim(memory, 0), Some(700));
/// assert_eq!(set.claim(memory, 0), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VebTree {
    base: u32,
    universe: u32,
}

/// No element.
const NONE: u32 = u32::MAX;

impl VebTree {
    /// The largest universe: four levels of words.
    pub const MOST: u32 = 1 << 20;

    /// The set of numbers below `universe`, from 1 to [`MOST`](Self::MOST), whose words begin at word
    /// `base`.
    #[inline(always)]
    pub const fn new(base: u32, universe: u32) -> Self {
        VebTree { base, universe }
    }

    /// How many words a set with this universe takes.
    #[inline(always)]
    pub const fn words(universe: u32) -> u32 {
        let tree = VebTree::new(0, universe);
        tree.first_word(tree.levels())
    }

    /// Levels of words.
    #[inline(always)]
    pub const fn levels(self) -> u32 {
        1 + (self.universe > 1 << 5) as u32
            + (self.universe > 1 << 10) as u32
            + (self.universe > 1 << 15) as u32
    }

    /// How many bits of a level's words are used; level 0 are the leaves.
    #[inline(always)]
    pub const fn bits(self, level: u32) -> u32 {
        ((self.universe - 1) >> (5 * level)) + 1
    }

    /// The word at which a level begins.
    #[inline(always)]
    pub const fn first_word(self, level: u32) -> u32 {
        self.base
            + select(level > 0, self.bits(1), 0)
            + select(level > 1, self.bits(2), 0)
            + select(level > 2, self.bits(3), 0)
            + select(level > 3, self.bits(4), 0)
    }

    /// The place of a level's word that holds bit `i`.
    #[inline(always)]
    const fn at(self, level: u32, i: u32) -> usize {
        (self.first_word(level) + (i >> 5)) as usize
    }

    /// Whether `x` is in the set.
    #[inline(always)]
    pub fn contains<M: HeapMemory>(self, memory: M, x: u32) -> bool {
        let inside = x < self.universe;
        let x = select(inside, x, 0);
        inside & (memory.load(self.at(0, x)) >> (x & 31) & 1 != 0)
    }

    /// Inserts `x`, which must be below the universe; whether it was not in the set.
    #[inline(always)]
    pub fn insert<M: HeapMemory>(self, memory: M, x: u32) -> bool {
        let bit = 1 << (x & 31);
        self.set(memory, x >> 5, bit) & bit == 0
    }

    /// Inserts `count` numbers from `first` on, which must all be below the universe.
    #[inline(always)]
    pub fn insert_run<M: HeapMemory>(self, memory: M, first: u32, count: u32) {
        let end = first + count;
        let mut x = first;
        while x < end {
            self.set(memory, x >> 5, mask_of(x, end));
            x = (x | 31) + 1;
        }
    }

    /// Removes `x`, which must be below the universe; whether it was in the set, and is now the caller's.
    #[inline(always)]
    pub fn remove<M: HeapMemory>(self, memory: M, x: u32) -> bool {
        let bit = 1 << (x & 31);
        self.clear(memory, x >> 5, bit) & bit != 0
    }

    /// The least element that is not less than `x`.
    #[inline(always)]
    pub fn successor<M: HeapMemory>(self, memory: M, x: u32) -> Option<u32> {
        some(self.next(memory, x, false))
    }

    /// As [`successor`](Self::successor), by looking at every leaf from there on: slower where the set has
    /// few elements, but it depends on nothing that others may be about to change.
    #[inline(always)]
    pub fn scan<M: HeapMemory>(self, memory: M, x: u32) -> Option<u32> {
        some(self.next(memory, x, true))
    }

    /// The greatest element that is not greater than `x`.
    #[inline(always)]
    pub fn predecessor<M: HeapMemory>(self, memory: M, x: u32) -> Option<u32> {
        some(self.previous(memory, x))
    }

    /// Removes the first element not less than `from` that no other lane is faster to remove.
    #[inline(always)]
    pub fn claim<M: HeapMemory>(self, memory: M, from: u32) -> Option<u32> {
        let mut x = self.next(memory, from, false);
        let mut claimed = false;
        // Goes on behind an element that another lane has, so it ends.
        while (x != NONE) & !claimed {
            claimed = self.remove(memory, x);
            if !claimed {
                x = self.next(memory, x + 1, false);
            }
        }
        some(x)
    }

    /// Removes `count` numbers side by side, the last ones of the set that are all in it, and returns the
    /// first of them. That one and `phase` make a multiple of `align`, a power of two.
    ///
    /// From the back, the leaf with the greatest numbers first: of lanes that want overlapping runs, the
    /// one whose run is the lower gets it, and the others give back what they had.
    ///
    /// # Errors
    /// [`AllocError::Exhausted`] if there is no such run, [`AllocError::Contended`] if other lanes were
    /// faster too often.
    #[inline(always)]
    pub fn claim_run<M: HeapMemory>(
        self,
        memory: M,
        count: u32,
        align: u32,
        phase: u32,
    ) -> Result<u32, AllocError> {
        self.claim_run_within(memory, count, align, phase, |_| ())
    }

    /// [`claim_run`](Self::claim_run); `tells` is called with `true` before numbers are taken, and with `false`
    /// when they are taken or back.
    #[inline(always)]
    pub(crate) fn claim_run_within<M: HeapMemory>(
        self,
        memory: M,
        count: u32,
        align: u32,
        phase: u32,
        tells: impl Fn(bool),
    ) -> Result<u32, AllocError> {
        let mut found = NONE;
        let mut code = 0;
        let mut disturbed = false;
        let mut searches = 0;
        let mut from = self.universe - 1;
        while (found == NONE) & (code == 0) {
            let last = self.previous(memory, from);
            let room = last.wrapping_add(1);
            // Zero if there is no element at all, which is no room for one.
            let possible = (count != 0) & (count <= room);
            let start = room.wrapping_sub(count).wrapping_add(phase) & !(align - 1);
            let first = start.wrapping_sub(phase);
            // Rounding down may have led below zero.
            if possible & (first <= last) {
                let mut gap = self.gap_in(memory, first, first + count);
                if gap == NONE {
                    tells(true);
                    gap = self.take_run(memory, first, first + count);
                    tells(false);
                    disturbed |= gap != NONE;
                }
                found = select(gap == NONE, first, NONE);
                // A run that ends further right has the gap in it as well.
                from = gap.wrapping_sub(1);
            } else {
                // What others had taken may be back.
                let again = disturbed & (searches < SEARCHES);
                let why = select(
                    disturbed,
                    AllocError::Contended.code(),
                    AllocError::Exhausted.code(),
                );
                code = select(again, 0, why);
                disturbed = false;
                searches += 1;
                from = self.universe - 1;
            }
        }
        if code == 0 {
            Ok(found)
        } else {
            Err(AllocError::from_code(code))
        }
    }

    /// The greatest number of the range that is not in the set.
    #[inline(always)]
    fn gap_in<M: HeapMemory>(self, memory: M, first: u32, end: u32) -> u32 {
        let mut gap = NONE;
        let mut stop = end;
        while (gap == NONE) & (stop > first) {
            let from = from_of(first, stop);
            let missing = mask_of(from, stop) & !memory.load(self.at(0, from));
            gap = select(missing != 0, highest(from, missing), NONE);
            stop = from;
        }
        gap
    }

    /// Removes the range, from the back. If one of it is missing, that one is returned and the others are
    /// in the set again.
    #[inline(always)]
    fn take_run<M: HeapMemory>(self, memory: M, first: u32, end: u32) -> u32 {
        let mut gap = NONE;
        let mut stop = end;
        while (gap == NONE) & (stop > first) {
            let from = from_of(first, stop);
            let mask = mask_of(from, stop);
            let old = self.clear(memory, from >> 5, mask);
            let missing = mask & !old;
            gap = select(missing != 0, highest(from, missing), NONE);
            if (missing != 0) & (mask & old != 0) {
                self.set(memory, from >> 5, mask & old);
            }
            stop = select(missing != 0, stop, from);
        }
        if gap != NONE {
            self.insert_run(memory, stop, end - stop);
        }
        gap
    }

    /// Sets bits of a leaf; the leaf as it was.
    #[inline(always)]
    fn set<M: HeapMemory>(self, memory: M, leaf: u32, mask: u32) -> u32 {
        memory.release();
        let old = memory.fetch_or(self.at(0, leaf << 5), mask);
        if old == 0 {
            self.tell(memory, leaf);
        }
        old
    }

    /// Clears bits of a leaf; the leaf as it was.
    #[inline(always)]
    fn clear<M: HeapMemory>(self, memory: M, leaf: u32, mask: u32) -> u32 {
        memory.release();
        let old = memory.fetch_and(self.at(0, leaf << 5), !mask);
        memory.acquire();
        if (old != 0) & (old & !mask == 0) {
            self.tell(memory, leaf);
        }
        old
    }

    /// Says above whether leaf `i` has bits, as far up as that is news.
    ///
    /// Each one who empties a word or fills an empty one comes here afterwards, and looks at the word again
    /// when the bit above is changed: whose change of the bit comes last sees what all the others did to the
    /// word before they changed the bit. So when all is quiet every bit is right.
    #[inline(always)]
    fn tell<M: HeapMemory>(self, memory: M, i: u32) {
        let levels = self.levels();
        let (mut level, mut i) = (1, i);
        let (mut news, mut looks) = (false, 0);
        while level < levels {
            let below = self.at(level - 1, i << 5);
            let (at, bit) = (self.at(level, i), 1 << (i & 31));
            let has = memory.load(below) != 0;
            memory.release();
            // Whether the word above is no longer empty, or is by now.
            if has {
                news |= memory.fetch_or(at, bit) == 0;
            } else {
                news |= memory.fetch_and(at, !bit) == bit;
            }
            memory.acquire();
            looks += 1;
            let settled = ((memory.load(below) != 0) == has) | (looks == LOOKS);
            looks = select(settled, 0, looks);
            i = select(settled, i >> 5, i);
            level = select(settled, select(news, level + 1, levels), level);
            news &= !settled;
        }
    }
}

/// The bits from `x` on in its word, as far as `end`.
#[inline(always)]
const fn mask_of(x: u32, end: u32) -> u32 {
    low_mask(end - (x & !31)) & !low_mask(x & 31)
}

/// Where the part of a range that lies in the range's last word begins.
#[inline(always)]
const fn from_of(first: u32, end: u32) -> u32 {
    let word = (end - 1) & !31;
    select(word > first, word, first)
}

/// The number of the highest set bit in the word of `x`.
#[inline(always)]
const fn highest(x: u32, word: u32) -> u32 {
    (x & !31) + (31u32.wrapping_sub(word.leading_zeros()) & 31)
}

/// An element, if there is one.
#[inline(always)]
const fn some(x: u32) -> Option<u32> {
    if x == NONE { None } else { Some(x) }
}

#[cfg(test)]
mod tests;
