//! A bounded queue for many producers and consumers.

use super::block::{block_layout, word_of};
use super::handle::{holds_shared, word_handle};
use crate::sync::{Group, Team, hash};
use crate::{Heap, arch, thread};
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, LaneMask, Layout};
use warpheap_api::{least, select};

/// The next position that is pushed to.
pub(crate) const TAIL: usize = 0;
/// Number of slots, as a power of two.
pub(crate) const LOG2: usize = 1;
/// The next position that is popped from: not beside the other one, since atomics on neighbouring words meet
/// in one slice of the cache.
pub(crate) const HEAD: usize = 32;
/// Words before the slots.
pub(crate) const HEADER: usize = 64;

/// Rounds of an operation before it is [`QueueError::Contended`].
const ROUNDS: u32 = 2048;
/// Nanoseconds of the longest pause after a round in vain, as a power of two.
const PAUSE_LOG2: u32 = 12;

/// Why nothing was appended to or removed from a queue. Whichever it is, the queue is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum QueueError {
    /// The queue was full at one moment during the call.
    Full = 1,
    /// The queue was empty at one moment during the call.
    Empty = 2,
    /// Other lanes came first too often, or one that is in the middle of its operation was not done in time.
    /// Asking again is reasonable.
    Contended = 3,
}

impl QueueError {
    /// The number that stands for this error: 1, 2 or 3.
    #[inline(always)]
    pub const fn code(self) -> u32 {
        self as u32
    }
}

impl core::fmt::Display for QueueError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            QueueError::Full => "the queue was full",
            QueueError::Empty => "the queue was empty",
            QueueError::Contended => "other lanes used the queue all the time",
        })
    }
}

impl core::error::Error for QueueError {}

/// A bounded queue in a heap, first in, first out, for any number of lanes that push and pop at the same
/// time: a handle of one word.
///
/// A ring of slots, each with a number that says which position may be pushed to or popped from it next
/// (after D. Vyukov's bounded queue). A position is claimed by one compare-and-swap for as many lanes
/// of the warp as there are slots ready for, and only when they are. So a lane that finds a slot that
/// somebody else is still busy with has claimed nothing, and can give up.
///
/// Linearisable: an operation that succeeds takes effect when its position is claimed; *full* and *empty* are
/// answered only if that was so at one moment during the call. Copies of the handle name the same
/// queue. A zero word is a queue that is full and empty. It does not free itself: call
/// [`free`](Self::free).
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HeapQueue<T> {
    /// The control block with the slots behind it: its granule and one, 0 for none.
    control: u32,
    elements: PhantomData<fn() -> T>,
}

word_handle!(HeapQueue<T>: HeapData Copy, control, from_word, holds_shared(T::OF_HEAP));

/// What a lane's round came to.
#[derive(Clone, Copy)]
struct Claim {
    /// The slot's number, where the lane has claimed it.
    position: u32,
    /// Whether it has.
    claimed: bool,
    /// Whether the queue was full, or empty.
    nothing: bool,
}

impl<T: HeapData + Copy> HeapQueue<T> {
    /// A queue that has no memory.
    pub const NONE: Self = Self::from_word(0);

    #[inline(always)]
    pub(crate) const fn from_word(control: u32) -> Self {
        HeapQueue {
            control,
            elements: PhantomData,
        }
    }

    /// An empty queue with room for `1 << log2` elements, 1 to 30; 0 is taken for 1.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Unsupported`] for a `log2` above 30.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, log2: u32) -> Result<Self, AllocError> {
        if log2 > 30 {
            return Err(AllocError::Unsupported);
        }
        // With one slot its number could not tell full from empty.
        let log2 = select(log2 == 0, 1, log2);
        let block = heap.malloc(queue_layout::<T>(log2))?;
        let (words, at) = (heap.memory(), block.word());
        words.write(at + TAIL, 0);
        words.write(at + LOG2, log2);
        words.write(at + HEAD, 0);
        let mut position = 0;
        while position < 1 << log2 {
            words.write(slot::<T>(at, log2, position), position);
            position += 1;
        }
        Ok(Self::from_word(block.granule() + 1))
    }

    /// Whether this is a handle of a queue, not [`NONE`](Self::NONE).
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.control != 0
    }

    /// Elements that there is room for.
    #[inline(always)]
    pub fn capacity<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        if self.control == 0 {
            return 0;
        }
        1 << heap.memory().read(word_of(self.control) + LOG2)
    }

    /// Number of elements, for lanes that are ordered after all operations.
    #[inline(always)]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        if self.control == 0 {
            return 0;
        }
        let (words, at) = (heap.memory(), word_of(self.control));
        words.load(at + TAIL).wrapping_sub(words.load(at + HEAD))
    }

    /// Whether there are no elements, as [`len`](Self::len).
    #[inline(always)]
    pub fn is_empty<A: DeviceAlloc>(&self, heap: Heap<A>) -> bool {
        self.len(heap) == 0
    }

    /// Appends an element. Lanes of a warp that come together share the work.
    ///
    /// # Errors
    /// [`QueueError::Full`] and [`QueueError::Contended`].
    #[inline]
    pub fn try_push<A: DeviceAlloc>(&self, heap: Heap<A>, value: T) -> Result<(), QueueError> {
        if self.control == 0 {
            return Err(QueueError::Full);
        }
        let (words, at) = (heap.memory(), word_of(self.control));
        let log2 = words.read(at + LOG2);
        let (mut round, mut done, mut full) = (0, false, false);
        while !done & !full & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + TAIL);
            let claim = claim::<T, A>(heap, team, at, log2, Side::push(log2));
            if claim.claimed {
                let slot = slot::<T>(at, log2, claim.position);
                // Who popped the slot's last element has read it.
                words.acquire();
                value.put(words, slot + 1);
                words.release();
                words.store(slot, claim.position.wrapping_add(1));
            }
            (done, full) = (claim.claimed, claim.nothing);
            round += 1;
            back_off(done | full, round);
        }
        if done {
            Ok(())
        } else if full {
            Err(QueueError::Full)
        } else {
            Err(QueueError::Contended)
        }
    }

    /// Removes the first element into `value`, which stays as it was if there is none. Lanes of a warp that
    /// come together share the work.
    ///
    /// # Errors
    /// [`QueueError::Empty`] and [`QueueError::Contended`].
    #[inline]
    pub fn try_pop<A: DeviceAlloc>(&self, heap: Heap<A>, value: &mut T) -> Result<(), QueueError> {
        if self.control == 0 {
            return Err(QueueError::Empty);
        }
        let (words, at) = (heap.memory(), word_of(self.control));
        let log2 = words.read(at + LOG2);
        let (mut round, mut done, mut empty) = (0, false, false);
        while !done & !empty & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + HEAD);
            let claim = claim::<T, A>(heap, team, at, log2, Side::POP);
            if claim.claimed {
                let slot = slot::<T>(at, log2, claim.position);
                words.acquire();
                *value = T::get(words, slot + 1);
                words.release();
                words.store(slot, claim.position.wrapping_add(1 << log2));
            }
            (done, empty) = (claim.claimed, claim.nothing);
            round += 1;
            back_off(done | empty, round);
        }
        if done {
            Ok(())
        } else if empty {
            Err(QueueError::Empty)
        } else {
            Err(QueueError::Contended)
        }
    }

    /// Gives the memory back; the handle is [`NONE`](Self::NONE) afterwards. What elements own is not freed.
    ///
    /// # Safety
    /// No lane uses the queue at the same time, and none uses a copy of the handle afterwards.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.control != 0 {
            let log2 = heap.memory().read(word_of(self.control) + LOG2);
            let block = DevicePtr::from_granule(self.control - 1);
            // SAFETY: the queue owns the block and got it with this layout.
            unsafe { heap.free(block, queue_layout::<T>(log2)) };
            self.control = 0;
        }
    }
}

