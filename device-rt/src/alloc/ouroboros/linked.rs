//! The virtualised linked-chunk queue (§5.2): queue chunks linked from the front to the back.
//!
//! Three words of the class's head say where: the queue chunks at the front and at the back, and the
//! oldest one that was not given back (*old*). A trail of chunks between old and front stays for a
//! while, for those who are on their way through them. Who comes later all the same sees by class and
//! number in a chunk's header, which stays a header whatever the chunk is used for, that it is not the
//! one it looks for, and begins again.

use super::chunk::{QUEUE, STATE, tag_of};
use super::geometry::{HEAD_FIRST, HEAD_LAST, HEAD_NEWEST, HEAD_OLD, HEAD_PASSED, NONE};
use super::queue::{EVENTS, NEXT, NUMBER, Way};
use super::{Core, Queue};
use warpheap_api::{HeapMemory, select};

/// Most steps of a loop through queue chunks that belong to the caller in part.
const STEPS: u32 = 1 << 14;

/// Entries lie in queue chunks that are linked.
#[derive(Clone, Copy, Debug)]
pub struct VirtualLinked;

impl Core {
    /// The number of a queue chunk of this class, and whether it is one.
    #[inline(always)]
    fn number(self, class: u32, chunk: u32) -> (u32, bool) {
        let header = self.geometry.header(chunk);
        let is = tag_of(self.words.load(header + STATE)) == class + 1 + QUEUE;
        (self.words.load(header + NUMBER), is)
    }

    /// Moves the front or the back to the first queue chunk that has not seen all of its entries
    /// written (back), or written and taken (front): Algorithm 6. How many chunks it passed.
    #[inline(always)]
    fn move_along(self, class: u32, word: usize, front: bool) -> u32 {
        let at = self.geometry.head(class, word);
        let mut passed = 0;
        let mut steps = 0;
        let mut going = true;
        let mut chunk = self.words.load(at);
        while going & (steps < STEPS) {
            going = chunk < self.geometry.chunks;
            if going {
                // The header is that of the chunk's present use.
                self.words.acquire();
                let header = self.geometry.header(chunk);
                // The newest value, or whoever changes it next sees what this lane has done.
                let events = self.words.fetch_add(header + EVENTS, 0);
                let next = self.words.load(header + NEXT);
                let (_, is) = self.number(class, chunk);
                let done = (events == self.all_events()) | (!front & self.all_written(events));
                going = is & done & (next < self.geometry.chunks);
                // The pointer never comes back to a chunk while that keeps its number, so it has not
                // moved meanwhile if it is the same.
                if going {
                    // Who finds the next one here finds it as it was linked.
                    self.words.acquire();
                    self.words.release();
                    let old = self.words.compare_exchange(at, chunk, next);
                    passed += (old == chunk) as u32;
                    chunk = select(old == chunk, next, old);
                }
            }
            steps += 1;
        }
        passed
    }

    /// Moves the front, and gives queue chunks back that lie far enough behind it.
    #[inline(always)]
    fn move_front(self, class: u32) {
        let passed_word = self.geometry.head(class, HEAD_PASSED);
        let moved = self.move_along(class, HEAD_FIRST, true);
        let mut behind = 0;
        if moved != 0 {
            behind = self.words.fetch_add(passed_word, moved).wrapping_add(moved);
        }
        let mut steps = 0;
        while (behind as i32 > self.geometry.trail as i32) & (steps < STEPS) {
            // One of those who count: it is this one's to take the oldest away.
            let old = self.words.compare_exchange(passed_word, behind, behind - 1);
            if old == behind {
                let at = self.geometry.head(class, HEAD_OLD);
                let mut taken = false;
                let mut tries = 0;
                while !taken & (tries < STEPS) {
                    let chunk = self.words.load(at);
                    self.words.acquire();
                    let next = self.words.load(self.geometry.header(chunk) + NEXT);
                    self.words.acquire();
                    self.words.release();
                    taken = self.words.compare_exchange(at, chunk, next) == chunk;
                    if taken {
                        self.drop_queue_chunk(chunk);
                    }
                    tries += 1;
                }
                behind -= 1;
            } else {
                behind = old;
            }
            steps += 1;
        }
    }
}

impl Queue for VirtualLinked {
    const INDEX: u32 = 2;
    const NAMES: [&'static str; 2] = ["OuroborosPVL", "OuroborosCVL"];
    const VIRTUAL: bool = true;

    #[inline(always)]
    fn chunk_of(core: Core, class: u32, number: u32, way: Way) -> u32 {
        let back = way == Way::Back;
        let log = core.geometry.slots_log();
        let usual = core
            .geometry
            .head(class, if back { HEAD_LAST } else { HEAD_FIRST });
        let oldest = core.geometry.head(class, HEAD_OLD);
        let mut chunk = core.words.load(usual);
        let mut found = NONE;
        let mut steps = 0;
        let mut going = chunk < core.geometry.chunks;
        while going & (steps < STEPS) {
            // Its header, and its places, are those of its present use.
            core.words.acquire();
            let (here, is) = core.number(class, chunk);
            // Needed or not: it is on the way with the others.
            let next = core.words.load(core.geometry.header(chunk) + NEXT);
            // Numbers have as many bits as positions leave.
            let ahead = (number.wrapping_sub(here) << log) as i32;
            found = select(is & (ahead == 0), chunk, NONE);
            chunk = select(is & (ahead > 0), next, NONE);
            if (found == NONE) & (chunk >= core.geometry.chunks) {
                // The way was lost, or led past it.
                chunk = core.words.load(oldest);
            }
            going = (found == NONE) & (chunk < core.geometry.chunks);
            steps += 1;
        }
        found
    }

    #[inline(always)]
    fn can_add(_core: Core, _class: u32, _number: u32) -> bool {
        true
    }

    #[inline(always)]
    fn newest(core: Core, class: u32) -> u32 {
        core.words.load(core.geometry.head(class, HEAD_NEWEST))
    }

    #[inline(always)]
    fn publish(core: Core, class: u32, chunks: (u32, u32), before: u32) {
        let (oldest, newest) = chunks;
        if before == NONE {
            // One by one: SPIR-V has no arrays of which an iterator could be made.
            core.words
                .store(core.geometry.head(class, HEAD_FIRST), oldest);
            core.words
                .store(core.geometry.head(class, HEAD_LAST), oldest);
            core.words
                .store(core.geometry.head(class, HEAD_OLD), oldest);
        } else {
            let next = core.geometry.header(before) + NEXT;
            core.words.store(next, oldest);
        }
        let word = core.geometry.head(class, HEAD_NEWEST);
        core.words.store(word, newest);
        core.words.release();
    }

    #[inline(always)]
    fn settle(core: Core, class: u32, before: u32) {
        let mut done = false;
        if before != NONE {
            // The newest value, or whoever changes it next sees the link.
            let events = core
                .words
                .fetch_add(core.geometry.header(before) + EVENTS, 0);
            core.words.acquire();
            done = core.all_written(events);
        }
        // Whoever wrote the last entry found no chunk to go on to.
        if done {
            core.move_along(class, HEAD_LAST, false);
            core.move_front(class);
        }
    }

    #[inline(always)]
    fn progressed(core: Core, class: u32, _chunk: u32, _number: u32, all: bool) {
        core.move_along(class, HEAD_LAST, false);
        if all {
            core.move_front(class);
        }
    }
}
