//! A ring of slots that all lanes push to and pop from by additions: what both queues are made of.
//!
//! After R. Nikolaev, *A Scalable, Portable, and Memory-Efficient Lock-Free FIFO Queue* (DISC 2019), section 4, with elements in
//! the slots, and with counts in front as in B. Kerbl and others, *The Broker Queue* (ICS 2018), section 4. There it is one count, so
//! those that pop in vain make room for a moment where there is none. Here each side asks a count of its own.
//!
//! An addition to a count says for how many lanes of a team there is room, or something. Another
//! one to the tail, or the head, gives these lanes *positions*, and each goes to its position's slot. The positions of
//! a slot are its *laps*: who pushes leaves its lap there. Nobody has to wait for anybody:
//!
//! - Who pops and finds, after some looks, that the element of its position is not there marks the slot as passed over, and asks for
//!   another position. Whoever claims a slot that is so marked to push to it looks at the head then: where that is past its
//!   position, nobody will come for the element any more, and the lane asks for another position, too.
//! - Who pushes and finds, after some looks, that the last lap's element is still there leaves nothing behind, and asks for another
//!   position. Who pops there later passes over.

use super::block::{block_layout, word_of};
use crate::arch;
use crate::sync::Team;
use core::marker::PhantomData;
use warpheap_api::{HeapData, HeapMemory, Layout, layout, least, select};

/// The next position that is pushed to, twice; one more if the ring is closed: nothing is pushed there any more.
pub(crate) const TAIL: usize = 0;
/// Number of elements that there is room for, as a power of two.
pub(crate) const LOG2: usize = 1;
/// The ring after this one: its granule and one, 0 for none.
pub(crate) const NEXT: usize = 2;
/// Not 0 while somebody brings the next ring.
pub(crate) const BROUGHT: usize = 3;
/// The next position that is popped from. Not beside the other one, since atomics on neighbouring words meet in one slice of the
/// cache.
pub(crate) const HEAD: usize = 32;
/// Number of slots that are in use: by elements, and by lanes that push or pop just now.
pub(crate) const USED: usize = 64;
/// Number of elements that nobody has come for.
pub(crate) const READY: usize = 96;
/// Words before the slots.
pub(crate) const HEADER: usize = 128;

/// The largest ring, as a power of two: positions have 31 bits, and laps of a slot are to be told apart.
pub(crate) const MAX_LOG2: u32 = 28;

/// In a slot's first word, beside the lap: a lane that pushes has the slot, …
pub(crate) const BUSY: u32 = 1;
/// … its element is there, …
pub(crate) const WRITTEN: u32 = 2;
/// … a lane that pops passed the slot over, in this lap or in one that comes.
const PASSED: u32 = 4;
pub(crate) const MARKS: u32 = BUSY | WRITTEN | PASSED;
/// The smallest number of slots, as a power of two: laps are multiples of it, and leave room for the marks.
const SLOTS_LOG2: u32 = 3;

/// Looks at a slot that is not ready. In the emulator, where schedules leave lanes alone for as long as they like, few: so that
/// tests see positions that are lost.
const LOOKS: u32 = if cfg!(any(target_arch = "nvptx64", target_arch = "spirv")) {
    64
} else {
    2
};
/// Nanoseconds between two of them.
const PAUSE: u32 = 100;

/// Why a lane got no position.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Answer(u32);

impl Answer {
    /// Nothing is certain.
    const PERHAPS: Self = Answer(0);
    /// The ring was empty.
    pub const EMPTY: Self = Answer(1);
    /// The ring was empty, and stays so: it is closed.
    pub const DRAINED: Self = Answer(2);
    /// The ring was full of elements.
    pub const FULL: Self = Answer(3);
}

/// What a round of claiming came to, for one lane.
#[derive(Clone, Copy)]
pub(super) struct Claim {
    position: u32,
    /// Whether the position is the lane's.
    pub claimed: bool,
    /// Positions that the team has.
    some: u32,
    /// If not: why.
    pub answer: Answer,
}

