//! The adaptor's own words: the last ones of the pool, which the allocator within does not know.
//!
//! From the region's first granule on: a head for each ring, the table of launches, the events of each ring, and, as the last words
//! of the pool, the settings. The table is the host's alone.

use crate::arch::{self, Group, Words};
use crate::thread;
use warpheap_api::HeapMemory;

/// Rings, a power of two. A warp begins with the one of its number.
pub(crate) const RINGS: u32 = 32;
/// Words of a ring's head, as many as of a sector, so that warps do not meet.
pub(crate) const HEAD_WORDS: u32 = 8;
/// In a head: places that were asked for, more than there are once one found no room.
pub(crate) const ASKED: usize = 0;
/// In a head: events that were lost.
pub(crate) const LOST: usize = 1;
/// Words of all heads.
pub(crate) const HEADS: u32 = RINGS * HEAD_WORDS;
/// Launches that the table holds.
#[cfg(feature = "std")]
pub(crate) const MOST_LAUNCHES: u32 = 512;
/// Words of the name of a launch's kernels.
#[cfg(feature = "std")]
pub(crate) const NAME_WORDS: u32 = 16;
/// Words of a launch: the places of each ring that were taken at its end, the bytes of its name, the name.
#[cfg(feature = "std")]
pub(crate) const LAUNCH_WORDS: u32 = RINGS + 4 + NAME_WORDS;
/// Words of an event.
pub(crate) const EVENT_WORDS: u32 = 4;

/// Words of the settings.
pub(crate) const SETTINGS: usize = 8;
/// Setting: first granule of the region, where the inner allocator's memory ends.
pub(crate) const BEGIN: usize = 0;
/// Setting: events of a ring.
pub(crate) const CAPACITY: usize = 1;
/// Setting: word of the first event, from the region's first.
pub(crate) const EVENTS: usize = 2;
/// Launches in the table; written by the host alone.
#[cfg(feature = "std")]
pub(crate) const LAUNCHES: usize = 3;

/// The places that a lane got for its events.
#[derive(Clone, Copy)]
pub(super) struct Places {
    /// The first word, or 0 for none.
    pub(super) word: usize,
    /// Number of the first place in its ring.
    pub(super) number: u32,
}

/// The adaptor's words.
#[derive(Clone, Copy)]
pub(super) struct Region {
    words: Words,
    settings: usize,
}

impl Region {
    /// Those of the heap with these words.
    #[inline(always)]
    pub(super) fn of(words: Words) -> Self {
        Region {
            words,
            settings: words.len() - SETTINGS,
        }
    }

    /// A setting, which no lane changes.
    #[inline(always)]
    fn setting(self, which: usize) -> u32 {
        self.words.read(self.settings + which)
    }

    /// Collective: places for the events of the calling lane, 0, 1 or 2, side by side in a ring with room. If there is none the events are
    /// counted as lost.
    #[inline(always)]
    pub(super) fn claim(self, group: Group, count: u32) -> Places {
        let begin = self.setting(BEGIN) as usize * 4;
        let capacity = self.setting(CAPACITY);
        let events = begin + self.setting(EVENTS) as usize;
        let head = |ring: u32| begin + (ring * HEAD_WORDS) as usize;
        let home = group.broadcast(thread::index() / thread::warp_width()) % RINGS;
        let mut places = Places { word: 0, number: 0 };
        let mut left = count;
        let mut tries = 0;
        // A ring that is full stays so until the host takes its events: the look costs a load.
        while (tries < RINGS) & group.any(left != 0) {
            let ring = (home + tries) % RINGS;
            let (before, total) = asked_by(group, left);
            let mut first = capacity;
            // The glance may be at an old number.
            if group.leads() && self.words.glance(head(ring) + ASKED) < capacity {
                first = self.words.fetch_add(head(ring) + ASKED, total);
                if first >= capacity {
                    // The number stays near the capacity, however many ask in vain.
                    self.words.fetch_sub(head(ring) + ASKED, total);
                }
            }
            first = group.broadcast(first);
            let number = first + before;
            if (left != 0) & (number + left <= capacity) {
                let place = ring as usize * capacity as usize + number as usize;
                places = Places {
                    word: events + place * EVENT_WORDS as usize,
                    number,
                };
                left = 0;
            }
            tries += 1;
        }
        if group.any(left != 0) {
            let (_, lost) = asked_by(group, left);
            if group.leads() {
                self.words.fetch_add(head(home) + LOST, lost);
            }
        }
        places
    }
}

/// Collective: the sums of the numbers of the lanes before the calling one and of all, each 0, 1 or 2.
#[inline(always)]
fn asked_by(group: Group, number: u32) -> (u32, u32) {
    let some = group.ballot(number != 0);
    let two = group.ballot(number == 2);
    let lane = arch::lane();
    (some.rank(lane) + two.rank(lane), some.count() + two.count())
}
