//! The entries of all chunks, read some at a time.

use super::PART;
use crate::alloc::warp_heap::{Geometry, entry_words};
use std::vec;
use warpheap_api::host::{DeviceError, HeapReader};

/// What the metadata have of one chunk.
#[derive(Clone, Copy)]
pub(super) struct Entry<'a> {
    /// Number of the chunk.
    pub chunk: u32,
    /// Its use and count.
    pub state: u32,
    /// In a chunk of units a bit for each place where a block begins.
    pub heads: u32,
    /// A bit for each granule at most: whether a block is taken.
    pub bits: &'a [u32],
}

/// Shows the entries of a heap in their order.
pub(super) fn each(
    geometry: Geometry,
    heap: &mut dyn HeapReader,
    show: &mut dyn FnMut(Entry<'_>),
) -> Result<(), DeviceError> {
    let shift = geometry.chunk_shift();
    let words = entry_words(shift) as usize;
    let mut part = vec![0u32; PART as usize * words];
    let mut chunk = 0;
    while chunk < geometry.chunks {
        let count = (geometry.chunks - chunk).min(PART);
        let part = &mut part[..count as usize * words];
        heap.read(geometry.state_word(chunk) as u64, part)?;
        for (chunk, entry) in (chunk..).zip(part.chunks_exact(words)) {
            show(Entry {
                chunk,
                state: entry[0],
                heads: entry[1],
                bits: &entry[words - (1 << (shift - 5))..],
            });
        }
        chunk += count;
    }
    Ok(())
}
