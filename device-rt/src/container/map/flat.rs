//! The slots of a map: buckets of four, in which most keys lie with their values. A bucket is four tags, and behind them four keys
//! with their values.
//!
//! A key has 32 places: the four of its own bucket, and those of the seven beside it. It takes the first that is
//! [`EMPTY`](tag::EMPTY), and stays there. No slot becomes empty again, so a search ends at an empty one. These 32 are a *group*:
//! keys of other groups have none of them. Keys for which all are taken are in a group of a [`branch`](super::branch) that hangs
//! below; where none can hang, in the trie.
//!
//! *Inserting*: the lane makes the tag of an empty slot [`BUSY`](tag::BUSY), that of its removed key [`BACK`](tag::BACK), writes, and makes it
//! [`FULL`](tag::FULL). Who finds a slot busy for the same key looks a few times, then makes it [`BURNED`](tag::BURNED) and goes on; the lane that was
//! late fails to make it full, and goes on as well. So nobody waits for long, and not at all for a lane that does not run.
//!
//! *Values* are changed by one atomic while the key is there. Such a change may be late: the key was removed meanwhile, and is perhaps
//! coming back. If it comes before the value with which the key comes back, nobody sees it: it counts as done before the removal. If it comes
//! behind that, it counts as done to the key that is back. Then nobody may have been told since that the key is not there. So who
//! finds it coming back looks a few times, and burns the slot before it says so ([`settled`](Flat::settled)): the value is brought elsewhere then, without
//! the change. Who changes a value only sees to it that whatever it looks at next is seen as it is behind the change ([`changed`]).

use super::leaf::MOST_ROUNDS;
use super::level::Level;
use super::seek::Spot;
use super::tag::{self, BACK, BURNED, BUSY, DEAD, EMPTY, FULL};
use super::words::{Stored, WordSource};
use crate::arch;
use warpheap_api::{HeapMemory, select};

/// Slots of a bucket.
pub const BUCKET_SLOTS: u32 = 4;
/// Slots of a group: those of the buckets in which a key may lie.
pub const GROUP_SLOTS: u32 = tag::SIDES * BUCKET_SLOTS;
/// How often a lane looks at a slot that another one is writing. In the emulator less, so that tests see what comes then.
pub const MOST_LOOKS: u32 = if arch::ON_DEVICE { 64 } else { 2 };
/// Time between two looks, in nanoseconds.
pub const PAUSE: u32 = 200;

/// The slots of a map with keys and values of these widths.
#[derive(Clone, Copy, Debug)]
pub struct Flat {
    /// The word in which the first one begins.
    pub first: usize,
    /// The root has `2^bits` buckets; none if this is 0.
    pub bits: u32,
    /// Words of a key.
    pub key_words: u32,
    /// Words of a value: none or one.
    pub value_words: u32,
}

/// What came of bringing a key.
#[derive(Clone, Copy)]
pub struct Entered {
    /// The word of the slot's tag.
    pub slot: usize,
    /// One of the constants of this type.
    pub how: u32,
    /// The last group on the key's way.
    pub level: Level,
}

impl Entered {
    /// Whether a branch could make room for a key that has none.
    #[inline(always)]
    pub fn can_grow(self) -> bool {
        (self.how == Self::NO_ROOM) & self.level.has_bits()
    }

    /// The key was there.
    pub const THERE: u32 = 1;
    /// It is there now.
    pub const NEW: u32 = 2;
    /// All slots of the groups on its way are others'.
    pub const NO_ROOM: u32 = 3;
    /// A branch was to hang below, and the heap had no memory for it; `slot` is the error's code.
    pub const FAILED: u32 = 4;
    /// Lanes changed the same slots again and again.
    pub const CONTENDED: u32 = 0;
}

impl Flat {
    /// Words of a slot: the tag, the key if it is not the tag, the value.
    #[inline(always)]
    pub const fn slot_words(key_words: u32, value_words: u32) -> u32 {
        1 + stored_words(key_words) + value_words
    }

    /// Words of a group.
    #[inline(always)]
    pub const fn group_words(self) -> usize {
        (Self::slot_words(self.key_words, self.value_words) * GROUP_SLOTS) as usize
    }

    /// The word in which the links of the root's groups begin.
    #[inline(always)]
    pub fn links(self) -> usize {
        self.first + (self.group_words() << (self.bits - tag::SIDE_BITS))
    }

