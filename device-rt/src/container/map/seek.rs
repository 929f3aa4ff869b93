//! The search of a key: bucket after bucket of its group, and on in what hangs below a full one.
//!
//! All of it is one loop. Lanes of a warp whose searches end in different buckets and groups go on together with what they do there.

use super::branch::is_branch;
use super::flat::{BUCKET_SLOTS, Flat, GROUP_SLOTS, stored_words};
use super::level::Level;
use super::tag::{self, BACK, BUSY, EMPTY, SIDES};
use super::words::WordSource;
use warpheap_api::{HeapMemory, select};

/// Buckets of the root that an insertion looks at before the link: a group with something below it is full, and most keys of a root
/// that is large enough find room in these.
const BUCKETS_BEFORE_LINK: u32 = 2;

/// Where a search is, or ended.
#[derive(Clone, Copy)]
pub struct Spot {
    /// The word of the slot's tag.
    pub slot: usize,
    /// What it said: [`EMPTY`], or that it is the key's.
    pub tag: u32,
    /// Which of the key's places in the group it is; [`GROUP_SLOTS`] if all are others'.
    pub place: u32,
    /// The group, the last one on the key's way.
    pub level: Level,
}

impl Spot {
    /// The begin of a search: the first place of all.
    #[inline(always)]
    pub fn begin<K: WordSource>(flat: Flat, key: K) -> Self {
        Spot {
            slot: 0,
            tag: EMPTY,
            place: 0,
            level: Level::root(flat, tag::hash_of(key)),
        }
    }

    /// Whether all places of the key are others'.
    #[inline(always)]
    pub fn no_room(self) -> bool {
        self.place == GROUP_SLOTS
    }
}

impl Flat {
    /// The first place that is empty or the key's, from `spot` on. To `bring` a key, it ends at a busy slot of the key, too, and
    /// acquires nothing. Otherwise busy slots are passed over, one to which the key is coming back is [`settled`](Flat::settled), and what was done
    /// before the key was brought is known afterwards.
    ///
    /// The four tags of a bucket are loaded in any order: a search that finds an empty slot may have seen it before those in
    /// front of it, and is as good as one that was then.
    #[inline(always)]
    pub fn search<M: HeapMemory, K: WordSource>(
        self,
        memory: M,
        key: K,
        spot: Spot,
        bring: bool,
    ) -> Spot {
        let mut spot = spot;
        let mut side = spot.place / BUCKET_SLOTS;
        let mut passed = spot.place % BUCKET_SLOTS;
        // A lookup goes below a group more often than an insertion, and finds most keys in their own bucket.
        let before_link = if bring { BUCKETS_BEFORE_LINK } else { 1 };
        let mut on = true;
        while on {
            let seen = self.in_bucket(memory, key, spot.level, side, passed, bring);
            passed = 0;
            spot.slot = seen.slot;
            spot.tag = seen.tag;
            spot.place = side * BUCKET_SLOTS + seen.index;
            on = seen.index == BUCKET_SLOTS;
            side += on as u32;
            let all = side == SIDES;
            if on & (all | ((side == before_link) & spot.level.is_root())) {
                on = !all | is_branch(spot.level.link);
                if on {
                    let branch = spot.level.branch;
                    spot.level = spot.level.after(self, memory, all);
                    side = select(spot.level.branch == branch, side, 0);
                }
            }
        }
        spot
    }

    /// The first slot of a bucket that is empty or the key's, behind those that were `passed`.
    #[inline(always)]
    fn in_bucket<M: HeapMemory, K: WordSource>(
        self,
        memory: M,
        key: K,
        level: Level,
        side: u32,
        passed: u32,
        bring: bool,
    ) -> Seen {
        let home = level.way & (SIDES - 1);
        let first = self.slot(level.first, (home ^ side) * BUCKET_SLOTS);
        let tags = if bring {
            memory.load4(first)
        } else {
            memory.load4_acquire(first)
        };
        let owner = tag::owner_of(level.way, self.bits, side);
        // A bit for each slot that ends the search.
        let mut ends = 0;
        let mut i = 0;
        while i < BUCKET_SLOTS {
            let tag = tags[i as usize];
            let stops = tag::has_key(tag) | ((tag::state(tag) == BUSY) & bring);
            let mine = (tag::owner(tag) == owner) & stops;
            ends |= ((tag == EMPTY) | mine) as u32 * (1 << i);
            i += 1;
        }
        ends &= u32::MAX << passed;
        let mut seen = Seen {
            slot: 0,
            tag: EMPTY,
            index: BUCKET_SLOTS,
        };
        while ends != 0 {
            let index = ends.trailing_zeros();
            ends &= ends - 1;
            let low = select(index == 0, tags[0], tags[1]);
            let high = select(index == 2, tags[2], tags[3]);
            let mut tag = select(index < 2, low, high);
            let slot = first + index as usize;
            let mut mine = true;
            if tag::has_key(tag) & (stored_words(self.key_words) != 0) {
                if bring {
                    memory.acquire();
                }
                mine = self.has_key(memory, slot, key);
            }
            if mine & !bring & (tag::state(tag) == BACK) {
                tag = self.settled(memory, slot, tag);
                mine = tag::has_key(tag);
            }
            if mine {
                seen = Seen { slot, tag, index };
                ends = 0;
            }
        }
        seen
    }
}

/// Where the search of a bucket ended.
#[derive(Clone, Copy)]
struct Seen {
    /// The word of the slot's tag.
    slot: usize,
    /// What it said.
    tag: u32,
    /// The slot's number in the bucket; [`BUCKET_SLOTS`] if there is none.
    index: u32,
}
