//! A vector that many lanes append to.

pub(crate) mod parts;
mod push;

use super::block::word_of;
use super::handle::{holds_shared, word_handle};
use crate::Heap;
use core::marker::PhantomData;
use parts::{
    STATE, State, capacity, control_layout, counter, element, first, segment_word, segments,
};
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, least};
use warpheap_api::{layout, select};

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
        let at = words.word_of(block);
        words.write(at + STATE, State::first(log2).word());
        let mut segment = 0;
        while segment < segments(log2) {
            words.write(segment_word(at, segment), 0);
            words.write(counter::<T>(at, log2, segment), 0);
            segment += 1;
        }
        Ok(Self::from_word(block.granule() + 1))
    }

    /// Whether this is a handle of a vector, not [`NONE`](Self::NONE).
    #[inline(always)]
    pub const fn is_some(&self) -> bool {
        self.control != 0
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
            let words = heap.memory();
            let at = word_of(words, self.control);
            let log2 = State::of(words.load(at + STATE)).log2;
            let place = Self::place(log2, index);
            let count = words.load(counter::<T>(at, log2, place.segment));
            if place.offset < least(count, capacity(log2, place.segment)) {
                // Who knows of the push knows its segment, which the pusher had acquired.
                let block = words.load(segment_word(at, place.segment));
                word = element::<T, _>(words, at, log2, block, place.offset);
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
            let words = heap.memory();
            let at = word_of(words, self.control);
            let State { log2, segment } = State::of(words.load(at + STATE));
            let count = words.load(counter::<T>(at, log2, segment));
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
            let words = heap.memory();
            let at = word_of(words, self.control);
            let log2 = State::of(words.load(at + STATE)).log2;
            let mut segment = 1;
            while segment < segments(log2) {
                let block = words.load(segment_word(at, segment));
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