/// A ring in a heap, of elements `T`.
#[derive(Clone, Copy)]
pub(super) struct Ring<T, M> {
    words: M,
    /// Its first word.
    pub at: usize,
    log2: u32,
    elements: PhantomData<fn() -> T>,
}

/// How far position `a` is ahead of `b`.
#[inline(always)]
pub(crate) const fn ahead(a: u32, b: u32) -> i32 {
    (a.wrapping_sub(b) << 1) as i32
}

/// The number of slots of a ring for `1 << log2` elements, as a power of two.
#[inline(always)]
pub(crate) const fn slots_log2(log2: u32) -> u32 {
    select(log2 < SLOTS_LOG2, SLOTS_LOG2, log2)
}

/// The word of a position's slot, behind which the element lies.
#[inline(always)]
const fn slot<T: HeapData>(at: usize, log2: u32, position: u32) -> usize {
    let index = position & ((1 << slots_log2(log2)) - 1);
    at + HEADER + index as usize * (1 + T::WORDS as usize)
}

/// The lap of a position: itself without the number of its slot.
#[inline(always)]
const fn lap(log2: u32, position: u32) -> u32 {
    position & (u32::MAX << slots_log2(log2))
}

/// The word of a slot in which nothing was yet: that of the lap before position 0.
#[inline(always)]
pub(crate) const fn fresh(log2: u32) -> u32 {
    lap(log2, u32::MAX)
}

/// The layout of a ring for `1 << log2` elements; of an absurd size if that is more than a ring can have.
#[inline(always)]
pub(crate) const fn ring_layout<T: HeapData>(log2: u32) -> Layout {
    if log2 > MAX_LOG2 {
        return layout::bytes(layout::ABSURD);
    }
    block_layout(HEADER as u32, 1 << slots_log2(log2), 1 + T::WORDS)
}

impl<T: HeapData + Copy, M: HeapMemory> Ring<T, M> {
    /// The ring that a handle names, by a lane that knows it.
    #[inline(always)]
    pub fn of(words: M, handle: u32) -> Self {
        let at = word_of(handle);
        Ring {
            words,
            at,
            log2: words.read(at + LOG2),
            elements: PhantomData,
        }
    }

    /// The share of one of `lanes` lanes in making a block an empty ring for `1 << log2` elements: that of the lane of this
    /// `rank`, from 0.
    #[inline(always)]
    pub fn clear(words: M, at: usize, log2: u32, rank: u32, lanes: u32) {
        if rank == 0 {
            words.write(at + TAIL, 0);
            words.write(at + LOG2, log2);
            words.write(at + NEXT, 0);
            words.write(at + BROUGHT, 0);
            words.write(at + HEAD, 0);
            words.write(at + USED, 0);
            words.write(at + READY, 0);
        }
        let mut index = rank;
        while index < 1 << slots_log2(log2) {
            words.write(slot::<T>(at, log2, index), fresh(log2));
            index += lanes;
        }
    }

    /// Number of elements that there is room for, as a power of two.
    #[inline(always)]
    pub fn log2(self) -> u32 {
        self.log2
    }

    /// Number of elements, for lanes that are ordered after all operations.
    #[inline(always)]
    pub fn len(self) -> u32 {
        self.words.load(self.at + USED)
    }

