//! [`WarpHeap`] on the host.

use crate::alloc::WarpHeap;
use crate::alloc::warp_heap::{
    CHUNK_SHIFTS, Class, FREE, Geometry, PARAM_CHUNKS, PARAM_CURRENTS, PARAM_DATA, PARAM_DIRECTORY,
    PARAM_ENTRIES, PARAM_ENTRY_WORDS, PARAM_SHIFT, PARAM_SLOTS, RUN, RUN_HEAD, SLAB_CLASSES,
    Tables, UNITS, WINDOWS_WORD, count_of, entry_words, is_idle, tag_for, tag_of,
};
use std::vec;
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    BlockSize, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Refill,
    Region, RegionUse, Usage,
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

/// Rows of the tables: one for each size class, and that of units.
const ROWS: u32 = SLAB_CLASSES + 1;

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

/// The first word of a chunk's entry; of the chunk behind the last one the end of the entries.
fn entry(params: &HeapParams, chunk: u32) -> u32 {
    params[PARAM_ENTRIES] + chunk * params[PARAM_ENTRY_WORDS]
}

/// The word behind the tables of rows.
fn end_of_rows(params: &HeapParams) -> u32 {
    params[PARAM_DIRECTORY] + ROWS * params[PARAM_SLOTS]
}

/// From one word to another one zeros.
fn zeros(from: u32, to: u32) -> Fill {
    Fill {
        word: from as u64,
        words: (to - from) as u64,
        value: 0,
    }
}

