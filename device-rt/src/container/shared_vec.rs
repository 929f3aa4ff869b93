//! A vector that many lanes append to.

use super::block::{block_layout, take, word_of};
use super::handle::{holds_shared, word_handle};
use crate::sync::{Group, Team};
use crate::{Heap, arch};
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout, least};
use warpheap_api::{layout, select};

/// The segment that is filled now.
pub(crate) const CURRENT: usize = 0;
/// Elements of the first segment, as a power of two.
pub(crate) const LOG2: usize = 1;
/// The segments: each one's granule and one, 0 for none. The first one lies behind the control block.
pub(crate) const SEGMENTS: usize = 2;
/// What a segment's word is while a lane allocates it.
const GROWING: u32 = u32::MAX;

/// Rounds of a push before it is [`AllocError::Contended`].
const ROUNDS: u32 = 8192;
/// Nanoseconds of a round that waits for a segment.
const PAUSE: u32 = 400;

/// A vector in a heap that any number of lanes append to at the same time: a handle of one word.
///
/// It grows by segments, each twice as large as the one before, so elements never move. Behind the
/// handle lies a control block with the first segment; copies of the handle name the same vector. A zero
/// word is a vector that is empty and stays so. It does not free itself: call [`free`](Self::free).
///
/// The index that [`push`](Self::push) returns may be used by the lane that pushed, at once. To read what
/// other lanes pushed, and for [`len`](Self::len), be ordered after their pushes: in a later launch, or
/// behind a barrier.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct HeapSharedVec<T> {
    /// The control block: its granule and one, 0 for none.
    control: u32,
    elements: PhantomData<fn() -> T>,
}

word_handle!(HeapSharedVec<T>: HeapData Copy, control, from_word, holds_shared(T::OF_HEAP));

/// Where an element lies: its segment and its index there.
#[derive(Clone, Copy)]
struct Place {
    segment: u32,
    offset: u32,
}

impl<T: HeapData + Copy> HeapSharedVec<T> {
    /// A vector that has no memory and takes no elements.
    pub const NONE: Self = Self::from_word(0);

    #[inline(always)]
    pub(crate) const fn from_word(control: u32) -> Self {
        HeapSharedVec {
            control,
            elements: PhantomData,
        }
    }

