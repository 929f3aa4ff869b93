//! A queue that grows by rings, for many producers and consumers.

mod next;

use super::block::word_of;
use super::handle::{holds_shared, word_handle};
use super::queue::{QueueError, ROUNDS_BY_COUNT, back_off};
use super::ring::{Answer, MAX_LOG2, NEXT, Ring, ring_layout};
use crate::Heap;
use crate::sync::{Group, Team};
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout, layout, select,
};

/// The ring that is pushed to: its granule and one, as all of these.
pub(crate) const TAIL: usize = 0;
/// Elements of the first ring, as a power of two.
pub(crate) const LOG2: usize = 1;
/// The oldest ring that is still there.
pub(crate) const FIRST: usize = 2;
/// Elements of the largest ring that the heap may serve, as a power of two.
pub(crate) const MOST: usize = 3;
/// The ring that is popped from: not beside the other one.
pub(crate) const HEAD: usize = 32;
/// Words of the control block.
pub(crate) const CONTROL: usize = 36;

/// Rounds of an operation, without those in which it waits for the next ring, before it is contended.
/// Where a heap serves small rings alone, a million lanes get on one ring after the other.
const ROUNDS: u32 = 1 << 16;

/// A queue in a heap that grows, first in, first out, for any number of lanes that push and pop at the same
/// time: a handle of one word.
///
/// A list of rings as that of [`HeapQueue`](crate::container::HeapQueue). A ring that is full is closed, and followed by one for
/// twice as many elements, or as many, if the heap has no room for more or never serves it; those who pop empty it before they go
/// on to that one (as in the *LCRQ* of A. Morrison and Y. Afek, PPoPP 2013). As long as the last ring suffices nothing is asked of
/// the heap.
///
/// Linearisable: an operation that succeeds takes effect when it gets its last position; *empty* is answered only if that was so at
/// one moment during the call. *Memory*: rings that are empty stay until [`tidy`](Self::tidy) or [`free`](Self::free), since a
/// lane may still look at them. All rings together have less than four times as many slots as there were ever elements in the queue
/// and lanes at work with it at the same time, however many elements came and went; unless the heap did not serve twice as
/// many: then each ring that fills up adds its size. Copies of the handle name the same queue. A zero word is a queue that is empty
/// and takes no elements.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HeapChunkQueue<T> {
    /// The control block: its granule and one, 0 for none.
    control: u32,
    elements: PhantomData<fn() -> T>,
}

word_handle!(HeapChunkQueue<T>: HeapData Copy, control, from_word, holds_shared(T::OF_HEAP));

impl<T: HeapData + Copy> HeapChunkQueue<T> {
    /// A queue that has no memory.
    pub const NONE: Self = Self::from_word(0);

    #[inline(always)]
    pub(crate) const fn from_word(control: u32) -> Self {
        HeapChunkQueue {
            control,
            elements: PhantomData,
        }
    }

