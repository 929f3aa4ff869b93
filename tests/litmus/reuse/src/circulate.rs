//! The kernel: blocks of mixed sizes go round among all lanes.

use crate::stamps::{
    self, OLD_RECORD, OLD_WORD, OTHER_BLOCK, OTHER_LANE, REUSED, REWRITTEN_SHIFT, receive,
};
use litmus_common::crew::{Crew, NOBODY};
use litmus_common::example::{EXAMPLE_WORDS, leave};
use litmus_common::numbers::mix;
use litmus_common::stress::{self, DONE};
use warpheap::device::*;

/// In the tally: blocks that were handed out.
pub const BLOCKS: usize = 1;
/// In the tally: mallocs that failed, as in a small heap they may.
pub const FAILED: usize = 2;
/// In the tally: blocks of which some granule had an owner before,
pub const AGAIN: usize = 3;
/// which was another lane,
pub const FROM_LANE: usize = 4;
/// of another block.
pub const FROM_BLOCK: usize = 5;
/// In the tally: words that the allocator wrote into blocks that were free.
pub const REWRITTEN: usize = 6;
/// In the tally: blocks with a record that is not the last owner's.
pub const RECORD: usize = 7;
/// In the tally: blocks with a word of an owner before the last.
pub const STALE: usize = 8;
/// In the tally: blocks that did not keep what their owner wrote.
pub const LATE: usize = 9;
/// In the tally: an example; its kind is one of the three above, its place a granule.
pub const EXAMPLE: usize = 10;
/// Words of the tally.
pub const TALLY: usize = EXAMPLE + EXAMPLE_WORDS;

/// Granules of the largest block.
pub const LARGEST: u32 = 8;

/// No block.
const NONE: u32 = u32::MAX;
/// Bit of what is known of a block that a lane has: it was written when it came, to be read before it goes.
const WRITTEN: u32 = 1 << 16;

/// What lanes do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Plan {
    /// Who tests.
    pub crew: Crew,
    /// Mallocs of a lane.
    pub rounds: u32,
}

/// Each lane has one block or none between two rounds. In a round it asks for another one, and gives back one of the
/// two: some blocks go at once, some stay for long. Half of them are written as the last thing before the free, the
/// others when they come, and are read again before the free.
#[kernel(allocators = all)]
pub fn circulate<A: DeviceAlloc>(
    heap: Heap<A>,
    turns: &[AtomicWord],
    records: &[AtomicWord],
    tally: &[AtomicWord],
    scratch: &[AtomicWord],
    plan: &[Plan],
) {
    let plan = plan[0];
    let lane = plan.crew.tester();
    if lane == NOBODY {
        stress::make(tally, scratch, plan.crew);
    } else {
        // SAFETY: the words of blocks that the host gave for this test.
        let memory = unsafe { heap.words() };
        let (mut blocks, mut failed, mut again) = (0, 0, 0);
        let (mut from_lane, mut from_block, mut rewritten) = (0, 0, 0);
        let mut kept = NONE;
        let mut kept_size = 0;
        let mut round = 0;
        // One round more, to give back what is left.
        while round <= plan.rounds {
            let dice = mix(plan.crew.seed ^ mix(lane) ^ round);
            let mut given = kept;
            let mut given_size = kept_size;
            kept = NONE;
            if round < plan.rounds {
                let granules = dice % LARGEST + 1;
                match heap.malloc(layout::bytes(granules as usize * 16)) {
                    Ok(ptr) => {
                        let begin = ptr.granule();
                        let mut size = granules;
                        let mut seen = 0;
                        let mut k = 0;
                        while k < granules {
                            let one = receive(memory, turns, records, begin + k, lane);
                            rewritten += one >> REWRITTEN_SHIFT;
                            seen |= one;
                            k += 1;
                        }
                        blocks += 1;
                        again += (seen & REUSED != 0) as u32;
                        from_lane += (seen & OTHER_LANE != 0) as u32;
                        from_block += (seen & OTHER_BLOCK != 0) as u32;
                        // Does not happen, so it may be slow.
                        if seen & OLD_RECORD != 0 {
                            tally[RECORD].fetch_add(1);
                            leave(tally, EXAMPLE, RECORD as u32, lane, begin, granules, seen);
                        }
                        if seen & OLD_WORD != 0 {
                            tally[STALE].fetch_add(1);
                            leave(tally, EXAMPLE, STALE as u32, lane, begin, granules, seen);
                        }
                        if dice & 0x100 != 0 {
                            size |= WRITTEN;
                            k = 0;
                            while k < granules {
                                stamps::leave(memory, turns, records, begin + k, lane);
                                k += 1;
                            }
                        }
                        // The new one goes at once, or the one before.
                        if dice & 0x600 == 0 {
                            kept = given;
                            kept_size = given_size;
                            given = begin;
                            given_size = size;
                        } else {
                            kept = begin;
                            kept_size = size;
                        }
                    }
                    Err(_) => failed += 1,
                }
                stress::disturb(scratch, plan.crew, dice >> 12);
            }
            if given != NONE {
                let granules = given_size & (WRITTEN - 1);
                let mut wrong = 0;
                let mut k = 0;
                while k < granules {
                    if given_size & WRITTEN != 0 {
                        wrong += stamps::lost(memory, turns, given + k, dice & 0x800 != 0);
                    } else {
                        stamps::leave(memory, turns, records, given + k, lane);
                    }
                    k += 1;
                }
                if wrong != 0 {
                    tally[LATE].fetch_add(1);
                    leave(tally, EXAMPLE, LATE as u32, lane, given, granules, wrong);
                }
                let ptr = DevicePtr::<u8>::from_granule(given);
                // SAFETY: the lane got the block with this layout, and nobody else knows of it.
                unsafe { heap.free(ptr, layout::bytes(granules as usize * 16)) };
            }
            round += 1;
        }
        tally[BLOCKS].fetch_add(blocks);
        tally[AGAIN].fetch_add(again);
        tally[FROM_LANE].fetch_add(from_lane);
        tally[FROM_BLOCK].fetch_add(from_block);
        if failed != 0 {
            tally[FAILED].fetch_add(failed);
        }
        if rewritten != 0 {
            tally[REWRITTEN].fetch_add(rewritten);
        }
        tally[DONE].fetch_add(1);
    }
}