    /// An empty vector whose first segment has `1 << log2` elements.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Unsupported`] for a `log2` above 31.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, log2: u32) -> Result<Self, AllocError> {
        if log2 > 31 {
            return Err(AllocError::Unsupported);
        }
        let block = heap.malloc(control_layout::<T>(log2))?;
        let words = heap.memory();
        let mut i = 0;
        while i < control_words(log2) {
            words.write(block.word() + i, 0);
            i += 1;
        }
        words.write(block.word() + LOG2, log2);
        Ok(Self::from_word(block.granule() + 1))
    }

    /// Whether this is a handle of a vector, not [`NONE`](Self::NONE).
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.control != 0
    }

    /// Appends an element; its index. Lanes of a warp that come together share the work.
    ///
    /// Indices are dense: those of all pushes that succeeded are 0 to their number, less one. The lane that
    /// takes the middle of a segment allocates the next one ahead of time; where it comes too late, one
    /// allocates and the others go round, for about two milliseconds on CUDA.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`]; [`AllocError::Contended`] if the lane that allocates a segment is not done
    /// in time; [`AllocError::Unsupported`] of [`NONE`](Self::NONE). Then the vector is as it was.
    #[inline]
    pub fn push<A: DeviceAlloc>(&self, heap: Heap<A>, value: T) -> Result<u32, AllocError> {
        if self.control == 0 {
            return Err(AllocError::Unsupported);
        }
        let words = heap.memory();
        let lane = arch::lane();
        let at = word_of(self.control);
        let log2 = words.read(at + LOG2);
        let (mut round, mut failed, mut index, mut going) = (0, 0, 0, true);
        while going {
            let team = Team::by_word(Group::here(), at);
            let (mut segment, mut count, mut block) = (0, 0, 0);
            if team.leads() {
                segment = words.load(at + CURRENT);
                words.acquire();
                let counter = counter(at, log2, segment);
                count = take(words, counter, capacity(log2, segment), team.count());
                block = words.load(at + SEGMENTS + segment as usize);
            }
            // What the leader acquired is the members' too.
            team.group().barrier();
            segment = team.broadcast(segment);
            count = team.broadcast(count);
            block = team.broadcast(block);
            let capacity = capacity(log2, segment);
            let offset = count + team.rank();
            let room = offset < capacity;

            // Who needs the next segment, or else who makes it ahead of time.
            let late = team.ballot(!room);
            let early = team.ballot(offset == capacity / 2);
            let maker = select(late.is_empty(), early.last(), late.last());
            let mut wait = false;
            if lane == maker {
                let next = segment + 1;
                let mut code = AllocError::Exhausted.code();
                if next < segments(log2) {
                    let made = Self::segment(heap, at + SEGMENTS + next as usize, capacity * 2);
                    code = made.code;
                    wait = made.block == GROWING;
                    if !room & !wait & (code == 0) {
                        // Who reads the number of the segment is to find it.
                        words.release();
                        words.compare_exchange(at + CURRENT, segment, next);
                    }
                }
                failed = select(room, 0, code);
            }
            team.group().barrier();
            failed = team.group().shuffle(failed, select(room, lane, maker));

            if room {
                value.put(words, element::<T>(at, log2, block, offset));
                index = first(log2, segment) + offset;
            } else if wait {
                arch::pause(PAUSE);
            }
            round += 1;
            let lasts = !room & (failed == 0);
            if lasts & (round == ROUNDS) {
                failed = AllocError::Contended.code();
            }
            going = lasts & (round < ROUNDS);
        }
        if failed == 0 {
            Ok(index)
        } else {
            Err(AllocError::from_code(failed))
        }
    }

    /// The segment whose word is `word`, allocated here if nobody has begun to.
    #[inline(always)]
    fn segment<A: DeviceAlloc>(heap: Heap<A>, word: usize, capacity: u32) -> Made {
        let words = heap.memory();
        let mut made = Made {
            block: words.load(word),
            code: 0,
        };
        if made.block == 0 {
            made.block = words.compare_exchange(word, 0, GROWING);
            if made.block == 0 {
                match heap.malloc(layout::array::<T>(capacity)) {
                    Ok(block) => made.block = block.granule() + 1,
                    Err(error) => made.code = error.code(),
                }
                words.release();
                words.store(word, made.block);
            }
        }
        // Of another lane's block: who is told of it by this lane may write it.
        words.acquire();
        made
    }

    #[inline(always)]
    fn place(log2: u32, index: u32) -> Place {
        // The number is 0 for an index that no vector has.
        let number = (index >> log2).wrapping_add(1);
        let segment = 31u32.wrapping_sub(number.leading_zeros()) & 31;
        Place {
            segment,
            offset: index.wrapping_sub(first(log2, segment)),
        }
    }

    /// The word of the element at `index`; 0 beyond the end.
    #[inline(always)]
    fn word_at<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> usize {
        let mut word = 0;
        if (self.control != 0) & (index != u32::MAX) {
            let (words, at) = (heap.memory(), word_of(self.control));
            let log2 = words.read(at + LOG2);
            let place = Self::place(log2, index);
            let count = words.load(counter(at, log2, place.segment));
            if place.offset < least(count, capacity(log2, place.segment)) {
                // Who knows of the push knows its segment, which the pusher had acquired.
                let block = words.load(at + SEGMENTS + place.segment as usize);
                word = element::<T>(at, log2, block, place.offset);
            }
        }
        word
    }

    /// The element at `index`; `None` beyond the end. On Vulkan for elements of one word only.
    #[inline(always)]
    pub fn get<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32) -> Option<T> {
        let word = self.word_at(heap, index);
        if word == 0 {
            return None;
        }
        Some(T::get(heap.memory(), word))
    }

    /// The element at `index`; `otherwise` beyond the end.
    #[inline(always)]
    pub fn get_or<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32, otherwise: T) -> T {
        let word = self.word_at(heap, index);
        if word == 0 {
            return otherwise;
        }
        T::get(heap.memory(), word)
    }

    /// Overwrites the element at `index`, which no other lane reads or writes at the same time; false, and
    /// nothing changed, beyond the end.
    #[inline(always)]
    pub fn set<A: DeviceAlloc>(&self, heap: Heap<A>, index: u32, value: T) -> bool {
        let word = self.word_at(heap, index);
        if word != 0 {
            value.put(heap.memory(), word);
        }
        word != 0
    }

    /// Number of elements.
    #[inline(always)]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        let mut len = 0;
        if self.control != 0 {
            let (words, at) = (heap.memory(), word_of(self.control));
            let log2 = words.read(at + LOG2);
            let segment = words.load(at + CURRENT);
            let count = words.load(counter(at, log2, segment));
            len = first(log2, segment) + least(count, capacity(log2, segment));
        }
        len
    }

    /// Whether there are no elements.
    #[inline(always)]
    pub fn is_empty<A: DeviceAlloc>(&self, heap: Heap<A>) -> bool {
        self.len(heap) == 0
    }

    /// Gives the memory back; the handle is [`NONE`](Self::NONE) afterwards. What elements own is not freed.
    ///
    /// # Safety
    /// No lane uses the vector at the same time, and none uses a copy of the handle afterwards.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        if self.control != 0 {
            let (words, at) = (heap.memory(), word_of(self.control));
            let log2 = words.read(at + LOG2);
            let mut segment = 1;
            while segment < segments(log2) {
                let block = words.load(at + SEGMENTS + segment as usize);
                let ptr = DevicePtr::from_granule(block.wrapping_sub(1));
                // SAFETY: the vector owns the segment and got it with this layout. Where there is none the
                // handle is null, which is ignored.
                unsafe { heap.free(ptr, layout::array::<T>(capacity(log2, segment))) };
                segment += 1;
            }
            let control = DevicePtr::from_granule(self.control - 1);
            // SAFETY: the same for the control block.
            unsafe { heap.free(control, control_layout::<T>(log2)) };
            self.control = 0;
        }
    }
}