/// What is claimed at one of the two ends.
#[derive(Clone, Copy)]
struct Side {
    /// The word that counts the positions claimed here, and that of the other end.
    counter: usize,
    other: usize,
    /// A slot is ready for position `p` if its number is `p + ready`.
    ready: u32,
    /// How far the counter is from the other one when there is nothing to claim.
    distance: u32,
}

impl Side {
    const POP: Self = Side {
        counter: HEAD,
        other: TAIL,
        ready: 1,
        distance: 0,
    };

    #[inline(always)]
    const fn push(log2: u32) -> Self {
        Side {
            counter: TAIL,
            other: HEAD,
            ready: 0,
            distance: 1 << log2,
        }
    }
}

/// Collective over the team's group: one round of claiming positions for the members.
#[inline(always)]
fn claim<T: HeapData, A: DeviceAlloc>(
    heap: Heap<A>,
    team: Team,
    at: usize,
    log2: u32,
    side: Side,
) -> Claim {
    let words = heap.memory();
    let mut first = 0;
    // What the members know of the queue the leader knows.
    team.group().barrier();
    if team.leads() {
        first = words.load(at + side.counter);
    }
    first = team.broadcast(first);
    let position = first.wrapping_add(team.rank());
    let number = words.load(slot::<T>(at, log2, position));
    let blocked = team.ballot(number != position.wrapping_add(side.ready));
    // Positions that are ready, one after the other.
    let before = LaneMask::below(least(blocked.first(), 63));
    let ready = team.members().and(before).count();
    let mut taken = select(blocked.is_empty(), team.count(), ready);
    let mut nothing = 0;
    if team.leads() {
        if taken != 0 {
            let next = first.wrapping_add(taken);
            let old = words.compare_exchange(at + side.counter, first, next);
            taken = select(old == first, taken, 0);
        } else {
            // Neither counter is ever further from the other than this. So if it is that far now from what
            // this one was before, this one has not moved since.
            words.acquire();
            let mut distance = first.wrapping_sub(words.load(at + side.other));
            if distance == side.distance {
                // Looked at once more by a change of nothing, which whoever moves it next sees, and with it what
                // this lane knows of the counter. With loads alone a lane could see a push before a pop and another
                // one the pop before the push, and both *full* and *empty* be said where neither order allows both.
                words.release();
                distance = first.wrapping_sub(words.fetch_add(at + side.other, 0));
            }
            nothing = (distance == side.distance) as u32;
        }
    }
    taken = team.broadcast(taken);
    nothing = team.broadcast(nothing);
    Claim {
        position,
        claimed: team.rank() < taken,
        nothing: nothing != 0,
    }
}

/// Lets others go on after a round in vain: for longer after many, and for different times.
#[inline(always)]
fn back_off(done: bool, round: u32) {
    if !done {
        let longest = 1 << least(round + 5, PAUSE_LOG2);
        arch::pause(hash(thread::index() ^ round << 20) & (longest - 1));
    }
}

/// The word of a position's slot: its number, behind which the element lies.
#[inline(always)]
pub(crate) const fn slot<T: HeapData>(at: usize, log2: u32, position: u32) -> usize {
    let index = position & ((1 << log2) - 1);
    at + HEADER + index as usize * (1 + T::WORDS as usize)
}

#[inline(always)]
pub(crate) const fn queue_layout<T: HeapData>(log2: u32) -> Layout {
    block_layout(HEADER as u32, 1 << log2, 1 + T::WORDS)
}
