//! Branches: more slots, for keys whose group is full. A branch is one block, which hangs below the group.
//!
//! | words | |
//! |---|---|
//! | 8 for each of its four groups | the group's header: a link, three words of a filter, and in the first header the branch above |
//! | 32 slots for each of the four | the groups, of which two more bits of the hash choose |
//!
//! A *link* says what hangs below a group. Links of the root's groups lie side by side behind its slots.
//!
//! A group that is full never changes while lanes use the map: a slot keeps the key that it got first. So the filter
//! ([`filter`](super::filter)) says of the group *above* which keys are not in it, and with it comes the link to what hangs further
//! below: a search passes a full group by one sector of memory.

use super::slot::{EMPTY, first_word};
use warpheap_api::{HeapMemory, Layout, layout};

/// Bits of the hash by which a group of a branch is chosen.
pub const BRANCH_BITS: u32 = 2;
/// Groups of a branch. With two a pair takes less memory at some sizes, and growing takes a third longer.
pub const GROUPS: u32 = 1 << BRANCH_BITS;
/// Words of a header: a sector.
const HEADER_WORDS: usize = 8;
/// The word of the first header that says which branch is above; [`EMPTY`] below the root.
const ABOVE: usize = 4;
/// Alignment: headers and buckets begin with a sector.
const ALIGN: usize = 32;

/// A link that says: a lane is about to hang a branch here. Beside it the number of other lanes that are, too.
pub const CLAIMED: u32 = 1 << 31;

/// Whether lanes are about to hang a branch at a link.
#[inline(always)]
pub fn is_claimed(link: u32) -> bool {
    link & CLAIMED != 0
}

/// Whether a branch hangs at a link.
#[inline(always)]
pub fn is_branch(link: u32) -> bool {
    (link != EMPTY) & !is_claimed(link)
}

/// Words of a branch whose groups have so many.
#[inline(always)]
pub const fn words(group_words: usize) -> usize {
    GROUPS as usize * (HEADER_WORDS + group_words)
}

/// The layout of a branch whose groups have so many words.
#[inline(always)]
pub const fn branch_layout(group_words: usize) -> Layout {
    layout::aligned(words(group_words) * 4, ALIGN)
}

/// The word in which the header of a group begins: its link, behind which the filter is.
#[inline(always)]
pub fn header<M: HeapMemory>(memory: M, branch: u32, digit: u32) -> usize {
    first_word(memory, branch) + digit as usize * HEADER_WORDS
}

/// The word in which a group begins.
#[inline(always)]
pub fn group<M: HeapMemory>(memory: M, branch: u32, digit: u32, group_words: usize) -> usize {
    first_word(memory, branch) + GROUPS as usize * HEADER_WORDS + digit as usize * group_words
}

/// The branch in one of whose groups this one hangs; [`EMPTY`] if it hangs in the root.
#[inline(always)]
pub fn above<M: HeapMemory>(memory: M, branch: u32) -> u32 {
    memory.read(first_word(memory, branch) + ABOVE)
}

/// Fills the block of a branch: nothing is in it, and nothing in the filters.
#[inline(always)]
pub fn write_new<M: HeapMemory>(memory: M, branch: u32, above: u32, group_words: usize) {
    let first = first_word(memory, branch);
    let mut i = 0;
    while i < words(group_words) {
        memory.write4(first + i, [0; 4]);
        i += 4;
    }
    memory.write(first + ABOVE, above);
}
