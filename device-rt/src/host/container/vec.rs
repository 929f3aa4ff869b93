//! Growing vectors that the host owns, reads and frees.

use super::memory::{Block, Memory, Owner, layout_of};
use crate::container::HeapVec;
use std::marker::PhantomData;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, Pool};
use warpheap_api::{DevicePtr, HeapData, layout};

/// A [`HeapVec`] that lies in the heap itself. Dropping it frees both.
#[derive(Debug)]
pub struct DeviceHeapVec<T, A> {
    owner: Owner,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData, A: HostAlloc> DeviceHeapVec<T, A> {
    /// An empty vector.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn new_in(pool: &Pool<A>) -> Result<Self, DeviceError> {
        let memory = Memory::of(pool);
        let handle = memory.block_with(layout_of::<HeapVec<T>>(), &[0; 3])?;
        Ok(DeviceHeapVec {
            owner: Owner {
                memory,
                handle,
                blocks: blocks::<T>,
            },
            types: PhantomData,
        })
    }

    /// A vector of these elements.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn from_slice_in(pool: &Pool<A>, elements: &[T]) -> Result<Self, DeviceError> {
        let vector = Self::new_in(pool)?;
        if !elements.is_empty() {
            let memory = &vector.owner.memory;
            let len = elements.len() as u32;
            let block = memory.malloc(layout::array::<T>(len))?;
            // From here on the vector owns the block.
            memory.write(vector.owner.word(), &[block - 1, len, len])?;
            memory.write(memory.word_of(block), elements)?;
        }
        Ok(vector)
    }

    /// Where the vector lies: what a kernel takes, loads and stores.
    pub fn ptr(&self) -> DevicePtr<HeapVec<T>> {
        DevicePtr::from_granule(self.owner.handle - 1)
    }

    /// All elements.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the vector was written over.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let memory = &self.owner.memory;
        elements(memory, &memory.one(self.owner.word())?)
    }
}

/// The elements of each of the vectors that kernels filled in `pool`.
///
/// # Errors
/// Errors of the device; [`DeviceError::BadHeap`] if the vectors are of another heap, [`DeviceError::Stale`] if this one was made
/// fresh since.
pub fn read_vectors<T: HeapData, A: HostAlloc>(
    pool: &Pool<A>,
    vectors: &DeviceVec<HeapVec<T>>,
) -> Result<Vec<Vec<T>>, DeviceError> {
    let memory = Memory::of(pool);
    vectors.check_heap(pool.raw())?;
    // SAFETY: they are read here, and no more.
    let vectors = unsafe { vectors.peek() }?;
    vectors
        .iter()
        .map(|vector| elements(&memory, vector))
        .collect()
}

/// Number of elements of each of these vectors.
///
/// # Errors
/// Errors of the device.
pub fn vector_lengths<T: HeapData>(
    vectors: &DeviceVec<HeapVec<T>>,
) -> Result<Vec<u32>, DeviceError> {
    // SAFETY: their lengths are read, and no more.
    let vectors = unsafe { vectors.peek() }?;
    Ok(vectors.iter().map(HeapVec::len).collect())
}

/// Frees the memory of vectors that kernels filled in `pool`, and leaves empty ones. What elements own is not
/// freed. Each is a request to the device: a kernel does it faster.
///
/// # Errors
/// Errors of the device; then some are freed and some are not.
///
/// # Safety
/// The vectors are of this heap, and there are no copies of them that are used afterwards.
pub unsafe fn free_vectors<T: HeapData, A: HostAlloc>(
    pool: &Pool<A>,
    vectors: &mut DeviceVec<HeapVec<T>>,
) -> Result<(), DeviceError> {
    let memory = Memory::of(pool);
    vectors.check_heap(pool.raw())?;
    // SAFETY: they are forgotten below.
    for vector in unsafe { vectors.peek() }? {
        // SAFETY: the caller's promise: the vector owns its block.
        unsafe { memory.free(&block_of(&vector)) }?;
    }
    vectors.fill_zero()
}

/// The elements of a vector.
pub(super) fn elements<T: HeapData>(
    memory: &Memory,
    vector: &HeapVec<T>,
) -> Result<Vec<T>, DeviceError> {
    if vector.len() > vector.capacity() {
        return Err(memory.broken("a vector is longer than its block"));
    }
    match vector.capacity() {
        0 => Ok(Vec::new()),
        _ => memory.read(memory.word_of(vector.as_ptr().granule() + 1), vector.len()),
    }
}

/// The block of a vector, if it has one.
pub(super) fn block_of<T: HeapData>(vector: &HeapVec<T>) -> Vec<Block> {
    match vector.capacity() {
        0 => Vec::new(),
        capacity => vec![(vector.as_ptr().granule() + 1, layout::array::<T>(capacity))],
    }
}

fn blocks<T: HeapData>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let vector: HeapVec<T> = memory.one(memory.word_of(handle))?;
    let mut blocks = block_of(&vector);
    blocks.push((handle, layout_of::<HeapVec<T>>()));
    Ok(blocks)
}
