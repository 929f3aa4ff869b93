//! The adaptor's own words: the last ones of the pool, which the allocator within does not know.
//!
//! From the region's first granule on: [`KEPT`] reports, then a word for each place of the quarantine, then, as the last words of the
//! pool, the settings.

use crate::arch::{Group, Words};
use warpheap_api::{HeapMemory, LaneMask};

/// Reports that are kept until the host has read them; mistakes beyond are only counted.
pub(crate) const KEPT: u32 = 32;
/// Words of a report.
pub(crate) const REPORT_WORDS: u32 = 16;
/// Words of all reports.
pub(crate) const REPORTS: u32 = KEPT * REPORT_WORDS;

/// Words of the settings.
pub(crate) const SETTINGS: usize = 12;
/// Setting: first granule of the region, where the inner allocator's memory ends.
pub(crate) const BEGIN: usize = 0;
/// Setting: places of the quarantine, a power of two, or none.
pub(crate) const PLACES: usize = 1;
/// Setting: granules of the largest block that waits.
pub(crate) const LARGEST: usize = 2;
/// Number of resets by kernels: records of before are none.
pub(crate) const EPOCH: usize = 3;
/// Mistakes so far, modulo 2^32.
pub(crate) const MISTAKES: usize = 4;
/// Mistakes that the host knows of; written by the host alone.
pub(crate) const TOLD: usize = 5;
/// Blocks that began to wait, modulo 2^32. The next one's place is this, modulo the number of places.
const CAME: usize = 6;
/// Blocks that waited and were given back, modulo 2^32.
const LEFT: usize = 7;
/// Setting: granules of a freed block, from its first on, that are filled.
pub(crate) const FILLED: usize = 8;

/// The adaptor's words.
#[derive(Clone, Copy)]
pub(crate) struct Region {
    words: Words,
    settings: usize,
}

impl Region {
    /// Those of the heap with these words.
    #[inline(always)]
    pub(crate) fn of(words: Words) -> Self {
        Region {
            words,
            settings: words.len() - SETTINGS,
        }
    }

    #[inline(always)]
    pub(crate) fn words(self) -> Words {
        self.words
    }

    /// A setting that no lane changes while others use the heap.
    #[inline(always)]
    fn setting(self, which: usize) -> u32 {
        self.words.read(self.settings + which)
    }

    /// The granule at which the memory of blocks ends.
    #[inline(always)]
    pub(crate) fn begin(self) -> u32 {
        self.setting(BEGIN)
    }

    #[inline(always)]
    pub(crate) fn epoch(self) -> u32 {
        self.setting(EPOCH)
    }

    /// Blocks that wait, those among them that are being given back.
    #[inline(always)]
    pub(crate) fn held(self) -> u32 {
        let left = self.words.load(self.settings + LEFT);
        self.words.load(self.settings + CAME).wrapping_sub(left)
    }

    /// Collective: counts the lanes that have a block that begins to wait: the index of the first one's place, which the leader
    /// knows alone. The others follow by their ranks.
    #[inline(always)]
    pub(crate) fn come(self, group: Group, coming: LaneMask) -> u32 {
        match group.leads() & !coming.is_empty() {
            true => self.words.fetch_add(self.settings + CAME, coming.count()),
            false => 0,
        }
    }

    /// Collective: counts the lanes of which a block waited that has been given back.
    #[inline(always)]
    pub(crate) fn leave(self, group: Group, left: bool) {
        let left = group.ballot(left);
        if !left.is_empty() {
            if group.leads() {
                self.words.fetch_add(self.settings + LEFT, left.count());
            }
            // Lanes that part at the end of a call may stay apart.
            group.barrier();
        }
    }

    #[inline(always)]
    pub(crate) fn places(self) -> u32 {
        self.setting(PLACES)
    }

    /// Granules of the largest block that waits.
    #[inline(always)]
    pub(crate) fn largest(self) -> u32 {
        self.setting(LARGEST)
    }

    /// Granules of a freed block that are filled, at most.
    #[inline(always)]
    pub(crate) fn filled(self) -> u32 {
        self.setting(FILLED)
    }

    /// The word of a place of the quarantine; `index` counts on beyond their number.
    #[inline(always)]
    pub(crate) fn place(self, index: u32, places: u32) -> usize {
        let first = self.begin() as usize * 4 + REPORTS as usize;
        first + (index & (places - 1)) as usize
    }

    /// Counts a mistake; the word at which its report begins, or 0 if there is no room for one.
    #[inline(always)]
    pub(crate) fn mistake(self) -> usize {
        let index = self.words.fetch_add(self.settings + MISTAKES, 1);
        let told = self.setting(TOLD);
        match index.wrapping_sub(told) < KEPT {
            true => self.begin() as usize * 4 + (index % KEPT * REPORT_WORDS) as usize,
            false => 0,
        }
    }

    /// Forgets what waits, each lane its share, and what was handed out before. Mistakes stay.
    #[inline(always)]
    pub(crate) fn reset(self, index: u32, count: u32) {
        let places = self.places();
        let mut at = index;
        while at < places {
            self.words.store(self.place(at, places), 0);
            // The sum could wrap.
            at = match places - at > count {
                true => at + count,
                false => places,
            };
        }
        if index == 0 {
            self.words.fetch_add(self.settings + EPOCH, 1);
            self.words.store(self.settings + CAME, 0);
            self.words.store(self.settings + LEFT, 0);
        }
    }
}
