//! Does a device compute right what everything else relies on?
//!
//! Small kernels with the shapes of allocators: warp operations in loops that lanes leave one by
//! one, atomics from all lanes, plain stores behind such loops, and messages between blocks. Lanes
//! write down what they saw; [`check`] works out on the host what they must have seen. Which
//! lanes are together in a loop is up to the device; that they agree about it is not.

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
mod check;
pub mod draws;
#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
mod expect;
pub mod groups;

#[cfg(not(any(target_arch = "nvptx64", target_arch = "spirv")))]
pub use check::check;

use warpheap_rt::api::LaneMask;
use warpheap_rt::device::*;
use warpheap_rt::sync::Group;
use warpheap_rt::{arch, bits, sync};

/// Steps that a lane takes at most in the loop of [`selftest_divergence`].
pub const STEPS: u32 = 8;

/// What a lane saw in one step of the loop of [`selftest_divergence`]. Sets of lanes are two words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Step {
    /// The lanes that are together.
    pub active: [u32; 2],
    /// Those of them that voted yes.
    pub ballot: [u32; 2],
    /// Those of them with the same key.
    pub matched: [u32; 2],
    /// Those of the lanes in a branch that have a key, as voted there; nothing outside it.
    pub branch: [u32; 2],
    /// The value of the next lane of `active`, around.
    pub shuffled: u32,
    /// [`STEP_MARK`] plus the number of the step.
    pub mark: u32,
}

/// What a lane stores behind the loop of [`selftest_divergence`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, HeapData)]
#[repr(C)]
pub struct Summary {
    /// Its index in the warp.
    pub lane: u32,
    /// The index in its block of the lane that leads its warp.
    pub leader: u32,
    /// Lanes of a warp.
    pub width: u32,
    /// Sum of all that was shuffled to it.
    pub sum: u32,
}

/// What tells a step that was stored from one that was not.
pub const STEP_MARK: u32 = 0x5e1f_7e57;

/// Whether the lane with index `thread` in its block votes yes in a step.
pub const fn vote(thread: u32, step: u32) -> bool {
    sync::hash(thread * STEPS + step) & 1 != 0
}

/// The key by which lanes match in a step.
pub const fn key(thread: u32, step: u32) -> u32 {
    (sync::hash(thread * STEPS + step) >> 8) & 3
}

/// What a lane offers for shuffling in a step.
pub const fn offer(thread: u32, step: u32) -> u32 {
    sync::hash(thread * STEPS + step + 1)
}

/// Whether a lane enters the branch in a step.
pub const fn branches(thread: u32, step: u32) -> bool {
    (thread ^ step) & 1 != 0
}

/// The lane of `lanes` after `lane`, the first one after the last.
pub const fn next(lanes: LaneMask, lane: u32) -> u32 {
    let after = lanes.after(lane);
    if after.is_empty() {
        lanes.first()
    } else {
        after.first()
    }
}

/// Each lane takes its own number of steps (`counts`, at most [`STEPS`]), in each of which the lanes
/// that are left work together, and then stores a summary. `steps` has [`STEPS`] places for each
/// lane; there are no more lanes than elements of `counts`.
#[kernel(unsafe(slices))]
pub fn selftest_divergence(counts: &[u32], steps: &mut [Step], summaries: &mut [Summary]) {
    let i = thread::index() as usize;
    if i < counts.len() {
        let me = thread::index_in_block();
        let lane = thread::lane();
        let leader = Group::here().broadcast(me);
        let count = counts[i];
        let mut sum = 0u32;
        let mut step = 0;
        while step < count && step < STEPS {
            let group = Group::here();
            let active = group.lanes();
            let ballot = group.ballot(vote(me, step));
            let shuffled = group.shuffle(offer(me, step), next(active, lane));
            let matched = group.match_any(key(me, step));
            let inside = group.ballot(branches(me, step));
            let mut branch = LaneMask::EMPTY;
            if branches(me, step) {
                // Not those that are here, which may be of different steps.
                // SAFETY: exactly these lanes of the group come here in this step.
                let group = unsafe { Group::of(inside) };
                branch = group.ballot(key(me, step) != 0);
            }
            sum = sum.wrapping_add(shuffled);
            let at = i * STEPS as usize + step as usize;
            if at < steps.len() {
                steps[at] = Step {
                    active: [active.lo, active.hi],
                    ballot: [ballot.lo, ballot.hi],
                    matched: [matched.lo, matched.hi],
                    branch: [branch.lo, branch.hi],
                    shuffled,
                    mark: STEP_MARK + step,
                };
            }
            step += 1;
        }
        if i < summaries.len() {
            summaries[i] = Summary {
                lane,
                leader,
                width: thread::warp_width(),
                sum,
            };
        }
    }
}

/// Rounds of each of the two loops in [`selftest_rounds`], one inside the other: together more than
/// 2^16, where some drivers stop counting and leave.
pub const ROUNDS: u32 = 300;

/// What a lane hashes its index to in that many rounds of [`ROUNDS`] rounds.
#[inline(always)]
pub fn hashed(i: u32, rounds: u32) -> u32 {
    let mut value = i;
    let mut outer = 0;
    while outer < rounds {
        let mut inner = 0;
        while inner < ROUNDS {
            value = sync::hash(value ^ inner);
            inner += 1;
        }
        outer += 1;
    }
    value
}

/// Lanes stay in a loop for long, some longer than others, and store what they come to.
#[kernel(unsafe(slices))]
pub fn selftest_rounds(out: &mut [u32]) {
    let i = thread::index();
    if (i as usize) < out.len() {
        out[i as usize] = hashed(i, ROUNDS + (i & 3));
    }
}

