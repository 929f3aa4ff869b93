//! Agents that write to each other, step by step. A message is a block that its sender gets; it hangs in a list of its
//! receiver's until that one reads it, keeps it in an inbox that grows and shrinks, and frees the block.

use crate::numbers::{TRIES, mix};
use warpheap::device::*;

/// Messages of an agent in a step, at most.
pub const MOST: u32 = 3;
/// The smallest inbox with memory.
const LEAST: u32 = 4;
/// Tries at a list's first link, of which another agent was faster each time.
const PUSHES: u32 = 1 << 16;

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, HeapData)]
#[repr(C)]
pub struct Message {
    /// What it says.
    value: u32,
    /// The handle of the next one, as a word, or [`LAST`].
    next: u32,
}

/// In a list's first link, or a message's next: there is none.
pub const LAST: u32 = u32::MAX;

/// Messages that an agent sends in a step. A few agents hear nothing for long and then send a lot.
#[inline(always)]
pub fn count(agent: u32, step: u32) -> u32 {
    if mix(agent ^ (step / 16) << 20) % 4 == 0 {
        MOST
    } else {
        mix(agent.wrapping_add(step << 16)) % 2
    }
}

/// Who gets message `n` of an agent in a step: many write to few, and these are others each 64 steps.
#[inline(always)]
pub fn receiver(agent: u32, step: u32, n: u32, agents: u32) -> u32 {
    let chance = mix(agent.wrapping_mul(MOST).wrapping_add(n) ^ step << 18);
    if chance % 4 == 0 {
        let crowd = agents / 64 + 1;
        (mix(step / 64) % agents + chance / 4 % crowd) % agents
    } else {
        chance / 4 % agents
    }
}

/// What message `n` of an agent in a step says.
#[inline(always)]
pub fn value(agent: u32, step: u32, n: u32) -> u32 {
    mix(agent ^ mix(step.wrapping_mul(MOST).wrapping_add(n)))
}

/// Whether an agent is done with a message in a step: those that say so stay for about eight steps.
#[inline(always)]
pub fn done(value: u32, step: u32) -> bool {
    mix(value ^ step) % 8 == 0
}

/// Lane `i` sends the messages of agent `i`.
///
/// # Errors
/// As `malloc`: that message and those after it are not sent.
#[kernel(allocators = all)]
pub fn send<A: DeviceAlloc>(
    heap: Heap<A>,
    step: u32,
    lists: &[AtomicWord],
) -> Result<(), AllocError> {
    let agent = thread::index();
    let agents = lists.len() as u32;
    let mut result = Ok(());
    if agent < agents {
        let count = count(agent, step);
        let (mut n, mut tries) = (0, 0);
        while (n < count) & result.is_ok() {
            match heap.malloc(layout::of::<Message>()) {
                Ok(block) => {
                    let to = receiver(agent, step, n, agents);
                    let message = Message {
                        value: value(agent, step, n),
                        next: LAST,
                    };
                    if !hang(heap, &lists[to as usize], block.cast(), message) {
                        // SAFETY: the block was just got, and no list has it.
                        unsafe { heap.free(block, layout::of::<Message>()) };
                        result = Err(AllocError::Contended);
                    }
                    n += 1;
                }
                // Rare, and asking again is what to do.
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                Err(error) => result = Err(error),
            }
        }
    }
    result
}

/// Hangs a message into a list, before the first one. Whether it hangs there.
#[inline]
fn hang<A: DeviceAlloc>(
    heap: Heap<A>,
    list: &AtomicWord,
    block: DevicePtr<Message>,
    message: Message,
) -> bool {
    let mut first = list.load();
    let mut hangs = false;
    let mut tries = 0;
    while !hangs & (tries < PUSHES) {
        let message = Message {
            next: first,
            ..message
        };
        // SAFETY: the block was got for a message, and no other lane reads it before the launch ends.
        unsafe { heap.store(block, message) };
        let old = list.compare_exchange(first, block.granule());
        hangs = old == first;
        first = old;
        tries += 1;
    }
    hangs
}