/// The windows of rows that are as in a fresh heap, but that the last search ended just before this chunk.
fn windows_ended_before(params: &HeapParams, chunk: u32) -> Vec<u32> {
    let geometry = Geometry::new(*params);
    let begin = WINDOWS_WORD as usize;
    let mut words = vec![0; geometry.window_word(ROWS) - begin];
    for row in 0..ROWS {
        words[geometry.ended_word(row) - begin] = chunk + 1;
    }
    words
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
            fills: [zeros(WINDOWS_WORD, entry(&params, chunks))].into(),
            metadata_bytes: bytes - chunks as u64 * chunk_bytes,
        })
    }

    fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
        let (old, new) = (from.params[PARAM_CHUNKS], to.params[PARAM_CHUNKS]);
        if old == new {
            return Refill::default();
        }
        // All that the rows know says where to look and nothing else, but of chunks that may be gone, at places that begin
        // elsewhere now.
        let rows = [&from.params, &to.params].map(end_of_rows);
        let mut fills = vec![zeros(WINDOWS_WORD, rows[0].max(rows[1]))];
        let mut words = Vec::new();
        if old < new {
            fills.push(zeros(entry(&to.params, old), entry(&to.params, new)));
            // There is room where there was none.
            words.push((WINDOWS_WORD as u64, windows_ended_before(&to.params, old)));
        }
        Refill { fills, words }
    }

    fn end_of_use(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<u64, DeviceError> {
        let geometry = Geometry::new(*params);
        let words = params[PARAM_ENTRY_WORDS] as usize;
        let mut part = vec![0u32; PART as usize * words];
        let mut end = geometry.chunks;
        // From the end, some entries at a time. A heap has at least one chunk.
        while end > 1 {
            let begin = end.saturating_sub(PART).max(1);
            let part = &mut part[..(end - begin) as usize * words];
            heap.read(geometry.state_word(begin) as u64, part)?;
            let unused = |entry: &[u32]| (entry[0] == FREE) | is_idle(entry[0]);
            let last = part.chunks_exact(words).rposition(|entry| !unused(entry));
            end = begin;
            if let Some(last) = last {
                end += last as u32 + 1;
                break;
            }
        }
        Ok(geometry.granule_of(end) as u64 * 16)
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        look(params, heap, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let mut regions = Vec::new();
        let usage = look(params, heap, &mut |region| {
            HeapMap::add(&mut regions, region);
        })?;
        Ok(HeapMap {
            unit: "chunk",
            unit_bytes: 16 << Geometry::new(*params).chunk_shift(),
            usage,
            regions,
        })
    }
}

/// Goes through all chunks, shows each, and sums up.
fn look(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    show: &mut dyn FnMut(Region),
) -> Result<Usage, DeviceError> {
    let geometry = Geometry::new(*params);
    let shift = geometry.chunk_shift();
    let (chunk_bytes, unit_bytes) = (16u64 << shift, 16u64 << (shift - 5));
    let mut usage = Usage {
        live_blocks: Some(0),
        ..Usage::default()
    };
    // Bytes side by side without a use, units side by side in a chunk of units.
    let (mut free, mut most_free, mut most_units) = (0, 0, 0);
    let entry = entry_words(shift) as usize;
    let mut part = vec![0u32; PART as usize * entry];
    let mut chunk = 0;
    while chunk < geometry.chunks {
        let count = (geometry.chunks - chunk).min(PART);
        let part = &mut part[..count as usize * entry];
        heap.read(geometry.state_word(chunk) as u64, part)?;
        for (chunk, entry) in (chunk..).zip(part.chunks_exact(entry)) {
            let bits = &entry[entry.len() - (1 << (shift - 5))..];
            let region = region_of(geometry, chunk, entry[0], entry[1]);
            // A chunk that is idle gets another use when that is wanted: nothing is tied to it.
            free = if region.usage.is_free() {
                free + chunk_bytes
            } else {
                0
            };
            most_free = most_free.max(free);
            match region.usage {
                RegionUse::Free | RegionUse::Idle(_) => (),
                RegionUse::Changing => usage.committed_bytes += chunk_bytes,
                other => {
                    let live = region.live_blocks.unwrap_or(0);
                    if let Some(block) = other.block() {
                        usage.add(block, live as u64, region.used_bytes, chunk_bytes);
                    }
                }
            }
            if let RegionUse::Units(_) = region.usage {
                most_units = most_units.max(longest(!bits[0]));
            }
            show(region);
        }
        chunk += count;
    }
    usage.largest_free_run = Some(most_free.max(most_units as u64 * unit_bytes));
    Ok(usage)
}

/// A chunk, by its state and the places where blocks of units begin. A count may for a moment be more than there is.
fn region_of(geometry: Geometry, chunk: u32, state: u32, heads: u32) -> Region {
    let shift = geometry.chunk_shift();
    let (chunk_bytes, unit_bytes) = (16u64 << shift, 16u64 << (shift - 5));
    let (tag, count) = (tag_of(state), count_of(state));
    let slab = (tag_for(0)..=tag_for(SLAB_CLASSES - 1)).contains(&tag);
    let class = Class::from_index(if slab { tag - tag_for(0) } else { 0 }, shift);
    let block_bytes = class.granules as u64 * 16;
    let (usage, places, live, used_bytes) = if state == FREE {
        (RegionUse::Free, 0, 0, 0)
    } else if is_idle(state) {
        let block = match slab {
            true => BlockSize::Bytes(block_bytes),
            false => BlockSize::Parts(unit_bytes),
        };
        (RegionUse::Idle(block), 0, 0, 0)
    } else if tag == RUN_HEAD || tag == RUN {
        let head = (tag == RUN_HEAD) as u32;
        (RegionUse::Run(chunk_bytes), 1, head, chunk_bytes)
    } else if tag == UNITS {
        let used = count.min(32) as u64 * unit_bytes;
        (RegionUse::Units(unit_bytes), 32, heads.count_ones(), used)
    } else if slab {
        let live = count.min(class.blocks());
        let used = live as u64 * block_bytes;
        (RegionUse::Slab(block_bytes), class.blocks(), live, used)
    } else {
        // Somebody is about to give it a use.
        (RegionUse::Changing, 0, 0, 0)
    };
    Region {
        offset: geometry.granule_of(chunk) as u64 * 16,
        bytes: chunk_bytes,
        usage,
        units: 1,
        places,
        live_blocks: Some(live),
        used_bytes,
    }
}

/// The number of set bits side by side.
fn longest(bits: u32) -> u32 {
    let mut left = bits;
    let mut length = 0;
    while left != 0 {
        left &= left >> 1;
        length += 1;
    }
    length
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

    /// Sets words that held anything before as a pool does.
    fn set(words: &mut [u32], refill: Refill) {
        for fill in refill.fills {
            words[fill.word as usize..][..fill.words as usize].fill(fill.value);
        }
        for (word, values) in refill.words {
            words[word as usize..][..values.len()].copy_from_slice(&values);
        }
    }

    #[test]
    fn a_heap_of_another_size_has_the_metadata_of_a_fresh_one() {
        // With two chunks more, and larger tables for one of them, there would be a place for neither.
        let (most, config) = ((64 << 20) + (9 << 18), WarpHeapConfig::default());
        let plan = |bytes| WarpHeap::plan_within(bytes, most, &config).unwrap();
        let whole = WarpHeap::plan(most, &config).unwrap();
        let end = entry(&whole.params, whole.params[PARAM_CHUNKS]) as usize;
        let sizes = [3, 4, 5, 9, 33, 64, 40, 4, 64, 3].map(|mib| plan(mib << 20));
        let noise = |words: &mut [u32]| words.fill(0x2900_0001);
        let mut words = vec![0; end];
        noise(&mut words);
        let fills = sizes[0].fills.clone();
        set(
            &mut words,
            Refill {
                fills,
                words: Vec::new(),
            },
        );
        for pair in sizes.windows(2) {
            let (from, to) = (&pair[0], &pair[1]);
            for at in [PARAM_DATA, PARAM_SHIFT, PARAM_ENTRIES, PARAM_ENTRY_WORDS] {
                assert_eq!(to.params[at], whole.params[at], "a free needs it");
            }
            let (old, new) = (from.params[PARAM_CHUNKS], to.params[PARAM_CHUNKS]);
            // What the rows knew, and what is in the chunks that stay.
            let rows = WINDOWS_WORD as usize..end_of_rows(&from.params) as usize;
            assert!(rows.end <= from.params[PARAM_ENTRIES] as usize);
            noise(&mut words[rows]);
            let kept = entry(&to.params, 0) as usize..entry(&to.params, old.min(new)) as usize;
            noise(&mut words[kept.clone()]);
            set(&mut words, WarpHeap::refill(from, to));
            assert!(words[kept].iter().all(|&word| word == 0x2900_0001));
            let geometry = Geometry::new(to.params);
            for row in 0..ROWS {
                let ended = &mut words[geometry.ended_word(row)];
                assert_eq!(std::mem::take(ended), if old < new { old + 1 } else { 0 });
            }
            let rows = WINDOWS_WORD as usize..end_of_rows(&to.params) as usize;
            assert!(words[rows].iter().all(|&word| word == 0));
            let added = entry(&to.params, old.min(new)) as usize..entry(&to.params, new) as usize;
            assert!(words[added].iter().all(|&word| word == 0), "{old} to {new}");
        }
    }

    #[test]
    fn a_large_pool_has_little_metadata() {
        let plan = WarpHeap::plan(8 << 30, &WarpHeapConfig::default()).unwrap();
        assert!(plan.metadata_bytes * 100 < 8 << 30, "{plan:?}");
    }

    #[test]
    fn bits_side_by_side_are_counted() {
        for (bits, length) in [(0, 0), (u32::MAX, 32), (0b1011_1011, 3), (1 << 31, 1)] {
            assert_eq!(longest(bits), length, "{bits:#b}");
        }
    }

    #[test]
    fn whatever_the_words_hold_usage_is_within_the_pool() {
        struct Noise(u32);
        impl HeapReader for Noise {
            fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
                for (at, word) in (first as u32..).zip(words) {
                    let mixed = (at ^ self.0).wrapping_mul(0x9e37_79b9);
                    *word = mixed ^ mixed.rotate_left(self.0 % 32);
                }
                Ok(())
            }
        }
        let bytes = 8 << 20;
        let plan = WarpHeap::plan(bytes, &WarpHeapConfig::default()).unwrap();
        let room = bytes - plan.metadata_bytes;
        for seed in 0..100 {
            let usage = WarpHeap::usage(&plan.params, &mut Noise(seed)).unwrap();
            assert!(usage.used_bytes <= usage.committed_bytes, "{usage:?}");
            assert!(usage.committed_bytes <= room, "{usage:?}");
            assert!(usage.largest_free_run <= Some(room), "{usage:?}");
        }
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
