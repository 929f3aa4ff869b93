//! A queue that grows by nodes, for many producers and consumers.

mod node;

use super::block::{take, word_of};
use super::handle::{holds_shared, word_handle};
use super::queue::QueueError;
use crate::sync::{Group, Team};
use crate::{Heap, arch};
use core::marker::PhantomData;
use node::{EMPTY, TAKEN, clear_node};
pub(crate) use node::{FULL, HEADER, NEXT, POPPED, PUSHED, node_layout, slot};
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout};
use warpheap_api::{layout, least, select};

/// The node that is pushed to: its granule and one, as all of these.
pub(crate) const TAIL: usize = 0;
/// Slots of a node, as a power of two.
pub(crate) const LOG2: usize = 1;
/// The oldest node that is still there.
pub(crate) const FIRST: usize = 2;
/// The node that is popped from: not beside the other one.
pub(crate) const HEAD: usize = 32;
/// Words of the control block.
pub(crate) const CONTROL: usize = 36;

/// Rounds of an operation before it is contended.
const ROUNDS: u32 = 1 << 16;
/// Rounds that a lane waits for who took the first slot after a full node to bring the next one.
const PATIENCE: u32 = 64;
/// Nanoseconds of such a round.
const PAUSE: u32 = 200;

/// A queue in a heap that grows, first in, first out, for any number of lanes that push and pop at the same
/// time: a handle of one word.
///
/// A list of nodes (arrays of slots), whose slots are handed out by additions, one to those who push and one to
/// those who pop, and used once. Who pops and finds that the element of its slot is not there yet marks
/// the slot, goes on to the next one, and the other looks for another slot; so neither waits. This is the
/// published scheme of queues of fetch-and-add arrays, with an addition for each team of a warp.
///
/// Linearisable. *Memory*: nodes that are empty stay until [`tidy`](Self::tidy) or [`free`](Self::free), since a
/// lane may still look at them: between two calls the queue takes memory for all elements that were pushed,
/// not for those that are in it. Copies of the handle name the same queue. A zero word is a queue that is
/// empty and takes no elements.
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

    /// An empty queue of nodes with `1 << log2` slots each.
    ///
    /// Nodes of fewer slots than a few warps have lanes are slow: 8 is a good number.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Unsupported`] for a `log2` above 24.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, log2: u32) -> Result<Self, AllocError> {
        if log2 > 24 {
            return Err(AllocError::Unsupported);
        }
        let control = heap.malloc(control_layout())?;
        match heap.malloc(node_layout::<T>(log2)) {
            Ok(node) => {
                let (words, at) = (heap.memory(), control.word());
                clear_node::<T, A>(heap, node.word(), log2, 0);
                words.write(at + TAIL, node.granule() + 1);
                words.write(at + LOG2, log2);
                words.write(at + FIRST, node.granule() + 1);
                words.write(at + HEAD, node.granule() + 1);
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
    /// A full node is followed by one that a single lane brings if it comes in time; after a while others bring
    /// one too, of which all but one go back. So for moments the heap holds some nodes more than the queue has,
    /// and [`AllocError::Exhausted`] may be their doing.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Contended`] if other lanes came first too often;
    /// [`AllocError::Unsupported`] of [`NONE`](Self::NONE). Then the queue is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&self, heap: Heap<A>, value: T) -> Result<(), AllocError> {
        if self.control == 0 {
            return Err(AllocError::Unsupported);
        }
        let (words, at) = (heap.memory(), word_of(self.control));
        let lane = arch::lane();
        let log2 = words.read(at + LOG2);
        let slots = 1 << log2;
        // The node that was full when this lane looked last, and how often it was.
        let (mut seen, mut waited) = (0, 0);
        let (mut round, mut failed, mut done) = (0, 0, false);
        while !done & (failed == 0) & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + TAIL);
            let (mut node, mut count) = (0, 0);
            if team.leads() {
                node = words.load(at + TAIL);
                words.acquire();
                count = take(words, word_of(node) + PUSHED, slots, team.count());
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            node = team.broadcast(node);
            count = team.broadcast(count);
            let index = count + team.rank();
            let room = index < slots;
            let late = Team::new(team.group(), team.ballot(!room));

            // The slot after the last was given to one lane only: that one brings the next node.
            waited = select(node == seen, waited + 1, 0);
            seen = node;
            let brings = (count <= slots) | (waited >= PATIENCE);
            let mut made = 0;
            if late.leads() {
                let link = word_of(node) + NEXT;
                let mut next = words.load(link);
                if (next == 0) & brings {
                    match heap.malloc(node_layout::<T>(log2)) {
                        Ok(block) => {
                            let promised = least(late.count(), slots);
                            clear_node::<T, A>(heap, block.word(), log2, promised);
                            words.release();
                            made = block.granule() + 1;
                            next = words.compare_exchange(link, 0, made);
                            if next == 0 {
                                next = made;
                            } else {
                                made = 0;
                                // SAFETY: the node was got with this layout, and nobody else knows it.
                                unsafe { heap.free(block, node_layout::<T>(log2)) };
                            }
                        }
                        Err(error) => failed = error.code(),
                    }
                }
                if next != 0 {
                    words.acquire();
                    words.release();
                    words.compare_exchange(at + TAIL, node, next);
                }
            }
            team.group().barrier();
            let source = select(room, lane, late.leader());
            made = team.group().shuffle(made, source);
            failed = team.group().shuffle(failed, source);

            let target = select(room, node, made);
            let place = select(room, index, late.rank());
            if (target != 0) & (place < slots) {
                let slot = slot::<T>(word_of(target), place);
                value.put(words, slot + 1);
                words.release();
                done = words.compare_exchange(slot, EMPTY, FULL) == EMPTY;
            } else if !brings {
                arch::pause(PAUSE);
            }
            round += 1;
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
        let (words, at) = (heap.memory(), word_of(self.control));
        let slots = 1 << words.read(at + LOG2);
        let (mut round, mut done, mut empty) = (0, false, false);
        while !done & !empty & (round < ROUNDS) {
            let team = Team::by_word(Group::here(), at + HEAD);
            let (mut node, mut count, mut taken, mut nothing) = (0, 0, 0, 0);
            // What the members know of pushes the leader knows.
            team.group().barrier();
            if team.leads() {
                node = words.load(at + HEAD);
                words.acquire();
                let head = word_of(node);
                // In this order: if all that was pushed was popped before, and no node follows after, the
                // queue was empty in between.
                count = words.load(head + POPPED);
                words.acquire();
                let pushed = least(words.load(head + PUSHED), slots);
                words.acquire();
                let next = words.load(head + NEXT);
                if count < pushed {
                    taken = least(team.count(), pushed - count);
                    // Who sees the count knows of what was pushed: else the queue could seem empty that never was.
                    words.release();
                    count = words.fetch_add(head + POPPED, taken);
                } else if next == 0 {
                    nothing = 1;
                } else if count >= slots {
                    // What is in the next node is to be seen by who finds it here.
                    words.acquire();
                    words.release();
                    words.compare_exchange(at + HEAD, node, next);
                }
            }
            team.group().barrier();
            node = team.broadcast(node);
            count = team.broadcast(count);
            taken = team.broadcast(taken);
            nothing = team.broadcast(nothing);
            let index = count + team.rank();
            if (team.rank() < taken) & (index < slots) {
                let slot = slot::<T>(word_of(node), index);
                done = words.exchange(slot, TAKEN) == FULL;
                if done {
                    words.acquire();
                    *value = T::get(words, slot + 1);
                }
            }
            empty = nothing != 0;
            round += 1;
        }
        if done {
            Ok(())
        } else if empty {
            Err(QueueError::Empty)
        } else {
            Err(QueueError::Contended)
        }
    }

    /// Number of elements, for lanes that are ordered after all operations. It goes through the nodes.
    #[inline]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        let mut len = 0;
        if self.control != 0 {
            let (words, at) = (heap.memory(), word_of(self.control));
            let slots = 1 << words.read(at + LOG2);
            let mut node = words.load(at + HEAD);
            while node != 0 {
                let first = word_of(node);
                let pushed = least(words.load(first + PUSHED), slots);
                let popped = least(words.load(first + POPPED), pushed);
                len += pushed - popped;
                node = words.load(first + NEXT);
            }
        }
        len
    }

    /// Whether there are no elements, as [`len`](Self::len).
    #[inline]
    pub fn is_empty<A: DeviceAlloc>(&self, heap: Heap<A>) -> bool {
        self.len(heap) == 0
    }

    /// Frees the nodes that are empty, but for the last one.
    ///
    /// # Safety
    /// No other lane uses the queue at the same time.
    #[inline]
    pub unsafe fn tidy<A: DeviceAlloc>(&self, heap: Heap<A>) {
        if self.control != 0 {
            let (words, at) = (heap.memory(), word_of(self.control));
            let slots = 1 << words.read(at + LOG2);
            let mut head = words.load(at + HEAD);
            let mut next = words.load(word_of(head) + NEXT);
            while (next != 0) & (words.load(word_of(head) + POPPED) >= slots) {
                head = next;
                next = words.load(word_of(head) + NEXT);
            }
            self.free_nodes(heap, head);
            words.store(at + FIRST, head);
            words.store(at + HEAD, head);
        }
    }

    /// Gives the memory back; the handle is [`NONE`](Self::NONE) afterwards. What elements own is not freed.
    ///
    /// # Safety
    /// No lane uses the queue at the same time, and none uses a copy of the handle afterwards.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.control != 0 {
            self.free_nodes(heap, 0);
            let control = DevicePtr::from_granule(self.control - 1);
            // SAFETY: the queue owns the block and got it with this layout.
            unsafe { heap.free(control, control_layout()) };
            self.control = 0;
        }
    }

    /// Frees the nodes before `end`.
    #[inline(always)]
    fn free_nodes<A: DeviceAlloc>(&self, heap: Heap<A>, end: u32) {
        let (words, at) = (heap.memory(), word_of(self.control));
        let log2 = words.read(at + LOG2);
        let mut node = words.load(at + FIRST);
        while node != end {
            let block = DevicePtr::from_granule(node - 1);
            node = words.load(word_of(node) + NEXT);
            // SAFETY: the queue owns the node and got it with this layout.
            unsafe { heap.free(block, node_layout::<T>(log2)) };
        }
    }
}

#[inline(always)]
pub(crate) const fn control_layout() -> Layout {
    layout::bytes(CONTROL * 4)
}