/// Lane `i` reads what agent `i` got: messages go into its inbox, those it is done with go out. `sums[i]` becomes the sum of
/// all that are kept.
///
/// # Errors
/// As `malloc`: a message that has no room is lost.
#[kernel(allocators = all)]
pub fn receive<A: DeviceAlloc>(
    heap: Heap<A>,
    step: u32,
    lists: &[AtomicWord],
    inbox: &mut HeapVec<u32>,
    sum: &mut u32,
) -> Result<(), AllocError> {
    let i = thread::index() as usize;
    let mut result = Ok(());
    if i < lists.len() {
        let mut next = lists[i].load();
        lists[i].store(LAST);
        let mut tries = 0;
        while next != LAST {
            let block: DevicePtr<Message> = DevicePtr::from_granule(next);
            // SAFETY: who sends hangs only live messages into a list, in a launch before this one.
            let message = unsafe { heap.load(block) };
            match append(heap, inbox, message.value) {
                Err(AllocError::Contended) if tries < TRIES => tries += 1,
                appended => {
                    result = if appended.is_err() { appended } else { result };
                    next = message.next;
                    // SAFETY: the list is this lane's now, and forgets the message.
                    unsafe { heap.free(block.cast(), layout::of::<Message>()) };
                }
            }
        }
        let mut kept = 0;
        *sum = 0;
        for k in 0..inbox.len() {
            let value = inbox.get_or(heap, k, 0);
            if !done(value, step) {
                inbox.set(heap, kept, value);
                *sum = sum.wrapping_add(mix(value));
                kept += 1;
            }
        }
        inbox.truncate(kept);
        shrink(heap, inbox);
    }
    result
}

/// Appends a message to an inbox.
#[inline(never)]
fn append<A: DeviceAlloc>(
    heap: Heap<A>,
    inbox: &mut HeapVec<u32>,
    value: u32,
) -> Result<(), AllocError> {
    inbox.push(heap, value)
}

/// Moves an inbox into a smaller vector, if three quarters of it are empty and there is memory for another.
#[inline(never)]
fn shrink<A: DeviceAlloc>(heap: Heap<A>, inbox: &mut HeapVec<u32>) {
    let len = inbox.len();
    if (len * 4 <= inbox.capacity()) & (inbox.capacity() > LEAST) {
        let mut smaller = HeapVec::new();
        let mut moved = true;
        let mut k = 0;
        while moved & (k < len) {
            moved = append(heap, &mut smaller, inbox.get_or(heap, k, 0)).is_ok();
            k += 1;
        }
        if moved {
            core::mem::swap(inbox, &mut smaller);
        }
        smaller.free(heap);
    }
}

/// Inboxes are to leave what is less than so many percent in use.
const SPARSE: u32 = 75;

/// Begins to compact the heap.
#[kernel(allocators = all)]
pub fn begin_to_move<A: DeviceAlloc>(heap: Heap<A>) {
    heap.begin_compaction(SPARSE, thread::index(), thread::count());
}

/// Each lane lets its agent's inbox move.
#[kernel(allocators = all)]
pub fn move_inbox<A: DeviceAlloc>(heap: Heap<A>, inbox: &mut HeapVec<u32>) {
    inbox.relocate(heap);
}

/// Ends it.
#[kernel(allocators = all)]
pub fn end_to_move<A: DeviceAlloc>(heap: Heap<A>) {
    heap.end_compaction(thread::index(), thread::count());
}

/// Lane `i` says how many messages agent `i` has kept, and frees its inbox.
#[kernel(allocators = all)]
pub fn leave<A: DeviceAlloc>(heap: Heap<A>, inbox: &mut HeapVec<u32>, kept: &mut u32) {
    *kept = inbox.len();
    inbox.free(heap);
}