    /// The word of the tag of slot `index` of the group that begins at `group`. Tags of a bucket come first, side by side.
    #[inline(always)]
    pub fn slot(self, group: usize, index: u32) -> usize {
        let words = Self::slot_words(self.key_words, self.value_words);
        let bucket = index / BUCKET_SLOTS * (BUCKET_SLOTS * words);
        group + (bucket + index % BUCKET_SLOTS) as usize
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
    pub fn has_key<M: HeapMemory, K: WordSource>(self, memory: M, slot: usize, key: K) -> bool {
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

    /// The slot in which a key is there and its tag; or 0, and whether the key has no slot.
    #[inline(always)]
    pub fn find<M: HeapMemory, K: WordSource>(self, memory: M, key: K) -> Found {
        let spot = self.search(memory, key, Spot::begin(self, key), false);
        let full = !spot.no_room() & (tag::state(spot.tag) == FULL);
        Found {
            slot: if full { spot.slot } else { 0 },
            tag: spot.tag,
            elsewhere: spot.no_room() & !spot.level.has_bits(),
        }
    }

    /// Gives the key a slot with this value, if it has none that is full. Asks the heap for nothing.
    #[inline(always)]
    pub fn enter<M: HeapMemory, K: WordSource, V: WordSource>(
        self,
        memory: M,
        key: K,
        value: V,
    ) -> Entered {
        let mut how = Entered::CONTENDED;
        let mut spot = Spot::begin(self, key);
        let (mut looks, mut looked_at) = (0, 0);
        let mut round = 0;
        while (how == Entered::CONTENDED) & (round < MOST_ROUNDS) {
            round += 1;
            spot = self.search(memory, key, spot, true);
            // Who waited for one slot does not burn the next one sooner for that: of many lanes some would burn each.
            looks = select(spot.slot == looked_at, looks, 0);
            looked_at = spot.slot;
            if spot.no_room() {
                how = Entered::NO_ROOM;
            } else if tag::state(spot.tag) == FULL {
                memory.acquire();
                how = Entered::THERE;
            } else if tag::is_busy(spot.tag) {
                looks += 1;
                if looks > MOST_LOOKS {
                    burn(memory, spot.slot, spot.tag);
                    looks = 0;
                } else {
                    arch::pause(PAUSE);
                }
            } else if self.claim(memory, spot, key, value) {
                how = Entered::NEW;
            }
        }
        Entered {
            slot: spot.slot,
            how,
            level: spot.level,
        }
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
        let owner = tag::owner_of(spot.level.way, self.bits, spot.place / BUCKET_SLOTS);
        // A key without a value has none that others change.
        let back = (spot.tag != EMPTY) & (value.words() > 0);
        let busy = owner | select(back, BACK, BUSY);
        let mut done = false;
        if memory.compare_exchange(spot.slot, spot.tag, busy) == spot.tag {
            if spot.tag == EMPTY {
                let mut i = 0;
                while i < stored_words(self.key_words) {
                    memory.write(self.key_word(spot.slot) + i as usize, key.word(i));
                    i += 1;
                }
            } else {
                // Changes of the value from when the key was there before come first. Those that are still to come find the slot busy
                // before they find the value that is written here.
                memory.acquire();
                memory.release();
            }
            if value.words() > 0 {
                memory.store(self.value_word(spot.slot), value.word(0));
            }
            memory.release();
            done = memory.compare_exchange(spot.slot, busy, owner | FULL) == busy;
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
            let found = self.find(memory, key);
            if found.elsewhere {
                answer = 2;
            } else if found.slot == 0 {
                answer = 0;
            } else {
                // What this lane did with the value comes before.
                memory.release();
                let dead = tag::owner(found.tag) | DEAD;
                let old = memory.compare_exchange(found.slot, found.tag, dead);
                answer = select(old == found.tag, 1, 3);
            }
        }
        answer
    }

    /// The tag of a slot to which a key was coming back, when that is over: the key is back, or removed again, or it took too long, and
    /// the slot is burned.
    #[inline(always)]
    pub fn settled<M: HeapMemory>(self, memory: M, slot: usize, seen: u32) -> u32 {
        let mut now = seen;
        let mut looks = 0;
        while (now == seen) & (looks < MOST_LOOKS) {
            looks += 1;
            arch::pause(PAUSE);
            now = memory.load(slot);
        }
        if now == seen {
            now = burn(memory, slot, seen);
            now = select(now == seen, BURNED, now);
        }
        memory.acquire();
        now
    }
}

/// Where a key was found.
#[derive(Clone, Copy)]
pub struct Found {
    /// The word of the slot's tag; 0 if the key is in no slot.
    pub slot: usize,
    /// The tag.
    pub tag: u32,
    /// Whether the key has no slot and no branch can give it one, so that it may be in the trie.
    pub elsewhere: bool,
}

/// Words of the key that a slot stores.
#[inline(always)]
pub const fn stored_words(key_words: u32) -> u32 {
    if key_words == 1 { 0 } else { key_words }
}

/// What a lane does after it changed a value by an atomic. If the value was that with which the key comes back, the lane finds the key
/// coming back, or later, when it looks for it: who writes such a value releases before.
#[inline(always)]
pub fn changed<M: HeapMemory>(memory: M) {
    memory.acquire();
}

/// Takes a slot away from the lane that has it busy, if it still has; what the tag was.
#[inline(always)]
fn burn<M: HeapMemory>(memory: M, slot: usize, seen: u32) -> u32 {
    memory.compare_exchange(slot, seen, tag::owner(seen) | BURNED)
}
