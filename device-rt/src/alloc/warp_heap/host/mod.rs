//! [`WarpHeap`] on the host.

mod audit;
mod entries;
mod look;
mod size;
mod wide;

use crate::alloc::warp_heap::{
    CHUNK_SHIFTS, Geometry, PARAM_CHUNKS, PARAM_CURRENTS, PARAM_DATA, PARAM_DIRECTORY,
    PARAM_ENTRIES, PARAM_ENTRY_WORDS, PARAM_SHIFT, PARAM_SLOTS, Tables, WarpHeap, entry_words,
};
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    Audit, DeviceError, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Refill, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams};

/// Settings of [`WarpHeap`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WarpHeapConfig {
    /// Bytes of a chunk: a power of two from 4 KiB to 256 KiB. An eighth of it is the largest block that
    /// shares its chunk with others of its size class; larger ones take 32nds of a chunk. Default
    /// `None`: the largest of which the pool holds 256.
    pub chunk_bytes: Option<u32>,
}

impl WarpHeapConfig {
    /// Two to this power granules are a chunk, in a pool of so many bytes.
    fn chunk_shift(&self, bytes: u64) -> Result<u32, PlanError> {
        let (least, most) = (*CHUNK_SHIFTS.start(), *CHUNK_SHIFTS.end());
        match self.chunk_bytes {
            None => Ok((bytes / 16 / 256).max(1).ilog2().clamp(least, most)),
            Some(size) => {
                let shift = (size / 16).max(1).ilog2();
                match size.is_power_of_two() && CHUNK_SHIFTS.contains(&shift) {
                    true => Ok(shift),
                    false => Err(PlanError::BadSetting {
                        allocator: WarpHeap::NAME,
                        setting: "chunk_bytes",
                        value: size as u64,
                        why: "give a power of two from 4096 to 262144",
                    }),
                }
            }
        }
    }
}

/// Entries that are read at a time.
const PART: u32 = 256;

/// The chunk behind the tables of a heap of so many chunks: the data begin there.
fn first_chunk(chunks: u32, shift: u32) -> u64 {
    (Tables::new(chunks, shift).end as u64 * 4).div_ceil(16 << shift)
}

/// As many chunks as fit into the room of so many, behind their tables.
fn chunks_in(room: u64, shift: u32) -> u32 {
    // Fewer chunks need smaller tables, so this ends.
    let mut chunks = room;
    while chunks > 0 {
        let needed = first_chunk(chunks as u32, shift) + chunks;
        if needed <= room {
            break;
        }
        chunks = chunks.saturating_sub(needed - room);
    }
    // A shorter directory may have made more room than was missing.
    while first_chunk(chunks as u32 + 1, shift) + chunks < room {
        chunks += 1;
    }
    chunks as u32
}

impl HostAlloc for WarpHeap {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = WarpHeapConfig;

    fn plan(bytes: u64, config: &WarpHeapConfig) -> Result<HeapPlan, PlanError> {
        Self::plan_within(bytes, bytes, config)
    }

    /// Entries and chunks lie where they do in a heap of `most` bytes. The rows' tables in front of them are those of a heap
    /// of as many chunks as there are now: a row has no place without a chunk.
    fn plan_within(bytes: u64, most: u64, config: &WarpHeapConfig) -> Result<HeapPlan, PlanError> {
        let shift = config.chunk_shift(most)?;
        let chunk_bytes = 16u64 << shift;
        let most_chunks = chunks_in(most / chunk_bytes, shift);
        let first = first_chunk(most_chunks.max(1), shift);
        // Where one chunk more would need larger tables, some bytes at the end are nobody's.
        let room = (bytes / chunk_bytes).saturating_sub(first);
        let chunks = room.min(most_chunks as u64) as u32;
        if chunks == 0 || most_chunks == 0 {
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: (first + 1) * chunk_bytes,
            });
        }
        let tables = Tables::new(chunks, shift);
        let entries = Tables::new(most_chunks, shift).entries;
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_DATA] = (first * chunk_bytes / 16) as u32;
        params[PARAM_CHUNKS] = chunks;
        params[PARAM_SHIFT] = shift;
        params[PARAM_ENTRIES] = entries;
        params[PARAM_ENTRY_WORDS] = entry_words(shift);
        params[PARAM_SLOTS] = tables.slots;
        params[PARAM_DIRECTORY] = tables.directory;
        params[PARAM_CURRENTS] = tables.currents;
        Ok(HeapPlan {
            params,
            fills: [size::fresh(&params)].into(),
            metadata_bytes: bytes - chunks as u64 * chunk_bytes,
        })
    }

    fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
        size::refill(from, to)
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        size::end_of_use(params, heap)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        look::look(params, heap, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let unit_bytes = 16 << Geometry::new(*params).chunk_shift();
        HeapMap::of("chunk", unit_bytes, HeapMap::add, |show| {
            look::look(params, heap, show)
        })
    }

    fn audit(
        params: &HeapParams,
        heap: &mut dyn HeapReader,
        found: &mut Audit,
    ) -> Result<(), DeviceError> {
        audit::audit(params, heap, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_size_leaves_room_for_tables_and_chunks() {
        let config = WarpHeapConfig::default();
        let sizes = (1..400u64).map(|i| i * 4096 + i % 256 * 16);
        for bytes in sizes.chain([8 << 20, (8 << 20) + 4096, 1 << 30, 8 << 30, (64 << 30) - 16]) {
            let Ok(plan) = WarpHeap::plan(bytes, &config) else {
                assert!(bytes < 5 * 4096, "{bytes} bytes are enough");
                continue;
            };
            let geometry = Geometry::new(plan.params);
            let chunk = 16u64 << geometry.chunk_shift();
            let tables = Tables::new(geometry.chunks, geometry.chunk_shift());
            let data = geometry.data as u64 * 16;
            assert!(tables.end as u64 * 4 <= data);
            assert!(data + geometry.chunks as u64 * chunk <= bytes);
            assert!(data % chunk == 0, "chunks are aligned");
            let tables_bytes = tables.end as u64 * 4;
            // One chunk more may need a directory of twice the size.
            assert!(
                plan.metadata_bytes <= 2 * tables_bytes + 2 * chunk,
                "{plan:?}"
            );
        }
    }

    #[test]
    fn a_large_pool_has_little_metadata() {
        let plan = WarpHeap::plan(8 << 30, &WarpHeapConfig::default()).unwrap();
        assert!(plan.metadata_bytes * 100 < 8 << 30, "{plan:?}");
    }

    #[test]
    fn settings_out_of_range_are_named() {
        for chunk_bytes in [0, 1, 2048, 5000, 512 << 10] {
            let config = WarpHeapConfig {
                chunk_bytes: Some(chunk_bytes),
            };
            let error = WarpHeap::plan(1 << 24, &config).unwrap_err().to_string();
            assert!(error.contains("chunk_bytes"), "{error}");
        }
    }
}
