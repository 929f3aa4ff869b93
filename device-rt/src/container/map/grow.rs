//! Hanging a branch below a full group.
//!
//! One lane says at the link that it is about to; others look at the link a few times. If nothing comes of it, one more of them says
//! so and brings a branch, too, and the others wait for that one, for twice as long. So few lanes get a branch for the same link,
//! however many wait, and no lane waits for one that stands still. The branch is written before it hangs: who finds it finds nothing in
//! it but what lanes bring there.

use super::branch::{self, CLAIMED, GROUPS, is_branch, is_claimed};
use super::filter::{self, Bits};
use super::flat::{BUCKET_SLOTS, Entered, Flat, GROUP_SLOTS, MOST_LOOKS, PAUSE};
use super::leaf::MOST_ROUNDS;
use super::level::Level;
use super::slot::{EMPTY, block, slot_of};
use super::tag::{self, BURNED, SIDES};
use super::words::WordSource;
use crate::sync::Group;
use crate::{Heap, arch};
use warpheap_api::{DeviceAlloc, HeapMemory, least, select};

/// How often the time is doubled for which lanes wait for a branch.
const MOST_PATIENCE_LOG2: u32 = 8;

impl Flat {
    /// [`enter`](Self::enter); where there is no room a branch is hung in, and the answer is [`Entered::CONTENDED`]: look again.
    /// [`Entered::NO_ROOM`] is left for keys of the trie.
    #[inline(always)]
    pub fn enter_or_grow<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
    ) -> Entered {
        let mut entered = self.enter(heap.memory(), key, value);
        if entered.can_grow() {
            let code = self.grow(heap, entered.level);
            entered.how = Entered::CONTENDED;
            if code != 0 {
                entered.how = Entered::FAILED;
                entered.slot = code as usize;
            }
        }
        entered
    }

    /// Hangs a branch below a full group, or finds that another lane did or could not; 0 then, or the code of an error, after which
    /// nothing is changed.
    #[inline(always)]
    fn grow<A: DeviceAlloc>(self, heap: Heap<A>, level: Level) -> u32 {
        let memory = heap.memory();
        let link_at = level.link_at(self, memory);
        let mut seen = memory.compare_exchange(link_at, EMPTY, CLAIMED);
        let mut own = seen == EMPTY;
        let (mut looks, mut round, mut code) = (0, 0, 0);
        let mut on = own | !is_branch(seen);
        while on & (round < MOST_ROUNDS) {
            round += 1;
            let group = Group::here();
            if own {
                // In the loop: behind it, this lane would first wait for those of its warp that wait for its branch.
                code = self.bring(heap, level, link_at);
                on = false;
            } else if looks < MOST_LOOKS << least(seen & !CLAIMED, MOST_PATIENCE_LOG2) {
                looks += 1;
                arch::pause(PAUSE);
                let now = memory.load(link_at);
                looks = select(now == seen, looks, 0);
                seen = now;
                on = !is_branch(seen);
                // Where the heap had nothing for who claimed it, all that wait ask for themselves: otherwise one would fail after
                // the other.
                own = seen == EMPTY;
            } else {
                // Nothing came of it. One of those that wait brings a branch, too; the others see that, and wait for that one.
                let now = memory.compare_exchange(link_at, seen, seen + 1);
                own = (now == seen) | (now == EMPTY);
                looks = 0;
                seen = now;
                on = !is_branch(seen);
            }
            group.barrier();
        }
        code
    }

    /// Gets a branch and hangs it in; 0, or the code of an error if none hangs there.
    #[inline(always)]
    fn bring<A: DeviceAlloc>(self, heap: Heap<A>, level: Level, link_at: usize) -> u32 {
        let memory = heap.memory();
        match heap.malloc_rarely(branch::branch_layout(self.group_words())) {
            Ok(block) => {
                self.hang(heap, level, slot_of(block));
                0
            }
            Err(error) => {
                // Whoever waits for this lane or another one is told that there is nothing.
                let seen = memory.load(link_at);
                if is_claimed(seen) {
                    memory.compare_exchange(link_at, seen, EMPTY);
                }
                // Or another one had more luck.
                select(is_branch(seen), 0, error.code())
            }
        }
    }

    /// Fills a new branch and hangs it in; frees it if another one hangs there.
    #[inline(always)]
    fn hang<A: DeviceAlloc>(self, heap: Heap<A>, level: Level, branch: u32) {
        let memory = heap.memory();
        branch::write_new(memory, branch, level.branch, self.group_words());
        self.write_filters(memory, level, branch);
        memory.release();
        let link_at = level.link_at(self, memory);
        // A lane that was late may have made it empty, and one that comes now may claim it again.
        let mut seen = CLAIMED;
        let mut hangs = false;
        let mut round = 0;
        while !hangs & !is_branch(seen) & (round < MOST_ROUNDS) {
            round += 1;
            let old = memory.compare_exchange(link_at, seen, branch);
            hangs = old == seen;
            seen = old;
        }
        if !hangs {
            // SAFETY: this lane got it and hung it in nowhere.
            unsafe { heap.free_rarely(block(branch), branch::branch_layout(self.group_words())) };
        }
    }

    /// Puts the keys of a group, each of whose slots is somebody's, into the filters of a branch that hangs, or is to hang, below it.
    #[inline(always)]
    pub fn write_filters<M: HeapMemory>(self, memory: M, level: Level, branch: u32) {
        let group = level.way & ((1 << self.bits) - 1) & !(SIDES - 1);
        let mut side = 0;
        while side < SIDES {
            let tags = memory.load4(self.slot(level.first, side * BUCKET_SLOTS));
            let mut i = 0;
            while i < BUCKET_SLOTS {
                let tag = tags[i as usize];
                // Also of a key that is only about to be there, or was.
                if tag::state(tag) != BURNED {
                    let hash = tag::full_hash(tag, group | side, self.bits);
                    let digit = (hash >> level.shift) & (GROUPS - 1);
                    Bits::of(hash).put(memory, branch::header(memory, branch, digit));
                }
                i += 1;
            }
            side += 1;
        }
    }

    /// Writes the filters of a branch anew, where nobody else uses the map.
    #[inline(always)]
    pub fn renew_filters<M: HeapMemory>(self, memory: M, level: Level, branch: u32) {
        let mut digit = 0;
        while digit < GROUPS {
            filter::clear(memory, branch::header(memory, branch, digit));
            digit += 1;
        }
        self.write_filters(memory, level, branch);
    }

    /// Whether a slot of the group that begins at this word has this state.
    #[inline(always)]
    pub fn has_state<M: HeapMemory>(self, memory: M, group: usize, state: u32) -> bool {
        let mut found = false;
        let mut i = 0;
        while (i < GROUP_SLOTS) & !found {
            found = tag::state(memory.load(self.slot(group, i))) == state;
            i += 1;
        }
        found
    }
}
