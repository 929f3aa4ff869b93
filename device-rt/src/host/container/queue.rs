//! A bounded queue that the host owns.

use super::memory::{Block, Memory, Owner, log2_of};
use crate::container::queue::{HEAD, HEADER, LOG2, TAIL, queue_layout, slot};
use crate::container::{HeapQueue, word_of};
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
        if log2 > 30 {
            return Err(DeviceError::OutOfRange {
                what: "capacity of a queue",
                got: capacity.max(elements.len()) as u64,
                room: 1 << 30,
            });
        }
        let memory = Memory::of(pool);
        let layout = queue_layout::<T>(log2);
        let mut header = [0; HEADER];
        (header[TAIL], header[LOG2]) = (elements.len() as u32, log2);
        let handle = memory.block_with(layout, &header)?;
        let queue = DeviceQueue {
            owner: Owner::new(memory, handle, blocks::<T>),
            types: PhantomData,
        };
        let mut slots = Vec::with_capacity(layout.size() / 4 - HEADER);
        for position in 0..1 << log2 {
            let element = elements.get(position as usize);
            slots.push(position + element.is_some() as u32);
            slots.extend(words_of(element));
        }
        let memory = &queue.owner.memory;
        memory.write(queue.owner.word() + HEADER, &slots)?;
        Ok(queue)
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
        let (memory, at) = (&self.owner.memory, self.owner.word());
        let log2 = log2_at(memory, at)?;
        let (head, tail) = (memory.word(at + HEAD)?, memory.word(at + TAIL)?);
        let len = tail.wrapping_sub(head);
        if len > 1 << log2 {
            return Err(memory.broken("a queue has more elements than slots"));
        }
        let mut elements = Vec::with_capacity(len as usize);
        for i in 0..len {
            let slot = slot::<T>(at, log2, head.wrapping_add(i));
            elements.push(memory.read::<T>(slot + 1, 1)?[0]);
        }
        Ok(elements)
    }
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

fn log2_at(memory: &Memory, at: usize) -> Result<u32, DeviceError> {
    let log2 = memory.word(at + LOG2)?;
    if !(1..=30).contains(&log2) {
        return Err(memory.broken("a queue has no size"));
    }
    Ok(log2)
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let log2 = log2_at(memory, word_of(handle))?;
    Ok(vec![(handle, queue_layout::<T>(log2))])
}
