//! A bounded queue for many producers and consumers.

use super::handle::{holds_shared, word_handle};
use super::ring::{Answer, MAX_LOG2, Ring, ring_layout};
use crate::sync::{Group, Team, hash};
use crate::{Heap, arch, thread};
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, least, select};

/// Rounds of an operation before it is [`QueueError::Contended`].
const ROUNDS: u32 = 512;
/// Rounds before an operation that pops [insists](Ring::claim_to_pop).
pub(super) const ROUNDS_BY_COUNT: u32 = 8;
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
/// A ring of slots, whose positions are given by additions, one for each team of a warp (after R. Nikolaev's *Scalable Circular
/// Queue*, DISC 2019, with a count of elements in front as in the *Broker Queue* of B. Kerbl and others, ICS 2018). A lane that
/// finds its slot not ready gives the position up after a while and gets another one, so none waits for another.
///
/// Linearisable: an operation that succeeds takes effect when it gets its last position; *empty* and *full* are answered only if
/// that was so at one moment during the call. Copies of the handle name the same queue. A zero word is a queue that is full and
/// empty. It does not free itself: call [`free`](Self::free).
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HeapQueue<T> {
    /// The ring: its granule and one, 0 for none.
    control: u32,
    elements: PhantomData<fn() -> T>,
}

word_handle!(HeapQueue<T>: HeapData Copy, control, from_word, holds_shared(T::OF_HEAP));

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

    /// An empty queue with room for `1 << log2` elements, 1 to 28; 0 is taken for 1.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Unsupported`] for a `log2` above 28.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, log2: u32) -> Result<Self, AllocError> {
        if log2 > MAX_LOG2 {
            return Err(AllocError::Unsupported);
        }
        let log2 = select(log2 == 0, 1, log2);
        let block = heap.malloc(ring_layout::<T>(log2))?;
        let words = heap.memory();
        Ring::<T, A::Memory>::clear(words, words.word_of(block), log2, 0, 1);
        Ok(Self::from_word(block.granule() + 1))
    }

    /// The ring, of a queue that has one.
    #[inline(always)]
    fn ring<A: DeviceAlloc>(&self, heap: Heap<A>) -> Ring<T, A::Memory> {
        Ring::of(heap.memory(), self.control)
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
        1 << self.ring(heap).log2()
    }

    /// Number of elements, for lanes that are ordered after all operations; for others a guess.
    #[inline(always)]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        if self.control == 0 {
            return 0;
        }
        self.ring(heap).len()
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
        let ring = self.ring(heap);
        let (mut round, mut done, mut full) = (0, false, false);
        while !done & !full & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), ring.at);
            let claim = ring.claim_to_push(team, round != 0);
            let claim = ring.answer_full(team, claim);
            full = !claim.claimed & (claim.answer == Answer::FULL);
            done = ring.put(team, claim, value);
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
        let ring = self.ring(heap);
        let (mut round, mut done, mut empty) = (0, false, false);
        while !done & !empty & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), ring.at);
            let claim = ring.claim_to_pop(team, round >= ROUNDS_BY_COUNT);
            done = ring.take(team, claim, value);
            empty = claim.answer == Answer::EMPTY;
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
            let log2 = self.ring(heap).log2();
            let block = DevicePtr::from_granule(self.control - 1);
            // SAFETY: the queue owns the block and got it with this layout.
            unsafe { heap.free(block, ring_layout::<T>(log2)) };
            self.control = 0;
        }
    }
}

/// Lets others go on after a round in vain: for longer after many, and for different times.
#[inline(always)]
pub(super) fn back_off(done: bool, round: u32) {
    if !done {
        let longest = 1 << least(round + 5, PAUSE_LOG2);
        arch::pause(hash(thread::index() ^ round << 20) & (longest - 1));
    }
}
