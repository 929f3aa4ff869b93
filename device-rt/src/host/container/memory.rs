//! Memory of a heap as the host sees it, and what owns blocks of it.

use std::mem::{size_of, size_of_val};
use std::sync::Arc;
use warpheap_api::host::{DeviceError, Pool, RawPool, SharedArg};
use warpheap_api::{DevicePtr, HeapData, LAYOUT_VERSION, Layout, layout};

/// A block: its handle (granule and one) and its layout.
pub(super) type Block = (u32, Layout);

/// The blocks of a container that a handle names.
pub(super) type Blocks = fn(&Memory, u32) -> Result<Vec<Block>, DeviceError>;

/// The memory of a heap.
#[derive(Clone, Debug)]
pub(super) struct Memory {
    pool: RawPool,
}

impl Memory {
    pub fn of<A: warpheap_api::host::HostAlloc>(pool: &Pool<A>) -> Self {
        Self::over(pool.raw())
    }

    pub fn over(pool: &RawPool) -> Self {
        Memory { pool: pool.clone() }
    }

    /// Reads `number` values from word `word` on.
    pub fn read<T: HeapData>(&self, word: usize, number: u32) -> Result<Vec<T>, DeviceError> {
        const { assert!(size_of::<T>() == T::WORDS as usize * 4) }
        // Before there is room for them, which may be more than there is.
        let bytes = number as u64 * size_of::<T>() as u64;
        let end = (word as u64 * 4).saturating_add(bytes);
        if end > self.pool.words() * 4 {
            return Err(self.broken("it reaches beyond the heap"));
        }
        let mut values: Vec<T> = Vec::with_capacity(number as usize);
        // SAFETY: there is room for so many values, any words are a value, and zero bytes are set here.
        unsafe {
            values.as_mut_ptr().write_bytes(0, number as usize);
            values.set_len(number as usize);
        }
        // SAFETY: a value is whole words without padding, of which any are valid.
        let bytes = unsafe {
            std::slice::from_raw_parts_mut(
                values.as_mut_ptr().cast::<u8>(),
                size_of_val(values.as_slice()),
            )
        };
        self.pool.read(word as u64 * 4, bytes)?;
        Ok(values)
    }

    /// The value that begins at word `word`.
    pub fn one<T: HeapData>(&self, word: usize) -> Result<T, DeviceError> {
        let value = self.read(word, 1)?.pop();
        value.ok_or_else(|| self.broken("nothing was read"))
    }

    /// The word at `word`.
    pub fn word(&self, word: usize) -> Result<u32, DeviceError> {
        let mut bytes = [0; 4];
        self.pool.read(word as u64 * 4, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes))
    }

    /// Writes values from word `word` on.
    pub fn write<T: HeapData>(&self, word: usize, values: &[T]) -> Result<(), DeviceError> {
        // SAFETY: a value is whole words without padding.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { self.pool.buffer.write(word as u64 * 4, bytes) }
    }

    /// The first word of what a handle names: the granule and one.
    pub fn word_of(&self, handle: u32) -> usize {
        (self
            .pool
            .offset_of(DevicePtr::<u32>::from_granule(handle - 1))
            / 4) as usize
    }

    /// Allocates a block; its handle.
    pub fn malloc(&self, layout: Layout) -> Result<u32, DeviceError> {
        Ok(self.pool.malloc(layout)?.granule() + 1)
    }

    /// Frees blocks.
    ///
    /// # Safety
    /// They are live blocks of this heap with these layouts, and nobody uses them any more.
    pub unsafe fn free(&self, blocks: &[Block]) -> Result<(), DeviceError> {
        for (handle, layout) in blocks {
            let ptr = DevicePtr::from_granule(handle - 1);
            // SAFETY: the caller's promise.
            unsafe { self.pool.free(ptr, *layout) }?;
        }
        Ok(())
    }

    /// The blocks of a chain that begins with `handle`: the layout of each, and the one after it.
    pub fn chain(
        &self,
        handle: u32,
        next: impl Fn(usize) -> Result<(Layout, u32), DeviceError>,
    ) -> Result<Vec<Block>, DeviceError> {
        let (mut blocks, mut handle) = (Vec::new(), handle);
        while handle != 0 {
            if blocks.len() as u64 > self.pool.words() / DevicePtr::GRANULE_WORDS as u64 {
                return Err(self.broken("its blocks form a ring"));
            }
            let (layout, after) = next(self.word_of(handle))?;
            blocks.push((handle, layout));
            handle = after;
        }
        Ok(blocks)
    }

    /// The error of a container that makes no sense.
    pub fn broken(&self, why: &str) -> DeviceError {
        DeviceError::BadHeap {
            expected: self.pool.allocator,
            version: LAYOUT_VERSION,
            why: format!(
                "a container in it is broken: {why}; a kernel wrote over it, or used it after it was freed: run the kernel \
                 with WARPHEAP_BACKEND=host and WARPHEAP_RACES=1"
            ),
        }
    }

    /// A block whose first words are `words`; its handle.
    pub fn block_with(&self, layout: Layout, words: &[u32]) -> Result<u32, DeviceError> {
        let handle = self.malloc(layout)?;
        let written = self.write(self.word_of(handle), words);
        if let Err(error) = written {
            // SAFETY: the block was allocated here, and nobody knows it.
            unsafe { self.free(&[(handle, layout)]) }?;
            return Err(error);
        }
        Ok(handle)
    }
}

/// Owns what a handle names.
#[derive(Debug)]
pub(super) struct Owner {
    pub memory: Memory,
    pub handle: u32,
    pub blocks: Blocks,
}

impl Owner {
    /// Shared with the launches that use what it owns.
    pub fn new(memory: Memory, handle: u32, blocks: Blocks) -> Arc<Self> {
        Arc::new(Owner {
            memory,
            handle,
            blocks,
        })
    }

    /// The container as an argument, which keeps it.
    ///
    /// # Safety
    /// It is what is owned.
    pub unsafe fn shared<C: HeapData + Copy>(self: &Arc<Self>, container: C) -> SharedArg<C> {
        // SAFETY: it is of this heap, and this owner alone frees it, when it is dropped.
        unsafe { SharedArg::owned(&self.memory.pool, container, self.clone()) }
    }

    /// The first word of what is owned.
    pub fn word(&self) -> usize {
        self.memory.word_of(self.handle)
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        let blocks = (self.blocks)(&self.memory, self.handle);
        // SAFETY: these are the blocks of the container, which nobody else owns.
        if let Err(error) = blocks.and_then(|blocks| unsafe { self.memory.free(&blocks) }) {
            self.memory.pool.not_freed(&error);
        }
    }
}

/// The least power of two, as its logarithm, that is not less than `number`.
pub(super) fn log2_of(number: usize) -> u32 {
    number.next_power_of_two().ilog2()
}

/// The layout of a block that holds nothing but `T`.
pub(super) fn layout_of<T: HeapData>() -> Layout {
    layout::of::<T>()
}