    /// Collective over the team's group: positions to push to, for members from the first on. For the others all slots were in
    /// use, or the ring is closed. With `looks` nothing is added where all are in use before: lanes that come again and
    /// again would hamper each other.
    #[inline(always)]
    pub fn claim_to_push(self, team: Team, looks: bool) -> Claim {
        let words = self.words;
        let (mut first, mut some) = (0, 0);
        if team.leads() {
            let (lanes, room) = (team.count(), 1 << self.log2);
            if !looks || ((words.load(self.at + USED) as i32) < room) {
                let before = words.fetch_add(self.at + USED, lanes) as i32;
                some = part(room - before, lanes);
                if some != 0 {
                    first = words.fetch_add(self.at + TAIL, 2 * some);
                    some = select(first & 1 == 0, some, 0);
                }
                if some < lanes {
                    words.fetch_sub(self.at + USED, lanes - some);
                }
            }
        }
        // What the leader knows now is the members' too: who pops what they push is to find it at the tail.
        team.group().barrier();
        first = team.broadcast(first);
        some = team.broadcast(some);
        Claim {
            position: (first >> 1).wrapping_add(team.rank()),
            claimed: team.rank() < some,
            some,
            answer: Answer::PERHAPS,
        }
    }

    /// Collective over the team's group, between [`claim_to_push`](Self::claim_to_push) and [`put`](Self::put): whether members
    /// that claimed no position are told so since each slot had an element. Slots are in use by lanes under way, too, which this
    /// does not count.
    #[inline(always)]
    pub fn answer_full(self, team: Team, claim: Claim) -> Claim {
        let words = self.words;
        let room = 1 << self.log2;
        let mut answer = Answer::PERHAPS.0;
        // Less than there are: who pushes adds when it is done, who pops subtracts before it begins.
        if team.leads()
            && (claim.some < team.count())
            && (words.load(self.at + READY) as i32 >= room)
        {
            // Once more by a change of nothing, for the order of pushes to two queues, see `claim_to_pop`.
            words.release();
            let full = words.fetch_add(self.at + READY, 0) as i32 >= room;
            words.acquire();
            answer = select(full, Answer::FULL.0, answer);
        }
        Claim {
            answer: Answer(team.broadcast(answer)),
            ..claim
        }
    }

    /// Collective over the team's group: members that claimed a position put their element into its slot. False if the lane
    /// claimed none, or lost it; then nothing has been pushed.
    #[inline(always)]
    pub fn put(self, team: Team, claim: Claim, value: T) -> bool {
        let words = self.words;
        let position = claim.position;
        let slot = slot::<T>(self.at, self.log2, position);
        let lap = lap(self.log2, position);
        // A load first, since a change of a word that is not in the cache takes longer.
        let mut state = words.load(slot) & !(BUSY | WRITTEN);
        let (mut looks, mut mine, mut lost) = (0, false, !claim.claimed);
        while !mine & !lost {
            lost = (ahead(state & !MARKS, lap) >= 0) | (looks == LOOKS);
            if !lost {
                let found = words.compare_exchange(slot, state, lap | BUSY);
                mine = found == state;
                state = found & !(BUSY | WRITTEN);
                if !mine & (found != state) {
                    arch::pause(PAUSE);
                }
            }
            looks += 1;
        }
        if mine {
            // Who popped the slot's last element has read it, and who passed it over has moved the head.
            words.acquire();
            lost = (state & PASSED != 0) && (ahead(words.load(self.at + HEAD), position) > 0);
            if !lost {
                value.put(words, slot + 1);
            }
            words.release();
            if !lost {
                // Not by an `or`: who pops would find the element there for a moment where the slot was passed over.
                let written = lap | BUSY | WRITTEN;
                lost = words.compare_exchange(slot, lap | BUSY, written) != lap | BUSY;
            }
            if lost {
                // Whoever was to pop it may have gone. So it was never there.
                words.store(slot, lap | PASSED);
            }
        }
        let done = mine & !lost;
        let number = team.ballot(done).count();
        if team.leads() {
            if number != 0 {
                words.fetch_add(self.at + READY, number);
            }
            if number < claim.some {
                words.fetch_sub(self.at + USED, claim.some - number);
            }
        }
        done
    }

