//! A bounded queue that the host owns.

use super::memory::{Block, Memory, Owner, log2_of};
use crate::container::HeapQueue;
use crate::container::ring::{
    BUSY, HEAD, HEADER, LOG2, MARKS, MAX_LOG2, READY, TAIL, USED, WRITTEN, ahead, fresh,
    ring_layout, slots_log2,
};
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_api::HeapData;
use warpheap_api::host::{DeviceError, HostAlloc, Pool, SharedArg, assert_plain};

/// A [`HeapQueue`] in a heap. Dropping it frees it.
#[derive(Debug)]
pub struct DeviceQueue<T, A> {
    owner: Arc<Owner>,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData + Copy, A: HostAlloc> DeviceQueue<T, A> {
    /// An empty queue with room for at least `capacity` elements: the next power of two, 2 or more.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn new_in(pool: &Pool<A>, capacity: usize) -> Result<Self, DeviceError> {
        Self::from_slice_in(pool, &[], capacity)
    }

    /// A queue of these elements, the first one in front, with room for at least `capacity` elements.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn from_slice_in(
        pool: &Pool<A>,
        elements: &[T],
        capacity: usize,
    ) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        let log2 = log2_of(capacity.max(elements.len()).max(2));
        if log2 > MAX_LOG2 {
            return Err(DeviceError::OutOfRange {
                what: "capacity of a queue",
                got: capacity.max(elements.len()) as u64,
                room: 1 << MAX_LOG2,
            });
        }
        let memory = Memory::of(pool);
        let handle = memory.block_with(ring_layout::<T>(log2), &ring_of(elements, log2))?;
        Ok(DeviceQueue {
            owner: Owner::new(memory, handle, blocks::<T>),
            types: PhantomData,
        })
    }

    /// What a launch takes for a kernel's `HeapQueue<T>`.
    pub fn handle(&self) -> SharedArg<HeapQueue<T>> {
        // SAFETY: it is a queue with such elements.
        unsafe { self.owner.shared(HeapQueue::from_word(self.owner.handle)) }
    }

    /// All elements, the first one in front. They stay in the queue.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the queue was written over.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let mut elements = Vec::new();
        elements_of(&self.owner.memory, self.owner.word(), &mut elements)?;
        Ok(elements)
    }
}

/// The words of a ring for `1 << log2` elements, with these in it.
pub(super) fn ring_of<T: HeapData + Copy>(elements: &[T], log2: u32) -> Vec<u32> {
    let mut words = vec![0; HEADER];
    words[TAIL] = 2 * elements.len() as u32;
    words[LOG2] = log2;
    words[USED] = elements.len() as u32;
    words[READY] = elements.len() as u32;
    for position in 0..1 << slots_log2(log2) {
        let element = elements.get(position);
        words.push(element.map_or(fresh(log2), |_| BUSY | WRITTEN));
        words.extend(words_of(element));
    }
    words
}

/// Appends the elements of the ring at word `at`, the first one in front.
pub(super) fn elements_of<T: HeapData + Copy>(
    memory: &Memory,
    at: usize,
    elements: &mut Vec<T>,
) -> Result<(), DeviceError> {
    let slots = 1 << slots_log2(log2_at(memory, at)?);
    let head = memory.word(at + HEAD)?;
    let each = 1 + T::WORDS as usize;
    let words = memory.read::<u32>(at + HEADER, slots * each as u32)?;
    let mut found: Vec<(i32, T)> = Vec::new();
    for (index, slot) in (0..).zip(words.chunks_exact(each)) {
        if slot[0] & WRITTEN != 0 {
            let position = (slot[0] & !MARKS).wrapping_add(index);
            // SAFETY: behind the state lie the words of an element, which is whole words without padding.
            let element = unsafe { slot[1..].as_ptr().cast::<T>().read_unaligned() };
            found.push((ahead(position, head), element));
        }
    }
    found.sort_by_key(|(place, _)| *place);
    elements.extend(found.into_iter().map(|(_, element)| element));
    Ok(())
}

/// The words of an element, zeros for none.
pub(super) fn words_of<T: HeapData + Copy>(element: Option<&T>) -> Vec<u32> {
    match element {
        // SAFETY: an element is whole words without padding.
        Some(element) => (0..T::WORDS as usize)
            .map(|i| unsafe { (element as *const T).cast::<u32>().add(i).read_unaligned() })
            .collect(),
        None => vec![0; T::WORDS as usize],
    }
}

pub(super) fn log2_at(memory: &Memory, at: usize) -> Result<u32, DeviceError> {
    let log2 = memory.word(at + LOG2)?;
    if log2 > MAX_LOG2 {
        return Err(memory.broken("a queue has no size"));
    }
    Ok(log2)
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let log2 = log2_at(memory, memory.word_of(handle))?;
    Ok(vec![(handle, ring_layout::<T>(log2))])
}
