//! A queue that grows, owned by the host.

use super::memory::{Block, Memory, Owner};
use super::queue::{elements_of, log2_at, ring_of};
use crate::container::HeapChunkQueue;
use crate::container::chunk_queue::{CONTROL, FIRST, HEAD, LOG2, MOST, TAIL, control_layout};
use crate::container::ring::{MAX_LOG2, NEXT, TAIL as RING_TAIL, ring_layout};
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_api::HeapData;
use warpheap_api::host::{DeviceError, HostAlloc, Pool, SharedArg, assert_plain};

/// A [`HeapChunkQueue`] in a heap. Dropping it frees it, the rings that are empty too.
#[derive(Debug)]
pub struct DeviceChunkQueue<T, A> {
    owner: Arc<Owner>,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData + Copy, A: HostAlloc> DeviceChunkQueue<T, A> {
    /// An empty queue, whose first ring is for `1 << log2` elements.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; [`DeviceError::OutOfRange`] for a `log2` above 24.
    pub fn new_in(pool: &Pool<A>, log2: u32) -> Result<Self, DeviceError> {
        Self::from_slice_in(pool, &[], log2)
    }

    /// A queue of these elements, the first one in front, in rings for `1 << log2` elements each.
    ///
    /// # Errors
    /// As [`new_in`](Self::new_in).
    pub fn from_slice_in(pool: &Pool<A>, elements: &[T], log2: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        if log2 > 24 {
            return Err(DeviceError::OutOfRange {
                what: "elements of a queue's first ring, as a power of two",
                got: log2 as u64,
                room: 24,
            });
        }
        let memory = Memory::of(pool);
        let mut control = [0; CONTROL];
        control[LOG2] = log2;
        control[MOST] = MAX_LOG2;
        let handle = memory.block_with(control_layout(), &control)?;
        // From here on an error frees what there is: a chain from the first ring, none yet.
        let queue = DeviceChunkQueue {
            owner: Owner::new(memory, handle, blocks::<T>),
            types: PhantomData,
        };
        let (memory, at) = (&queue.owner.memory, queue.owner.word());
        let mut parts = elements.chunks(1 << log2).peekable();
        let mut last = 0;
        loop {
            let part = parts.next().unwrap_or_default();
            let more = parts.peek().is_some();
            let mut words = ring_of(part, log2);
            // A ring that others follow is closed.
            words[RING_TAIL] += more as u32;
            let ring = memory.block_with(ring_layout::<T>(log2), &words)?;
            if last == 0 {
                memory.write(at + FIRST, &[ring])?;
                memory.write(at + HEAD, &[ring])?;
            } else {
                memory.write(memory.word_of(last) + NEXT, &[ring])?;
            }
            last = ring;
            if !more {
                break;
            }
        }
        memory.write(at + TAIL, &[last])?;
        Ok(queue)
    }

    /// What a launch takes for a kernel's `HeapChunkQueue<T>`.
    pub fn handle(&self) -> SharedArg<HeapChunkQueue<T>> {
        // SAFETY: it is a queue with such elements.
        unsafe {
            self.owner
                .shared(HeapChunkQueue::from_word(self.owner.handle))
        }
    }

    /// All elements, the first one in front. They stay in the queue.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if the queue was written over.
    pub fn to_vec(&self) -> Result<Vec<T>, DeviceError> {
        let (memory, at) = (&self.owner.memory, self.owner.word());
        let mut elements = Vec::new();
        for (ring, _) in rings::<T>(memory, memory.word(at + HEAD)?)? {
            elements_of(memory, memory.word_of(ring), &mut elements)?;
        }
        Ok(elements)
    }
}

/// The rings from `ring` on.
fn rings<T: HeapData + Copy>(memory: &Memory, ring: u32) -> Result<Vec<Block>, DeviceError> {
    memory.chain(ring, |at| {
        let layout = ring_layout::<T>(log2_at(memory, at)?);
        Ok((layout, memory.word(at + NEXT)?))
    })
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let mut blocks = rings::<T>(memory, memory.word(memory.word_of(handle) + FIRST)?)?;
    blocks.push((handle, control_layout()));
    Ok(blocks)
}
