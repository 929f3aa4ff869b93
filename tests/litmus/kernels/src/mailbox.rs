//! `mailbox`: slots of memory that lanes take and give back, each through a word of its own. The least that an allocator
//! can be, written here so that its fences can be left out.

use crate::pairs::{ACQUIRES, RELEASES};
use litmus_common::crew::{Crew, NOBODY};
use litmus_common::example::{EXAMPLE_WORDS, leave};
use litmus_common::numbers::mix;
use litmus_common::stress::{self, DONE};
use warpheap::api::HeapMemory;
use warpheap::device::*;

/// In the tally: slots that were taken.
pub const TAKEN: usize = 1;
/// In the tally: of these, those that another lane had before,
pub const OTHER_LANE: usize = 2;
/// and those that a lane of another block had.
pub const OTHER_BLOCK: usize = 3;
/// In the tally: slots that did not hold what the former owner wrote.
pub const STALE: usize = 4;
/// In the tally: slots that did not keep what their owner wrote.
pub const LATE: usize = 5;
/// In the tally: an example; its kind is one of the two above.
pub const EXAMPLE: usize = 6;
/// Words of the tally.
pub const TALLY: usize = EXAMPLE + EXAMPLE_WORDS;

/// What the word of a slot holds while somebody has it.
pub const HELD: u32 = 0;
/// Words between two slots: a line of 128 bytes.
pub const LINE: u32 = 32;

/// What lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Mail {
    /// Who tests.
    pub crew: Crew,
    /// First word of the slots; the words that hand them over lie behind.
    pub first: u32,
    /// Number of slots.
    pub slots: u32,
    /// So many of them are asked for more often. Their lines stay in caches.
    pub hot: u32,
    /// Words of a slot that are written, at most [`LINE`].
    pub words: u32,
    /// Words between two of those that hand slots over.
    pub stride: u32,
    /// Tries of a lane.
    pub rounds: u32,
    /// Stamps of the launch are greater by one at least.
    pub before: u32,
    /// Which fences are made.
    pub fences: u32,
}

/// Tries to take a slot, in all rounds. A free slot holds the stamp of its last owner in all words, and so does the word
/// that hands it over.
#[kernel(allocators = [Bump])]
pub fn mailbox<A: DeviceAlloc>(
    heap: Heap<A>,
    tally: &[AtomicWord],
    scratch: &[AtomicWord],
    plan: &[Mail],
) {
    let plan = plan[0];
    let lane = plan.crew.tester();
    if lane == NOBODY {
        stress::make(tally, scratch, plan.crew);
    } else {
        // SAFETY: the words of blocks that the host gave for this test.
        let memory = unsafe { heap.words() };
        let lanes = plan.crew.lanes();
        let (mut taken, mut other_lane, mut other_block) = (0, 0, 0);
        let (mut stale, mut late) = (0, 0);
        let mut round = 0;
        while round < plan.rounds {
            let dice = mix(plan.crew.seed ^ mix(lane) ^ round);
            let mut slot = (dice >> 4) % plan.slots;
            if dice & 1 == 0 {
                slot %= plan.hot;
            }
            let word = (plan.first + plan.slots * LINE + slot * plan.stride) as usize;
            let begin = (plan.first + slot * LINE) as usize;
            let former = memory.load(word);
            if former != HELD && memory.compare_exchange(word, former, HELD) == former {
                if plan.fences & ACQUIRES != 0 {
                    memory.acquire();
                }
                let mut wrong = 0;
                let mut found = former;
                let mut k = 0;
                while k < plan.words {
                    let value = memory.read(begin + k as usize);
                    if value != former {
                        wrong += 1;
                        found = value;
                    }
                    k += 1;
                }
                if wrong != 0 {
                    stale += 1;
                    if stale == 1 {
                        leave(tally, EXAMPLE, STALE as u32, lane, slot, former, found);
                    }
                }
                let stamp = plan.before + 1 + round * lanes + lane;
                k = 0;
                while k < plan.words {
                    memory.write(begin + k as usize, stamp);
                    k += 1;
                }
                // Reading back makes sure that what was written has arrived, so it is not done each time.
                if dice & 2 == 0 {
                    stress::disturb(scratch, plan.crew, dice >> 8);
                    wrong = 0;
                    k = 0;
                    while k < plan.words {
                        // Not from a near cache, where an old value that lands late would not show.
                        let value = memory.load(begin + k as usize);
                        if value != stamp {
                            wrong += 1;
                            found = value;
                        }
                        k += 1;
                    }
                    if wrong != 0 {
                        late += 1;
                        if late == 1 {
                            leave(tally, EXAMPLE, LATE as u32, lane, slot, stamp, found);
                        }
                    }
                }
                if plan.fences & RELEASES != 0 {
                    memory.release();
                }
                memory.store(word, stamp);
                taken += 1;
                let owner = (former - 1) % lanes;
                other_lane += (owner != lane) as u32;
                other_block += (owner / thread::block_dim() != lane / thread::block_dim()) as u32;
            }
            round += 1;
        }
        tally[TAKEN].fetch_add(taken);
        tally[OTHER_LANE].fetch_add(other_lane);
        tally[OTHER_BLOCK].fetch_add(other_block);
        if stale != 0 {
            tally[STALE].fetch_add(stale);
        }
        if late != 0 {
            tally[LATE].fetch_add(late);
        }
        tally[DONE].fetch_add(1);
    }
}
