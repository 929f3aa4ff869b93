//! `sb`: each of two lanes writes a word and then reads the other's. That neither sees the other's write is allowed:
//! fences that release and acquire do not order a store before a load.

use crate::pairs::{ACQUIRES, Pairs, RELEASES};
use litmus_common::crew::NOBODY;
use litmus_common::numbers::mix;
use litmus_common::stress::{self, DONE};
use warpheap::api::HeapMemory;
use warpheap::device::*;

/// In the tally: one of the two writes came before the other lane's read.
pub const ORDERED: usize = 1;
/// In the tally: the other lane was through with its rounds.
pub const OVER: usize = 2;
/// In the tally: neither lane saw the other's write.
pub const WEAK: usize = 3;
/// Words of the tally.
pub const TALLY: usize = 4;

/// Word behind the locations where a role leaves which round of the other it saw.
#[inline(always)]
fn seen(plan: Pairs, lanes: u32, role: u32, round: u32, instance: u32) -> usize {
    plan.x(lanes * 2) + ((role * plan.rounds + round) * lanes + instance) as usize
}

/// All rounds of all instances; what was read is left for [`judge`].
#[kernel(allocators = [Bump])]
pub fn store_buffering<A: DeviceAlloc>(
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
        let mut step = 0;
        while step < plan.rounds * 2 {
            let round = step / 2;
            let role = (step ^ plan.second_first(lane, round)) & 1;
            let mut instance = lane;
            let mut mine = plan.x(instance);
            let mut others = plan.y(instance, lanes);
            if role == 1 {
                instance = plan.other(lane, lanes);
                mine = plan.y(instance, lanes);
                others = plan.x(instance);
            }
            memory.store(mine, plan.before + round + 1);
            if plan.fences & RELEASES != 0 {
                memory.release();
            }
            if plan.fences & ACQUIRES != 0 {
                memory.acquire();
            }
            let value = memory.load(others);
            let mut rounds = 0;
            if value > plan.before {
                rounds = value - plan.before;
            }
            memory.write(seen(plan, lanes, role, round, instance), rounds);
            stress::disturb(scratch, plan.crew, mix(plan.crew.seed ^ lane ^ step << 20));
            step += 1;
        }
        tally[DONE].fetch_add(1);
    }
}

/// In the next launch: looks for rounds, one of each role, in which neither saw the other's write.
///
/// The first role's round `n` saw the second's rounds up to `m - 1`. If round `m` or any later one saw the first's up to
/// `n - 1` only, then so did round `m`, because later reads of a word see no less.
#[kernel(allocators = [Bump])]
pub fn judge<A: DeviceAlloc>(heap: Heap<A>, tally: &[AtomicWord], plan: &[Pairs], lanes: u32) {
    let plan = plan[0];
    let instance = thread::index();
    if instance < lanes {
        // SAFETY: the words of blocks that the host gave for this test.
        let memory = unsafe { heap.words() };
        let (mut ordered, mut over, mut weak) = (0, 0, 0);
        let mut round = 0;
        while round < plan.rounds {
            let other = memory.read(seen(plan, lanes, 0, round, instance));
            if other >= plan.rounds {
                over += 1;
            } else if memory.read(seen(plan, lanes, 1, other, instance)) > round {
                ordered += 1;
            } else {
                weak += 1;
            }
            round += 1;
        }
        tally[ORDERED].fetch_add(ordered);
        tally[OVER].fetch_add(over);
        if weak != 0 {
            tally[WEAK].fetch_add(weak);
        }
    }
}
