//! Each warp walks a part of the tree, with a stack that grows in the heap, and has a queue, to which it gives when there is little in
//! it. A warp that has nothing takes from its queue, or *steals* from that of another warp.
//!
//! A queue for each warp, since one for all would be what all wait for: idle lanes of thousands of warps look all the time. A stack
//! for each warp, since most parts of the tree end soon, and a lane whose part has ended takes the next one from the stack at once.

use super::stack::Stack;
use super::{Family, Tree};
use warpheap::device::*;
use warpheap::rt::sync::{Group, group_sum, hash};

/// What a lane does and found. It stays from launch to launch, so no task is lost whatever ends a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Walker {
    /// The family that it does now.
    pub now: Family,
    /// Families that its warp holds of those that are counted as open, if it leads the warp.
    pub held: u32,
    /// Tasks that it did.
    pub tasks: u32,
    /// The sum of their hashes.
    pub sum: u32,
    /// The deepest level of them.
    pub deepest: u32,
}

impl Walker {
    /// A lane that has nothing and found nothing.
    pub const IDLE: Walker = Walker {
        now: Family::DONE,
        held: 0,
        tasks: 0,
        sum: 0,
        deepest: 0,
    };
}

/// Which tree the lanes walk, and how they share.
#[derive(Clone, Copy, Debug, HeapData)]
#[repr(C)]
pub struct Plan {
    /// The tree.
    pub tree: Tree,
    /// A warp gives while fewer families than this are in its queue.
    pub hungry: u32,
    /// Every so many steps a warp looks whether it is to give, or, if half of its lanes have nothing, whether there is something to take.
    pub every: u32,
    /// Looks in vain, one after the other, after which a warp that has nothing leaves.
    pub patience: u32,
    /// Steps of a warp in a launch. In each, its lanes do a task each.
    pub steps: u32,
}

/// Makes a queue of `1 << log2` places for each of so many warps, and spreads `families` over them.
///
/// # Errors
/// As [`HeapQueue::new_in`]; [`AllocError::Exhausted`] if a queue has too few places.
#[kernel]
pub fn make_queues(
    heap: Heap<WarpHeap>,
    families: &[Family],
    warps: u32,
    log2: u32,
    queue: &mut HeapQueue<Family>,
) -> Result<(), AllocError> {
    *queue = HeapQueue::new_in(heap, log2)?;
    let mut n = thread::index() as usize;
    while n < families.len() {
        if queue.try_push(heap, families[n]).is_err() {
            return Err(AllocError::Exhausted);
        }
        n += warps as usize;
    }
    Ok(())
}

/// Each warp frees its queue.
#[kernel]
pub fn free_queues(heap: Heap<WarpHeap>, queue: &mut HeapQueue<Family>) {
    // SAFETY: each lane has a queue of its own, of which nothing else in this launch knows.
    unsafe { queue.free(heap) };
}

