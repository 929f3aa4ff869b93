//! The slots of a map: buckets of four, in which most keys lie with their values. A bucket is four tags, and behind them four keys
//! with their values.
//!
//! A key has 32 places: the four of its own bucket, and those of the seven beside it. It takes the first that is
//! [`EMPTY`](tag::EMPTY), and stays there. No slot becomes empty again, so a search ends at an empty one, and keys for which all
//! are taken are in the trie.
//!
//! *Inserting*: the lane makes the tag of an empty slot [`BUSY`](tag::BUSY), writes, and makes it [`FULL`](tag::FULL). Who finds a slot busy
//! for the same key looks a few times, then makes it [`BURNED`](tag::BURNED) and goes on; the lane that was late fails to make it full, and goes on
//! as well. So nobody waits for long, and not at all for a lane that does not run.
//!
//! *Values* are changed by one atomic while the key is there. Such a change may be late: the key was removed meanwhile. Then
//! it counts as done before that. It must not be seen afterwards, in the value of who brings the key again. So the
//! lane looks at the tag once more ([`changed`](Flat::changed)), and burns a slot that it finds busy: the value is brought elsewhere then.

use super::leaf::MOST_ROUNDS;
use super::tag::{self, BURNED, BUSY, DEAD, EMPTY, FULL};
use super::words::{Stored, WordSource};
use crate::arch;
use warpheap_api::{HeapMemory, select};

/// Slots of a bucket.
pub const BUCKET_SLOTS: u32 = 4;
/// Slots of the buckets in which a key may lie.
pub const GROUP_SLOTS: u32 = tag::SIDES * BUCKET_SLOTS;
/// How often a lane looks at a slot that another one is writing. In the emulator less, so that tests see what comes then.
const MOST_LOOKS: u32 = if arch::ON_DEVICE { 64 } else { 2 };
/// Time between two looks, in nanoseconds.
const PAUSE: u32 = 200;

/// The slots of a map with keys and values of these widths.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// The word in which the first one begins.
    pub first: usize,
    /// There are `2^bits` buckets; none if this is 0.
    pub bits: u32,
    /// Words of a key.
    pub key_words: u32,
    /// Words of a value: none or one.
    pub value_words: u32,
}

/// Where a search ended.
#[derive(Clone, Copy)]
struct Spot {
    /// The word of the slot's tag.
    slot: usize,
    /// What it said: [`EMPTY`], or that it is the key's.
    tag: u32,
    /// Which of the key's places it is; [`GROUP_SLOTS`] if all are others'.
    place: u32,
}

/// What came of bringing a key.
#[derive(Clone, Copy)]
pub struct Entered {
    /// The word of the slot's tag.
    pub slot: usize,
    /// One of the constants of this type.
    pub how: u32,
}

impl Entered {
    /// The key was there.
    pub const THERE: u32 = 1;
    /// It is there now.
    pub const NEW: u32 = 2;
    /// It has no slot, and will never have one.
    pub const NO_ROOM: u32 = 3;
    /// Lanes changed the same slots again and again.
    pub const CONTENDED: u32 = 0;
}

