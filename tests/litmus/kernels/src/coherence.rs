//! `corr`: two reads of one word, which another lane writes. The second may not be older than the first.

use crate::pairs::Pairs;
use litmus_common::crew::NOBODY;
use litmus_common::example::{EXAMPLE_WORDS, leave};
use litmus_common::numbers::mix;
use litmus_common::stress::{self, DONE};
use warpheap::api::HeapMemory;
use warpheap::device::*;

/// In the tally: both reads gave the same.
pub const SAME: usize = 1;
/// In the tally: the second gave a later value.
pub const FORWARD: usize = 2;
/// In the tally: it gave an earlier one.
pub const BACKWARD: usize = 3;
/// In the tally: an example of that.
pub const EXAMPLE: usize = 4;
/// Words of the tally.
pub const TALLY: usize = EXAMPLE + EXAMPLE_WORDS;

/// All rounds of all instances.
#[kernel(allocators = [Bump])]
pub fn coherence<A: DeviceAlloc>(
    heap: Heap<A>,
    tally: &[AtomicWord],
    scratch: &[AtomicWord],
    plan: &[Pairs],
) {
    let plan = plan[0];
    let lane = plan.crew.tester();
    if lane == NOBODY {
        stress::make(tally, scratch, plan.crew);
    } else {
        // SAFETY: the words of blocks that the host gave for this test.
        let memory = unsafe { heap.words() };
        let read = plan.other(lane, plan.crew.lanes());
        let (mut same, mut forward, mut backward) = (0, 0, 0);
        let mut step = 0;
        while step < plan.rounds * 2 {
            let round = step / 2;
            if (step ^ plan.second_first(lane, round)) & 1 == 0 {
                memory.store(plan.x(lane), plan.before + round + 1);
                stress::disturb(scratch, plan.crew, mix(plan.crew.seed ^ lane ^ round << 20));
            } else {
                let first = memory.load(plan.x(read));
                let second = memory.load(plan.x(read));
                if second == first {
                    same += 1;
                } else if second > first {
                    forward += 1;
                } else {
                    backward += 1;
                    if backward == 1 {
                        leave(tally, EXAMPLE, 1, lane, read, first, second);
                    }
                }
            }
            step += 1;
        }
        tally[SAME].fetch_add(same);
        tally[FORWARD].fetch_add(forward);
        if backward != 0 {
            tally[BACKWARD].fetch_add(backward);
        }
        tally[DONE].fetch_add(1);
    }
}
