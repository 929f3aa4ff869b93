//! A vector that many lanes append to, owned by the host.

use super::memory::{Block, Memory, Owner, log2_of};
use crate::container::HeapSharedVec;
use crate::container::shared_vec::parts::{
    STATE, State, capacity, control_layout, counter, first, first_element, segment_word, segments,
};
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_api::host::{DeviceError, HostAlloc, Pool, SharedArg, assert_plain};
use warpheap_api::{HeapData, layout};

/// A [`HeapSharedVec`] in a heap. Dropping it frees it.
#[derive(Debug)]
pub struct DeviceSharedVec<T, A> {
    owner: Arc<Owner>,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData + Copy, A: HostAlloc> DeviceSharedVec<T, A> {
    /// An empty vector whose first segment has `1 << log2` elements.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; [`DeviceError::OutOfRange`] for a `log2` above 31.
    pub fn new_in(pool: &Pool<A>, log2: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        if log2 > 31 {
            return Err(DeviceError::OutOfRange {
                what: "first segment of a shared vector, as a power of two",
                got: log2 as u64,
                room: 31,
            });
        }
        let memory = Memory::of(pool);
        // The state and no segments; then the counters, which lie behind the first segment's elements.
        let none = vec![0; segments(log2) as usize];
        let mut front = vec![State::first(log2).word()];
        front.extend(&none);
        let handle = memory.block_with(control_layout::<T>(log2), &front)?;
        let owner = Owner::new(memory, handle, blocks::<T>);
        let counters = counter::<T>(owner.word(), log2, 0);
        owner.memory.write(counters, &none)?;
        Ok(DeviceSharedVec {
            owner,
            types: PhantomData,
        })
    }

    /// A vector of these elements, in a first segment that has room for 16 at least.
    ///
    /// # Errors
    /// As [`new_in`](Self::new_in).
    pub fn from_slice_in(pool: &Pool<A>, elements: &[T]) -> Result<Self, DeviceError> {
        let log2 = log2_of(elements.len()).max(4);
        let vector = Self::new_in(pool, log2)?;
        let (memory, at) = (&vector.owner.memory, vector.owner.word());
        memory.write(first_element(at, log2), elements)?;
        memory.write(counter::<T>(at, log2, 0), &[elements.len() as u32])?;
        Ok(vector)
    }

    /// What a launch takes for a kernel's `HeapSharedVec<T>`.
    pub fn handle(&self) -> SharedArg<HeapSharedVec<T>> {
        // SAFETY: it is a vector with such elements.
        unsafe {
            self.owner
                .shared(HeapSharedVec::from_word(self.owner.handle))
        }
    }

    /// All elements, by index.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the vector was written over.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let (memory, at) = (&self.owner.memory, self.owner.word());
        let log2 = state_at(memory, at)?.log2;
        let len = self.len()? as u32;
        let mut elements = Vec::new();
        let mut segment = 0;
        while segment < segments(log2) && first(log2, segment) < len {
            let mut block = first_element(at, log2);
            if segment != 0 {
                block = memory.word_of(memory.word(segment_word(at, segment))?);
            }
            let number = capacity(log2, segment).min(len - first(log2, segment));
            elements.extend(memory.read::<T>(block, number)?);
            segment += 1;
        }
        Ok(elements)
    }

    /// Number of elements.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the vector was written over.
    pub fn len(&self) -> Result<usize, DeviceError> {
        let (memory, at) = (&self.owner.memory, self.owner.word());
        let State { segment, log2 } = state_at(memory, at)?;
        let count = memory.word(counter::<T>(at, log2, segment))?;
        Ok(first(log2, segment) as usize + count.min(capacity(log2, segment)) as usize)
    }

    /// Whether there are no elements.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool, DeviceError> {
        Ok(self.len()? == 0)
    }
}

fn state_at(memory: &Memory, at: usize) -> Result<State, DeviceError> {
    let state = State::of(memory.word(at + STATE)?);
    if state.log2 > 31 {
        return Err(memory.broken("a shared vector's first segment has no size"));
    }
    if state.segment >= segments(state.log2) {
        return Err(memory.broken("a shared vector has no such segment"));
    }
    Ok(state)
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let at = memory.word_of(handle);
    let log2 = state_at(memory, at)?.log2;
    let mut blocks = vec![(handle, control_layout::<T>(log2))];
    let entries: Vec<u32> = memory.read(segment_word(at, 0), segments(log2))?;
    for (segment, block) in entries.into_iter().enumerate() {
        if block != 0 {
            blocks.push((block, layout::array::<T>(capacity(log2, segment as u32))));
        }
    }
    Ok(blocks)
}