impl Flat {
    /// Words of a slot: the tag, the key if it is not the tag, the value.
    #[inline(always)]
    pub const fn slot_words(key_words: u32, value_words: u32) -> u32 {
        1 + stored_words(key_words) + value_words
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn buckets(self) -> u32 {
        if self.bits == 0 { 0 } else { 1 << self.bits }
    }

    /// The word of the tag of slot `index` in a bucket: tags come first, side by side.
    #[inline(always)]
    pub fn slot(self, bucket: u32, index: u32) -> usize {
        let words = Self::slot_words(self.key_words, self.value_words) as usize;
        self.first + bucket as usize * BUCKET_SLOTS as usize * words + index as usize
    }

    /// The word in which the key of a slot begins, if the tag is not the key; the value is behind it.
    #[inline(always)]
    pub fn key_word(self, slot: usize) -> usize {
        let words = stored_words(self.key_words) + self.value_words;
        // A bucket begins at a multiple of its slots.
        let index = slot % BUCKET_SLOTS as usize;
        slot - index + BUCKET_SLOTS as usize + index * words as usize
    }

    /// The word in which the value of a slot begins.
    #[inline(always)]
    pub fn value_word(self, slot: usize) -> usize {
        self.key_word(slot) + stored_words(self.key_words) as usize
    }

    /// Whether a slot that is full or dead has this key.
    #[inline(always)]
    fn has_key<M: HeapMemory, K: WordSource>(self, memory: M, slot: usize, key: K) -> bool {
        let count = stored_words(self.key_words);
        let stored = Stored {
            memory,
            first: self.key_word(slot),
            count,
        };
        let mut differs = 0;
        let mut i = 0;
        while i < count {
            differs |= stored.word(i) ^ key.word(i);
            i += 1;
        }
        differs == 0
    }

    /// The first place, from `from` on, that is empty or the key's. Slots that are busy are passed over unless `all`.
    ///
    /// The four tags of a bucket are loaded in any order: a search that finds an empty slot may have seen it before those in
    /// front of it, and is as good as one that was then.
    #[inline(always)]
    fn seek<M: HeapMemory, K: WordSource>(self, memory: M, key: K, from: u32, all: bool) -> Spot {
        let hash = tag::hash_of(key);
        let home = hash & ((1 << self.bits) - 1);
        let mut spot = Spot {
            slot: 0,
            tag: EMPTY,
            place: GROUP_SLOTS,
        };
        let mut side = from / BUCKET_SLOTS;
        let mut passed = from % BUCKET_SLOTS;
        while side < tag::SIDES {
            let first = self.slot(home ^ side, 0);
            let tags = memory.load4(first);
            let owner = tag::owner_of(hash, self.bits, side);
            // A bit for each slot that ends the search.
            let mut ends = 0;
            let mut i = 0;
            while i < BUCKET_SLOTS {
                let tag = tags[i as usize];
                let state = tag::state(tag);
                let stops = (state == FULL) | (state == DEAD) | ((state == BUSY) & all);
                let mine = (tag::owner(tag) == owner) & stops;
                ends |= ((tag == EMPTY) | mine) as u32 * (1 << i);
                i += 1;
            }
            ends &= u32::MAX << passed;
            passed = 0;
            let place = side * BUCKET_SLOTS;
            side += 1;
            while ends != 0 {
                let index = ends.trailing_zeros();
                ends &= ends - 1;
                let low = select(index == 0, tags[0], tags[1]);
                let high = select(index == 2, tags[2], tags[3]);
                let tag = select(index < 2, low, high);
                let slot = first + index as usize;
                let mut mine = true;
                if (tag::state(tag) == FULL) | (tag::state(tag) == DEAD) {
                    memory.acquire();
                    mine = self.has_key(memory, slot, key);
                }
                if mine {
                    spot.slot = slot;
                    spot.tag = tag;
                    spot.place = place + index;
                    ends = 0;
                    side = tag::SIDES;
                }
            }
        }
        spot
    }

    /// The slot in which a key is there and its tag; or 0, and whether the key has no slot.
    #[inline(always)]
    pub fn find<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> Found {
        let spot = self.seek(memory, key, 0, false);
        let full = (spot.place < GROUP_SLOTS) & (tag::state(spot.tag) == FULL);
        Found {
            slot: if full { spot.slot } else { 0 },
            tag: spot.tag,
            elsewhere: spot.place == GROUP_SLOTS,
        }
    }

    /// Gives the key a slot with this value, if it has none that is full.
    #[inline(always)]
    pub fn enter<M: HeapMemory, K: WordSource, V: WordSource>(
        self,
        memory: M,
        key: K,
        value: V,
    ) -> Entered {
        let mut entered = Entered {
            slot: 0,
            how: Entered::CONTENDED,
        };
        let mut place = 0;
        let mut looks = 0;
        let mut round = 0;
        while (entered.how == Entered::CONTENDED) & (round < MOST_ROUNDS) {
            round += 1;
            let spot = self.seek(memory, key, place, true);
            place = spot.place;
            entered.slot = spot.slot;
            let state = tag::state(spot.tag);
            if place == GROUP_SLOTS {
                entered.how = Entered::NO_ROOM;
            } else if state == FULL {
                entered.how = Entered::THERE;
            } else if state == BUSY {
                looks += 1;
                if looks > MOST_LOOKS {
                    burn(memory, spot.slot, spot.tag);
                    looks = 0;
                } else {
                    arch::pause(PAUSE);
                }
            } else if self.claim(memory, spot, key, value) {
                entered.how = Entered::NEW;
            }
        }
        entered
    }

    /// Makes an empty or dead slot the key's; false if others came in between.
    #[inline(always)]
    fn claim<M: HeapMemory, K: WordSource, V: WordSource>(
        self,
        memory: M,
        spot: Spot,
        key: K,
        value: V,
    ) -> bool {
        let owner = tag::owner_of(tag::hash_of(key), self.bits, spot.place / BUCKET_SLOTS);
        let mut done = false;
        if memory.compare_exchange(spot.slot, spot.tag, owner | BUSY) == spot.tag {
            if spot.tag == EMPTY {
                let mut i = 0;
                while i < stored_words(self.key_words) {
                    memory.write(self.key_word(spot.slot) + i as usize, key.word(i));
                    i += 1;
                }
            } else {
                // Changes of the value from when the key was there before come first: `changed`.
                memory.acquire();
            }
            if value.words() > 0 {
                memory.store(self.value_word(spot.slot), value.word(0));
            }
            memory.release();
            let old = memory.compare_exchange(spot.slot, owner | BUSY, owner | FULL);
            done = old == owner | BUSY;
        }
        done
    }

    /// Removes a key: 1 if it was there, 0 if not, 2 if it has no slot, 3 if others changed the slot again and again.
    #[inline(always)]
    pub fn remove<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> u32 {
        let mut answer = 3;
        let mut round = 0;
        while (answer == 3) & (round < MOST_ROUNDS) {
            round += 1;
            let spot = self.seek(memory, key, 0, false);
            if spot.place == GROUP_SLOTS {
                answer = 2;
            } else if tag::state(spot.tag) != FULL {
                answer = 0;
            } else {
                // What this lane did with the value comes before.
                memory.release();
                let dead = tag::owner(spot.tag) | DEAD;
                let old = memory.compare_exchange(spot.slot, spot.tag, dead);
                answer = select(old == spot.tag, 1, 3);
            }
        }
        answer
    }

    /// What a lane does after it changed a value by an atomic.
    #[inline(always)]
    pub fn changed<M: HeapMemory>(self, memory: M, slot: usize) {
        // By a change of the tag, of nothing: who makes the slot busy later acquires the change of the value, and writes after it.
        memory.release();
        let seen = memory.fetch_or(slot, 0);
        if tag::state(seen) == BUSY {
            burn(memory, slot, seen);
        }
    }
}

/// Where a key was found.
#[derive(Clone, Copy)]
pub struct Found {
    /// The word of the slot's tag; 0 if the key is in no slot.
    pub slot: usize,
    /// The tag.
    pub tag: u32,
    /// Whether the key has no slot, so that it may be in the trie.
    pub elsewhere: bool,
}

/// Words of the key that a slot stores.
#[inline(always)]
pub const fn stored_words(key_words: u32) -> u32 {
    if key_words == 1 { 0 } else { key_words }
}

/// Takes a slot away from the lane that has it busy, if it still has.
#[inline(always)]
fn burn<M: HeapMemory>(memory: M, slot: usize, seen: u32) {
    memory.compare_exchange(slot, seen, tag::owner(seen) | BURNED);
}