/// Warps do tasks and what is below them, until there are none, or their steps or their patience are used up. What a warp comes back to
/// lies in the stack of the lane that leads it; its lanes take from it together, and push together.
///
/// `open[0]` is the number of families in the queues, and of those that warps took there and hold until they have
/// nothing. Nothing orders its changes and those of the queues, so it may be wrong for a moment: a warp that leaves too early is all
/// that comes of it. When the launch has ended it is right. Another launch goes on where this one ended, unless it is zero.
///
/// # Errors
/// If a stack cannot grow: no task is lost, and the next launch tries again.
#[kernel]
pub fn walk(
    heap: Heap<WarpHeap>,
    queues: &[HeapQueue<Family>],
    open: &[AtomicWord],
    plan: &Plan,
    later: &mut HeapVec<Family>,
    walker: &mut Walker,
) -> Result<(), AllocError> {
    // Lanes that the device keeps together: a warp, or each lane by itself.
    let group = Group::here();
    let warp = thread::index() / thread::warp_width();
    let own = queues[warp as usize % queues.len()];
    let mut stack = Stack::of_leader(group, later);
    let mut held = group_sum(group, walker.held).total;
    walker.held = 0;

    let mut outcome = Ok(());
    let (mut step, mut in_vain) = (0, 0);
    // All lanes of the group decide alike, here and below, so they stay together.
    while (step < plan.steps) & (in_vain < plan.patience) {
        step += 1;
        outcome = stack.reserve(heap);
        if outcome.is_err() {
            break;
        }
        if walker.now.is_done() {
            // What another group left behind if its lanes are no longer together.
            walker.now = later.pop_or(heap, Family::DONE);
        }
        stack.pop(heap, &mut walker.now);

        let idle = group.ballot(walker.now.is_done()).count();
        let all = idle == group.count();
        if all & (held != 0) {
            if group.leads() {
                open[0].fetch_sub(held);
            }
            held = 0;
        }
        let looks = step % plan.every == 0;
        if all | (looks & (idle > group.count() / 2)) {
            let other = hash(warp.wrapping_mul(0x9e37_79b9) ^ step) as usize % queues.len();
            let mut found = NOTHING;
            if group.leads() {
                found = if !own.is_empty(heap) {
                    OWN
                } else if !queues[other].is_empty(heap) {
                    OTHER
                } else if open[0].load() == 0 {
                    ALL_DONE
                } else {
                    NOTHING
                };
            }
            found = group.broadcast(found);
            let mut got = false;
            if (found == OWN) | (found == OTHER) {
                let from = if found == OWN { own } else { queues[other] };
                if walker.now.is_done() {
                    got = from.try_pop(heap, &mut walker.now).is_ok();
                }
            } else if all & (found == ALL_DONE) {
                break;
            }
            // They were counted when they were put there.
            held += group.ballot(got).count();
            in_vain = if all & (held == 0) { in_vain + 1 } else { 0 };
        }

        let rest = walker.do_task(plan.tree);
        stack.push(heap, rest, !rest.is_done());
        if looks & (stack.len() >= 2 * group.count()) {
            give(heap, own, &open[0], plan.hungry, &mut stack);
        }
    }
    if group.leads() {
        walker.held = held;
    }
    stack.keep(heap, later);
    outcome
}

/// What the leader of a group found when it looked for families: none.
const NOTHING: u32 = 0;
/// Some in the queue of its warp.
const OWN: u32 = 1;
/// Some in the queue of another warp.
const OTHER: u32 = 2;
/// None, and nobody has any.
const ALL_DONE: u32 = 3;

impl Walker {
    /// Does the next task of the family, if there is one, and goes on with the tasks below it, if there are any. The rest of the family is
    /// the answer if it has to come later.
    #[inline(always)]
    fn do_task(&mut self, tree: Tree) -> Family {
        if self.now.is_done() {
            return Family::DONE;
        }
        let (below, rest) = (self.now.below(), self.now.rest());
        self.tasks += 1;
        self.sum = self.sum.wrapping_add(below.hash);
        if rest.level > self.deepest {
            self.deepest = rest.level;
        }
        if tree.is_inner(below) {
            self.now = below;
            rest
        } else {
            self.now = rest;
            Family::DONE
        }
    }
}

/// Gives a family of each lane to the others, if there are few in the queue. What finds no room stays.
#[inline(always)]
fn give(
    heap: Heap<WarpHeap>,
    queue: HeapQueue<Family>,
    open: &AtomicWord,
    hungry: u32,
    stack: &mut Stack,
) {
    let group = stack.group;
    let mut wanted = 0;
    if group.leads() {
        wanted = (queue.len(heap) < hungry) as u32;
    }
    if group.broadcast(wanted) == 0 {
        return;
    }
    let mut family = Family::DONE;
    stack.pop(heap, &mut family);
    if group.leads() {
        open.fetch_add(group.count());
    }
    let stays = queue.try_push(heap, family).is_err();
    let back = group.ballot(stays).count();
    if group.leads() & (back != 0) {
        open.fetch_sub(back);
    }
    stack.push(heap, family, stays);
}