/// Counter: lanes so far.
pub const COUNT: usize = 0;
/// Counter: the union of each lane's bit.
pub const UNION: usize = 1;
/// Counter: the greatest hash of an index.
pub const GREATEST: usize = 2;
/// Number of counters.
pub const COUNTERS: usize = 3;

/// All lanes draw a ticket and a place: `counters` begin as zeros, `places` as zeros with at least
/// as many elements as there are lanes. A lane probes for a free place from where its hash says, marks
/// it with its index + 1, and stores where it found one (`u32::MAX` if nowhere).
#[kernel(unsafe(slices))]
pub fn selftest_atomics(
    counters: &[AtomicWord],
    places: &[AtomicWord],
    tickets: &mut [u32],
    found: &mut [u32],
) {
    let i = thread::index();
    if (i as usize) < found.len() && counters.len() == COUNTERS {
        let hash = sync::hash(i);
        let ticket = counters[COUNT].fetch_add(1);
        counters[UNION].fetch_or(1 << (i & 31));
        counters[GREATEST].fetch_max(hash);
        let mut place = u32::MAX;
        let mut probe = 0;
        while probe < places.len() as u32 && place == u32::MAX {
            let at = hash.wrapping_add(probe) % places.len() as u32;
            if places[at as usize].compare_exchange(0, i + 1) == 0 {
                place = at;
            }
            probe += 1;
        }
        tickets[i as usize] = ticket;
        found[i as usize] = place;
    }
}

/// Most words that a lane tries in [`selftest_claims`].
const TRIES: u32 = 1024;

/// Lanes claim bits of a bitmap as a warp: one lane claims as many bits as lanes are left, those that
/// get one leave the loop. A lane stores the bit that it got, `u32::MAX` if none. `bitmap` begins as
/// zeros; the number of its words is a power of two.
#[kernel(unsafe(slices))]
pub fn selftest_claims(bitmap: &[AtomicWord], claimed: &mut [u32]) {
    let i = thread::index();
    if (i as usize) < claimed.len() {
        let mut at = sync::hash(thread::block_index());
        let mut result = u32::MAX;
        let mut tries = 0;
        while tries < TRIES {
            let group = Group::here();
            let mut word = 0;
            let mut got = 0;
            if group.leads() {
                word = at & (bitmap.len() as u32 - 1);
                let free = !bitmap[word as usize].load();
                let wanted = bits::take_from(free, group.count(), 0);
                got = wanted & !bitmap[word as usize].fetch_or(wanted);
            }
            got = group.broadcast(got);
            word = group.broadcast(word);
            let rank = group.rank();
            if rank < got.count_ones() {
                result = word * 32 + bits::nth_set(got, rank);
                break;
            }
            at = at.wrapping_add(1);
            tries += 1;
        }
        claimed[i as usize] = result;
    }
}

/// Numbers that a lane collects at most in [`selftest_vectors`], plus one.
pub const LONGEST: u32 = 37;

/// Each lane collects numbers in a vector of its own, as many as its index says, reads them back,
/// and stores their sum.
#[kernel(allocators = [Bump], unsafe(slices))]
pub fn selftest_vectors<A: DeviceAlloc>(heap: Heap<A>, sums: &mut [u32]) -> Result<(), AllocError> {
    let i = thread::index();
    if (i as usize) < sums.len() {
        let mut numbers = HeapVec::<u32>::new();
        for k in 0..i % LONGEST {
            numbers.push(heap, k.wrapping_mul(i))?;
        }
        let mut sum = 0u32;
        for k in 0..numbers.len() {
            sum = sum.wrapping_add(numbers.get_or(heap, k, 0));
        }
        sums[i as usize] = sum;
    }
    Ok(())
}

/// Looks at a flag before a lane gives up; most messages arrive, none has to.
const LOOKS: u32 = 256;

/// The message of a lane.
pub const fn message(i: u32) -> u32 {
    sync::hash(i) | 1
}

/// Each lane writes a message, raises its flag, and takes the message of the lane as far from the
/// end as it is from the start, if that one's flag comes up within some looks; it stores what it
/// took, 0 if nothing. `letters` and `flags` begin as zeros, with an element for each lane.
#[kernel(unsafe(slices))]
pub fn selftest_messages(letters: &[AtomicWord], flags: &[AtomicWord], taken: &mut [u32]) {
    let i = thread::index() as usize;
    if i < taken.len() && taken.len() == letters.len() && taken.len() == flags.len() {
        letters[i].store(message(i as u32));
        arch::release();
        flags[i].store(1);
        let other = taken.len() - 1 - i;
        let mut raised = 0;
        let mut look = 0;
        while look < LOOKS && raised == 0 {
            raised = flags[other].load();
            look += 1;
        }
        let mut letter = 0;
        if raised != 0 {
            arch::acquire();
            letter = letters[other].load();
        }
        taken[i] = letter;
    }
}

/// Lanes whose index is `remainder` modulo `divisor` return an error, `Exhausted` for even indices
/// and `Contended` for odd ones.
#[kernel]
pub fn selftest_reports(divisor: u32, remainder: u32) -> Result<(), AllocError> {
    let i = thread::index();
    if divisor != 0 && i % divisor == remainder {
        if i & 1 == 0 {
            return Err(AllocError::Exhausted);
        }
        return Err(AllocError::Contended);
    }
    Ok(())
}

/// Adds to each element its index + 1: run twice, elements are twice that only if the second launch
/// saw what the first wrote.
#[kernel(unsafe(slices))]
pub fn selftest_index(out: &mut [u32]) {
    let i = thread::index() as usize;
    if i < out.len() {
        out[i] += i as u32 + 1;
    }
}
