//! What is in use, chunk by chunk.

use super::entries::{self, Entry};
use crate::alloc::warp_heap::{
    Class, FREE, Geometry, RUN, RUN_HEAD, SLAB_CLASSES, UNITS, count_of, is_idle, tag_for, use_of,
};
use warpheap_api::HeapParams;
use warpheap_api::host::{BlockSize, DeviceError, HeapReader, Region, RegionUse, Usage};

/// Goes through all chunks, shows each, and sums up.
pub(super) fn look(
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
    entries::each(geometry, heap, &mut |entry| {
        let region = region_of(geometry, entry);
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
            most_units = most_units.max(longest(!entry.bits[0]));
        }
        show(region);
    })?;
    usage.largest_free_run = Some(most_free.max(most_units as u64 * unit_bytes));
    Ok(usage)
}

/// A chunk, by its state and the places where blocks of units begin. A count may for a moment be more than there is.
fn region_of(geometry: Geometry, entry: Entry<'_>) -> Region {
    let (chunk, state, heads) = (entry.chunk, entry.state, entry.heads);
    let shift = geometry.chunk_shift();
    let (chunk_bytes, unit_bytes) = (16u64 << shift, 16u64 << (shift - 5));
    let (tag, count) = (use_of(state), count_of(state));
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
    use crate::alloc::warp_heap::WarpHeap;
    use crate::alloc::warp_heap::host::WarpHeapConfig;
    use warpheap_api::host::HostAlloc;

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
}
