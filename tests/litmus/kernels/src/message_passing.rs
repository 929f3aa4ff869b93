//! `mp`: one lane writes data and then a flag, the other reads the flag and then the data.

use crate::pairs::{ACQUIRES, Pairs, RELEASES};
use litmus_common::crew::NOBODY;
use litmus_common::example::{EXAMPLE_WORDS, leave};
use litmus_common::numbers::mix;
use litmus_common::stress::{self, DONE};
use warpheap::api::HeapMemory;
use warpheap::device::*;

/// In the tally: the flag was as before the launch.
pub const NOTHING: usize = 1;
/// In the tally: data and flag are of the same round.
pub const BOTH: usize = 2;
/// In the tally: the data are of a later round.
pub const NEWER: usize = 3;
/// In the tally: the data are of an earlier round.
pub const WEAK: usize = 4;
/// In the tally: an example of that.
pub const EXAMPLE: usize = 5;
/// Words of the tally.
pub const TALLY: usize = EXAMPLE + EXAMPLE_WORDS;

/// All rounds of all instances.
#[kernel(allocators = [Bump])]
pub fn message_passing<A: DeviceAlloc>(
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
        let lanes = plan.crew.lanes();
        let read = plan.other(lane, lanes);
        let (x, y) = (plan.x(lane), plan.y(lane, lanes));
        let (read_x, read_y) = (plan.x(read), plan.y(read, lanes));
        let (mut nothing, mut both, mut newer, mut weak) = (0, 0, 0, 0);
        let mut step = 0;
        while step < plan.rounds * 2 {
            let round = step / 2;
            if (step ^ plan.second_first(lane, round)) & 1 == 0 {
                let value = plan.before + round + 1;
                memory.store(x, value);
                if plan.fences & RELEASES != 0 {
                    memory.release();
                }
                memory.store(y, value);
                stress::disturb(scratch, plan.crew, mix(plan.crew.seed ^ lane ^ round << 20));
            } else {
                let flag = memory.load(read_y);
                if plan.fences & ACQUIRES != 0 {
                    memory.acquire();
                }
                let data = memory.load(read_x);
                if flag <= plan.before {
                    nothing += 1;
                } else if data == flag {
                    both += 1;
                } else if data > flag {
                    newer += 1;
                } else {
                    weak += 1;
                    if weak == 1 {
                        leave(tally, EXAMPLE, 1, lane, read, flag, data);
                    }
                }
            }
            step += 1;
        }
        tally[NOTHING].fetch_add(nothing);
        tally[BOTH].fetch_add(both);
        tally[NEWER].fetch_add(newer);
        if weak != 0 {
            tally[WEAK].fetch_add(weak);
        }
        tally[DONE].fetch_add(1);
    }
}