    /// An empty queue, whose first ring is for `1 << log2` elements.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Unsupported`] for a `log2` above 24.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, log2: u32) -> Result<Self, AllocError> {
        if log2 > 24 {
            return Err(AllocError::Unsupported);
        }
        let control = heap.malloc(control_layout())?;
        match heap.malloc(ring_layout::<T>(log2)) {
            Ok(ring) => {
                let words = heap.memory();
                let at = words.word_of(control);
                let handle = ring.granule() + 1;
                Ring::<T, A::Memory>::clear(words, words.word_of(ring), log2, 0, 1);
                words.write(at + TAIL, handle);
                words.write(at + LOG2, log2);
                words.write(at + MOST, MAX_LOG2);
                words.write(at + FIRST, handle);
                words.write(at + HEAD, handle);
                Ok(Self::from_word(control.granule() + 1))
            }
            Err(error) => {
                // SAFETY: the block was got with this layout, and nobody else knows it.
                unsafe { heap.free(control, control_layout()) };
                Err(error)
            }
        }
    }

    /// Whether this is a handle of a queue, not [`NONE`](Self::NONE).
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.control != 0
    }

    /// Appends an element. Lanes of a warp that come together share the work.
    ///
    /// A full ring is followed by one that a single warp brings if it comes in time; after a while others bring
    /// one too, of which all but one go back. So for moments the heap holds some rings more than the queue has,
    /// and [`AllocError::Exhausted`] may be their doing. A queue that could not grow goes on with the room that it has.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Contended`] if other lanes came first too often;
    /// [`AllocError::Unsupported`] of [`NONE`](Self::NONE). Then the queue is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&self, heap: Heap<A>, value: T) -> Result<(), AllocError> {
        if self.control == 0 {
            return Err(AllocError::Unsupported);
        }
        let words = heap.memory();
        let at = word_of(words, self.control);
        // The ring that was full when this lane looked last, and how often it was.
        let (mut seen, mut waited) = (0, 0);
        let (mut round, mut failed, mut done) = (0, 0, false);
        while !done & (failed == 0) & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + TAIL);
            let mut handle = 0;
            if team.leads() {
                handle = words.load(at + TAIL);
                words.acquire();
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            handle = team.broadcast(handle);
            let ring = Ring::<T, A::Memory>::of(words, handle);
            let claim = ring.claim_to_push(team, false);
            done = ring.put(team, claim, value);

            waited = select(handle == seen, waited + 1, 0);
            seen = handle;
            let mut went_on = false;
            // Nearly always there is room for all. Apart from what follows, which takes registers.
            if team.group().any(!claim.claimed) {
                let late = Team::new(team.group(), team.ballot(!claim.claimed));
                let step = self.go_on(heap, at, ring, handle, late, waited);
                went_on = step.went_on;
                if !claim.claimed {
                    failed = step.failed;
                }
            }
            // Waiting has an end of its own.
            round += (claim.claimed | went_on) as u32;
            back_off(done | went_on | (failed != 0), round + waited);
        }
        if done {
            Ok(())
        } else if failed == 0 {
            Err(AllocError::Contended)
        } else {
            Err(AllocError::from_code(failed))
        }
    }

    /// Removes the first element into `value`, which stays as it was if there is none. Lanes of a warp that
    /// come together share the work.
    ///
    /// # Errors
    /// [`QueueError::Empty`], and [`QueueError::Contended`] if other lanes came first too often.
    #[inline]
    pub fn try_pop<A: DeviceAlloc>(&self, heap: Heap<A>, value: &mut T) -> Result<(), QueueError> {
        if self.control == 0 {
            return Err(QueueError::Empty);
        }
        let words = heap.memory();
        let at = word_of(words, self.control);
        let (mut round, mut done, mut empty) = (0, false, false);
        while !done & !empty & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + HEAD);
            let mut handle = 0;
            if team.leads() {
                handle = words.load(at + HEAD);
                words.acquire();
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            handle = team.broadcast(handle);
            let ring = Ring::<T, A::Memory>::of(words, handle);
            let claim = ring.claim_to_pop(team, round >= ROUNDS_BY_COUNT);
            done = ring.take(team, claim, value);
            if (claim.answer == Answer::DRAINED) & team.leads() {
                // Who closed the ring had the next one.
                words.acquire();
                let next = words.load(ring.at + NEXT);
                if next != 0 {
                    // What is in the next ring is to be seen by who finds it here.
                    words.acquire();
                    words.release();
                    words.compare_exchange(at + HEAD, handle, next);
                }
            }
            empty = claim.answer == Answer::EMPTY;
            round += 1;
            back_off(done | empty | (claim.answer == Answer::DRAINED), round);
        }
        if done {
            Ok(())
        } else if empty {
            Err(QueueError::Empty)
        } else {
            Err(QueueError::Contended)
        }
    }

    /// Number of elements, for lanes that are ordered after all operations. It goes through the rings.
    #[inline]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        let mut len = 0;
        if self.control != 0 {
            let words = heap.memory();
            let mut handle = words.load(word_of(words, self.control) + HEAD);
            while handle != 0 {
                let ring = Ring::<T, A::Memory>::of(words, handle);
                len += ring.len();
                handle = words.load(ring.at + NEXT);
            }
        }
        len
    }

    /// Whether there are no elements, as [`len`](Self::len).
    #[inline]
    pub fn is_empty<A: DeviceAlloc>(&self, heap: Heap<A>) -> bool {
        self.len(heap) == 0
    }

    /// Frees the rings that are empty. If all are, the queue goes on with one as it had at first, if the heap has room for
    /// that, otherwise with the last one.
    ///
    /// # Safety
    /// No other lane uses the queue at the same time.
    #[inline]
    pub unsafe fn tidy<A: DeviceAlloc>(&self, heap: Heap<A>) {
        if self.control != 0 {
            let words = heap.memory();
            let at = word_of(words, self.control);
            let mut head = words.load(at + HEAD);
            let mut next = words.load(word_of(words, head) + NEXT);
            while (next != 0) & (Ring::<T, A::Memory>::of(words, head).len() == 0) {
                head = next;
                next = words.load(word_of(words, head) + NEXT);
            }
            let last = Ring::<T, A::Memory>::of(words, head);
            let first = words.read(at + LOG2);
            let large = (next == 0) & (last.len() == 0) & (last.log2() > first);
            if large && let Ok(small) = heap.malloc(ring_layout::<T>(first)) {
                head = small.granule() + 1;
                Ring::<T, A::Memory>::clear(words, words.word_of(small), first, 0, 1);
                words.store(last.at + NEXT, head);
                words.store(at + TAIL, head);
            }
            words.store(at + HEAD, head);
            self.free_rings(heap, head);
            words.store(at + FIRST, head);
        }
    }

    /// Gives the memory back; the handle is [`NONE`](Self::NONE) afterwards. What elements own is not freed.
    ///
    /// # Safety
    /// No lane uses the queue at the same time, and none uses a copy of the handle afterwards.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.control != 0 {
            self.free_rings(heap, 0);
            let control = DevicePtr::from_granule(self.control - 1);
            // SAFETY: the queue owns the block and got it with this layout.
            unsafe { heap.free(control, control_layout()) };
            self.control = 0;
        }
    }

    /// Frees the rings before `end`.
    #[inline(always)]
    fn free_rings<A: DeviceAlloc>(&self, heap: Heap<A>, end: u32) {
        let words = heap.memory();
        let mut handle = words.load(word_of(words, self.control) + FIRST);
        while handle != end {
            let ring = Ring::<T, A::Memory>::of(words, handle);
            let block = DevicePtr::from_granule(handle - 1);
            handle = words.load(ring.at + NEXT);
            // SAFETY: the queue owns the ring and got it with this layout.
            unsafe { heap.free(block, ring_layout::<T>(ring.log2())) };
        }
    }
}

#[inline(always)]
pub(crate) const fn control_layout() -> Layout {
    layout::bytes(CONTROL * 4)
}