    /// Collective over the team's group: positions to pop from, for members from the first on. `insists` takes them where the
    /// count says that nothing is ready but the tail that there are positions: elements on their way, or lost positions.
    #[inline(always)]
    pub fn claim_to_pop(self, team: Team, insists: bool) -> Claim {
        let words = self.words;
        let (mut first, mut some, mut answer) = (0, 0, Answer::PERHAPS);
        // What the members know of pushes the leader knows.
        team.group().barrier();
        if team.leads() {
            let lanes = team.count();
            let before = words.fetch_sub(self.at + READY, lanes) as i32;
            some = part(before, lanes);
            if some == 0 {
                // In this order: if all positions that were pushed to had been given to those who pop before, there was no
                // element in between.
                let head = words.load(self.at + HEAD);
                words.acquire();
                let mut tail = words.load(self.at + TAIL);
                if ahead(tail >> 1, head) <= 0 {
                    // Looked at once more by a change of nothing, which whoever pushes next sees, and with it what this lane
                    // knows of the head. With loads alone two lanes could see two pushes to two queues in different orders.
                    words.release();
                    tail = words.fetch_add(self.at + TAIL, 0);
                }
                let positions = ahead(tail >> 1, head);
                if positions <= 0 {
                    answer = if tail & 1 == 0 {
                        Answer::EMPTY
                    } else {
                        Answer::DRAINED
                    };
                } else if insists {
                    some = part(positions, lanes);
                }
            }
            if some < lanes {
                words.fetch_add(self.at + READY, lanes - some);
            }
            if some != 0 {
                first = words.fetch_add(self.at + HEAD, some);
            }
        }
        // Members that pass their slot over tell what the leader knows of the head.
        team.group().barrier();
        first = team.broadcast(first);
        some = team.broadcast(some);
        answer = Answer(team.broadcast(answer.0));
        Claim {
            position: first.wrapping_add(team.rank()),
            claimed: team.rank() < some,
            some,
            answer,
        }
    }

    /// Collective over the team's group: members that claimed a position take the element of its slot. False if the lane claimed
    /// none, or passes the slot over; then `value` is as it was.
    #[inline(always)]
    pub fn take(self, team: Team, claim: Claim, value: &mut T) -> bool {
        let words = self.words;
        let slot = slot::<T>(self.at, self.log2, claim.position);
        let lap = lap(self.log2, claim.position);
        let (mut looks, mut there, mut passed) = (0, false, !claim.claimed);
        while !there & !passed {
            let last = looks == LOOKS;
            let state = if last {
                // Who pushes there and sees the mark knows of the head.
                words.release();
                words.fetch_or(slot, PASSED)
            } else {
                words.load(slot)
            };
            let ahead = ahead(state & !MARKS, lap);
            there = (ahead == 0) & (state & WRITTEN != 0);
            // A later lap's, or this one's whose element was never there.
            passed = last | (ahead > 0) | ((ahead == 0) & (state & BUSY == 0));
            if !there & !passed {
                arch::pause(PAUSE);
            }
            looks += 1;
        }
        let number = team.ballot(there).count();
        if team.leads() {
            // Beside what follows, which takes as long.
            if number != 0 {
                words.fetch_sub(self.at + USED, number);
            }
            if number < claim.some {
                words.fetch_add(self.at + READY, claim.some - number);
            }
        }
        if there {
            words.acquire();
            *value = T::get(words, slot + 1);
        }
        words.release();
        // What the leader counted members know: else one might find no room where it made some.
        team.group().barrier();
        if there {
            words.fetch_and(slot, !(BUSY | WRITTEN));
        }
        there
    }

    /// Closes the ring: what was pushed stays until it is popped.
    #[inline(always)]
    pub fn close(self) {
        self.words.fetch_or(self.at + TAIL, 1);
    }
}

/// For how many of some lanes there is one of so many.
#[inline(always)]
fn part(there: i32, lanes: u32) -> u32 {
    select(there < 0, 0, least(there as u32, lanes))
}
