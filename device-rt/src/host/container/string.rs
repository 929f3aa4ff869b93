//! Strings that the host owns, reads and frees.

use super::memory::{Block, Memory, Owner, layout_of};
use super::vec::{block_of, elements};
use crate::container::HeapString;
use std::marker::PhantomData;
use warpheap_api::host::{DeviceError, DeviceVec, HostAlloc, Pool};
use warpheap_api::{DevicePtr, layout};

/// A [`HeapString`] that lies in the heap itself. Dropping it frees both.
#[derive(Debug)]
pub struct DeviceString<A> {
    owner: Owner,
    types: PhantomData<fn() -> A>,
}

impl<A: HostAlloc> DeviceString<A> {
    /// An empty string.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn new_in(pool: &Pool<A>) -> Result<Self, DeviceError> {
        let memory = Memory::of(pool);
        let handle = memory.block_with(layout_of::<HeapString>(), &[0; 4])?;
        Ok(DeviceString {
            owner: Owner {
                memory,
                handle,
                blocks,
            },
            types: PhantomData,
        })
    }

    /// A string of these bytes; `text.as_bytes()` for those of a `str`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn from_bytes_in(pool: &Pool<A>, bytes: &[u8]) -> Result<Self, DeviceError> {
        let string = Self::new_in(pool)?;
        if !bytes.is_empty() {
            let memory = &string.owner.memory;
            let packed = pack(bytes);
            let number = packed.len() as u32;
            let block = memory.malloc(layout::array::<u32>(number))?;
            // From here on the string owns the block.
            let words = [block - 1, number, number, bytes.len() as u32];
            memory.write(string.owner.word(), &words)?;
            memory.write(memory.word_of(block), &packed)?;
        }
        Ok(string)
    }

    /// Where the string lies: what a kernel takes, loads and stores.
    pub fn ptr(&self) -> DevicePtr<HeapString> {
        DevicePtr::from_granule(self.owner.handle - 1)
    }

    /// All bytes; `String::from_utf8` says whether they are text.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the string was written over.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DeviceError> {
        let memory = &self.owner.memory;
        bytes_of(memory, &memory.read(self.owner.word(), 1)?[0])
    }
}

/// The bytes of each of the strings that kernels wrote in `pool`.
///
/// # Errors
/// Errors of the device; [`DeviceError::BadHeap`] if the strings are of another heap, [`DeviceError::Stale`] if this one was made
/// fresh since.
pub fn read_strings<A: HostAlloc>(
    pool: &Pool<A>,
    strings: &DeviceVec<HeapString>,
) -> Result<Vec<Vec<u8>>, DeviceError> {
    let memory = Memory::of(pool);
    strings.check_heap(pool.raw())?;
    // SAFETY: they are read here, and no more.
    let strings = unsafe { strings.peek() }?;
    strings
        .iter()
        .map(|string| bytes_of(&memory, string))
        .collect()
}

/// Frees the memory of strings that kernels wrote in `pool`, and leaves empty ones. Each is a request to
/// the device: a kernel does it faster.
///
/// # Errors
/// Errors of the device; then some are freed and some are not.
///
/// # Safety
/// The strings are of this heap, and there are no copies of them that are used afterwards.
pub unsafe fn free_strings<A: HostAlloc>(
    pool: &Pool<A>,
    strings: &mut DeviceVec<HeapString>,
) -> Result<(), DeviceError> {
    let memory = Memory::of(pool);
    strings.check_heap(pool.raw())?;
    // SAFETY: they are forgotten below.
    for string in unsafe { strings.peek() }? {
        // SAFETY: the caller's promise: the string owns its block.
        unsafe { memory.free(&block_of(string.packed())) }?;
    }
    strings.fill_zero()
}

/// Bytes, four to a word, the first one lowest.
fn pack(bytes: &[u8]) -> Vec<u32> {
    let word = |four: &[u8]| {
        let place = |(i, byte): (usize, &u8)| (*byte as u32) << (8 * i);
        four.iter().enumerate().map(place).sum()
    };
    bytes.chunks(4).map(word).collect()
}

fn bytes_of(memory: &Memory, string: &HeapString) -> Result<Vec<u8>, DeviceError> {
    let packed = elements(memory, string.packed())?;
    let mut bytes: Vec<u8> = packed.into_iter().flat_map(u32::to_le_bytes).collect();
    if bytes.len() < string.len() as usize {
        return Err(memory.broken("a string is longer than its block"));
    }
    bytes.truncate(string.len() as usize);
    Ok(bytes)
}

fn blocks(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let string: HeapString = memory.one(memory.word_of(handle))?;
    let mut blocks = block_of(string.packed());
    blocks.push((handle, layout_of::<HeapString>()));
    Ok(blocks)
}
