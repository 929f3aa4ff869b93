//! A vector that many lanes append to, owned by the host.

use super::memory::{Block, Memory, Owner, log2_of};
use crate::container::shared_vec::{
    CURRENT, LOG2, SEGMENTS, capacity, control_layout, control_words, counter, first, segments,
};
use crate::container::{HeapSharedVec, word_of};
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
        let mut control = vec![0; control_words(log2)];
        control[LOG2] = log2;
        let handle = memory.block_with(control_layout::<T>(log2), &control)?;
        Ok(DeviceSharedVec {
            owner: Owner::new(memory, handle, blocks::<T>),
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
        memory.write(at + control_words(log2), elements)?;
        memory.write(counter(at, log2, 0), &[elements.len() as u32])?;
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
        let log2 = log2_at(memory, at)?;
        let len = self.len()? as u32;
        let mut elements = Vec::new();
        let mut segment = 0;
        while segment < segments(log2) && first(log2, segment) < len {
            let mut block = at + control_words(log2);
            if segment != 0 {
                block = word_of(memory.word(at + SEGMENTS + segment as usize)?);
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
        let log2 = log2_at(memory, at)?;
        let current = memory.word(at + CURRENT)?;
        if current >= segments(log2) {
            return Err(memory.broken("a shared vector has no such segment"));
        }
        let count = memory.word(counter(at, log2, current))?;
        Ok(first(log2, current) as usize + count.min(capacity(log2, current)) as usize)
    }

    /// Whether there are no elements.
    ///
    /// # Errors
    /// As [`len`](Self::len).
    pub fn is_empty(&self) -> Result<bool, DeviceError> {
        Ok(self.len()? == 0)
    }
}

fn log2_at(memory: &Memory, at: usize) -> Result<u32, DeviceError> {
    let log2 = memory.word(at + LOG2)?;
    if log2 > 31 {
        return Err(memory.broken("a shared vector's first segment has no size"));
    }
    Ok(log2)
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let at = word_of(handle);
    let log2 = log2_at(memory, at)?;
    let mut blocks = vec![(handle, control_layout::<T>(log2))];
    let entries: Vec<u32> = memory.read(at + SEGMENTS, segments(log2))?;
    for (segment, block) in entries.into_iter().enumerate() {
        if block != 0 {
            blocks.push((block, layout::array::<T>(capacity(log2, segment as u32))));
        }
    }
    Ok(blocks)
}