/// What came of making a segment.
#[derive(Clone, Copy)]
struct Made {
    /// The segment's word: [`GROWING`] while somebody else makes it, 0 if there is no memory.
    block: u32,
    /// The error, or 0.
    code: u32,
}

/// Number of segments whose elements 32-bit indices reach.
#[inline(always)]
pub(crate) const fn segments(log2: u32) -> u32 {
    32 - log2
}

/// Elements of a segment.
#[inline(always)]
pub(crate) const fn capacity(log2: u32, segment: u32) -> u32 {
    1 << ((log2 + segment) & 31)
}

/// Index of a segment's first element.
#[inline(always)]
pub(crate) const fn first(log2: u32, segment: u32) -> u32 {
    capacity(log2, segment).wrapping_sub(1 << log2)
}

/// The word that counts a segment's elements: more than it has room for when it is full.
#[inline(always)]
pub(crate) const fn counter(at: usize, log2: u32, segment: u32) -> usize {
    at + SEGMENTS + (segments(log2) + segment) as usize
}

/// Words before the first segment's elements.
#[inline(always)]
pub(crate) const fn control_words(log2: u32) -> usize {
    SEGMENTS + 2 * segments(log2) as usize
}

/// The word of an element; `block` is its segment's word, 0 for the first segment's.
#[inline(always)]
const fn element<T: HeapData>(at: usize, log2: u32, block: u32, offset: u32) -> usize {
    let mut first = at + control_words(log2);
    if block != 0 {
        first = word_of(block);
    }
    first + offset as usize * T::WORDS as usize
}

#[inline(always)]
pub(crate) const fn control_layout<T: HeapData>(log2: u32) -> Layout {
    block_layout(control_words(log2) as u32, 1 << log2, T::WORDS)
}
