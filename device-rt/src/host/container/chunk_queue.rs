//! A queue that grows, owned by the host.

use super::memory::{Block, Memory, Owner};
use super::queue::words_of;
use crate::container::chunk_queue::{
    CONTROL, FIRST, FULL, HEAD, HEADER, LOG2, NEXT, POPPED, PUSHED, TAIL, control_layout,
    node_layout, slot,
};
use crate::container::{HeapChunkQueue, word_of};
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_api::HeapData;
use warpheap_api::host::{DeviceError, HostAlloc, Pool, SharedArg, assert_plain};

/// A [`HeapChunkQueue`] in a heap. Dropping it frees it, the nodes that are empty too.
#[derive(Debug)]
pub struct DeviceChunkQueue<T, A> {
    owner: Arc<Owner>,
    types: PhantomData<fn() -> (T, A)>,
}

impl<T: HeapData + Copy, A: HostAlloc> DeviceChunkQueue<T, A> {
    /// An empty queue of nodes with `1 << log2` slots each; 8 is a good number.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; [`DeviceError::OutOfRange`] for a `log2` above 24.
    pub fn new_in(pool: &Pool<A>, log2: u32) -> Result<Self, DeviceError> {
        Self::from_slice_in(pool, &[], log2)
    }

    /// A queue of these elements, the first one in front, in nodes with `1 << log2` slots each.
    ///
    /// # Errors
    /// As [`new_in`](Self::new_in).
    pub fn from_slice_in(pool: &Pool<A>, elements: &[T], log2: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<T>() }
        if log2 > 24 {
            return Err(DeviceError::OutOfRange {
                what: "slots of a queue's node, as a power of two",
                got: log2 as u64,
                room: 24,
            });
        }
        let memory = Memory::of(pool);
        let mut control = [0; CONTROL];
        control[LOG2] = log2;
        let handle = memory.block_with(control_layout(), &control)?;
        // From here on an error frees what there is: a chain from the first node, none yet.
        let queue = DeviceChunkQueue {
            owner: Owner::new(memory, handle, blocks::<T>),
            types: PhantomData,
        };
        let (memory, at) = (&queue.owner.memory, queue.owner.word());
        let mut last = 0;
        let nodes: Vec<&[T]> = match elements {
            [] => vec![&[]],
            elements => elements.chunks(1 << log2).collect(),
        };
        for elements in nodes {
            let mut words = vec![0; HEADER];
            words[PUSHED] = elements.len() as u32;
            for index in 0..1 << log2 {
                let element = elements.get(index);
                words.push(element.map_or(0, |_| FULL));
                words.extend(words_of(element));
            }
            let node = memory.block_with(node_layout::<T>(log2), &words)?;
            if last == 0 {
                memory.write(at + FIRST, &[node])?;
                memory.write(at + HEAD, &[node])?;
            } else {
                memory.write(word_of(last) + NEXT, &[node])?;
            }
            last = node;
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
        let slots = 1 << log2_at(memory, at)?;
        let mut elements = Vec::new();
        for (node, _) in nodes::<T>(memory, at, memory.word(at + HEAD)?)? {
            let first = word_of(node);
            let pushed = memory.word(first + PUSHED)?.min(slots);
            for index in memory.word(first + POPPED)?..pushed {
                let slot = slot::<T>(first, index);
                if memory.word(slot)? == FULL {
                    elements.push(memory.read::<T>(slot + 1, 1)?[0]);
                }
            }
        }
        Ok(elements)
    }
}

fn log2_at(memory: &Memory, at: usize) -> Result<u32, DeviceError> {
    let log2 = memory.word(at + LOG2)?;
    if log2 > 24 {
        return Err(memory.broken("a queue's nodes have no size"));
    }
    Ok(log2)
}

/// The nodes from `node` on of the queue at word `at`.
fn nodes<T: HeapData + Copy>(
    memory: &Memory,
    at: usize,
    node: u32,
) -> Result<Vec<Block>, DeviceError> {
    let layout = node_layout::<T>(log2_at(memory, at)?);
    memory.chain(node, |at| Ok((layout, memory.word(at + NEXT)?)))
}

fn blocks<T: HeapData + Copy>(memory: &Memory, handle: u32) -> Result<Vec<Block>, DeviceError> {
    let at = word_of(handle);
    let mut blocks = nodes::<T>(memory, at, memory.word(at + FIRST)?)?;
    blocks.push((handle, control_layout()));
    Ok(blocks)
}
