//! A list of chunks that the host owns.

use super::memory::{Block, Memory, Owner, layout_of};
use crate::container::HeapList;
use crate::container::list::{
    BEFORE, CAPACITY, COUNT, FIRST_CAPACITY, NEXT, chunk_layout, element,
};
use std::marker::PhantomData;
use warpheap_api::host::{DeviceError, HostAlloc, Pool, RawPool};
use warpheap_api::{DevicePtr, HeapData};

/// A [`HeapList`] in a heap, whose word is in the heap too, so that all lanes of a kernel can append to it.
/// Dropping it frees it.
#[derive(Debug)]
pub struct DeviceList<T, A> {
    owner: Owner,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData + Copy, A: HostAlloc> DeviceList<T, A> {
    /// An empty list.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn new_in(pool: &Pool<A>) -> Result<Self, DeviceError> {
        let memory = Memory::of(pool);
        let handle = memory.block_with(layout_of::<HeapList<T>>(), &[0])?;
        Ok(DeviceList {
            owner: Owner {
                memory,
                handle,
                blocks: blocks::<T>,
            },
            types: PhantomData,
        })
    }

    /// A list of these elements, in one chunk.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn from_slice_in(pool: &Pool<A>, elements: &[T]) -> Result<Self, DeviceError> {
        let list = Self::new_in(pool)?;
        if !elements.is_empty() {
            let memory = &list.owner.memory;
            let chunk = empty_chunk::<T>(memory, elements.len() as u32)?;
            // From here on the list owns the chunk.
            memory.write(list.owner.word(), &[chunk])?;
            memory.write(element::<T>(memory.word_of(chunk), 0), elements)?;
        }
        Ok(list)
    }

    /// Where the list's word lies: what a kernel takes. `ptr.word()` is the index for
    /// [`HeapList::push_at`].
    pub fn ptr(&self) -> DevicePtr<HeapList<T>> {
        DevicePtr::from_granule(self.owner.handle - 1)
    }

    /// All elements: chunks in the order in which they were made, in each the order of the pushes.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the list was written over.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let memory = &self.owner.memory;
        elements(memory, memory.word(self.owner.word())?)
    }

    /// Number of elements.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn len(&self) -> Result<usize, DeviceError> {
        let memory = &self.owner.memory;
        let head = memory.word(self.owner.word())?;
        if head == 0 {
            return Ok(0);
        }
        let at = memory.word_of(head);
        let count = memory.word(at + COUNT)?.min(memory.word(at + CAPACITY)?);
        Ok(memory.word(at + BEFORE)? as usize + count as usize)
    }

    /// Whether there are no elements.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn is_empty(&self) -> Result<bool, DeviceError> {
        Ok(self.len()? == 0)
    }
}

/// Lists of these elements in the heap of `pool`, each in one chunk: their words. Nobody owns them.
///
/// # Errors
/// As [`Pool::malloc`]; then nothing stays allocated.
pub fn make_lists<T: HeapData + Copy>(
    pool: &RawPool,
    lists: &[&[T]],
) -> Result<Vec<u32>, DeviceError> {
    let memory = Memory::over(pool);
    let mut made = Vec::new();
    for list in lists {
        let chunk = match list.len() {
            0 => Ok(0),
            len => empty_chunk::<T>(&memory, len as u32),
        };
        let filled = chunk.and_then(|chunk| {
            made.push(chunk);
            match chunk {
                0 => Ok(()),
                chunk => memory.write(element::<T>(memory.word_of(chunk), 0), list),
            }
        });
        if let Err(error) = filled {
            // SAFETY: they were made here, and nobody knows them.
            unsafe { free_lists::<T>(pool, &made) }?;
            return Err(error);
        }
    }
    Ok(made)
}

/// The elements of the lists with these words in the heap of `pool`.
///
/// # Errors
/// Errors of the device; [`DeviceError::BadHeap`] if a list was written over.
pub fn read_lists<T: HeapData + Copy>(
    pool: &RawPool,
    lists: &[u32],
) -> Result<Vec<Vec<T>>, DeviceError> {
    let memory = Memory::over(pool);
    lists.iter().map(|&list| elements(&memory, list)).collect()
}

/// Frees the memory of the lists with these words in the heap of `pool`. What elements own is not freed. Each chunk is a request to
/// the device: a kernel does it faster.
///
/// # Errors
/// Errors of the device; then some are freed and some are not.
///
/// # Safety
/// The lists are of this heap, and neither they nor copies of them are used afterwards.
pub unsafe fn free_lists<T: HeapData + Copy>(
    pool: &RawPool,
    lists: &[u32],
) -> Result<(), DeviceError> {
    let memory = Memory::over(pool);
    for &list in lists {
        let chunks = chunks::<T>(&memory, list)?;
        // SAFETY: the caller's promise: the list owns its chunks.
        unsafe { memory.free(&chunks) }?;
    }
    Ok(())
}

/// A chunk for `len` elements that are yet to be written.
fn empty_chunk<T: HeapData + Copy>(memory: &Memory, len: u32) -> Result<u32, DeviceError> {
    let capacity = len.max(FIRST_CAPACITY);
    let mut header = [0; 4];
    (header[CAPACITY], header[COUNT]) = (capacity, len);
    memory.block_with(chunk_layout::<T>(capacity), &header)
}

/// The elements of a list with this head: chunks in the order in which they were made.
fn elements<T: HeapData + Copy>(memory: &Memory, head: u32) -> Result<Vec<T>, DeviceError> {
    let mut elements = Vec::new();
    for (chunk, _) in chunks::<T>(memory, head)?.iter().rev() {
        let at = memory.word_of(*chunk);
        let count = memory.word(at + COUNT)?.min(memory.word(at + CAPACITY)?);
        elements.extend(memory.read::<T>(element::<T>(at, 0), count)?);
    }
    Ok(elements)
}

/// The chunks of a list with this head.
fn chunks<T: HeapData + Copy>(memory: &Memory, head: u32) -> Result<Vec<Block>, DeviceError> {
    memory.chain(head, |at| {
        let capacity = memory.word(at + CAPACITY)?;
        Ok((chunk_layout::<T>(capacity), memory.word(at + NEXT)?))
    })
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let mut blocks = chunks::<T>(memory, memory.word(memory.word_of(handle))?)?;
    blocks.push((handle, layout_of::<HeapList<T>>()));
    Ok(blocks)
}
