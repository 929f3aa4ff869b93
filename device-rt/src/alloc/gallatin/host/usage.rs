//! What the memory table says of a heap.

use crate::alloc::gallatin::{
    Geometry, RUN, RUN_HEAD, UNUSED, WHOLE, back_count, block_count, block_tag, segment_tag,
    tag_for,
};
use std::vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{BlockSize, DeviceError, HeapReader, Region, RegionUse, Usage};

/// What is in use of a heap with these parameters; each segment is shown.
pub(super) fn usage(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    show: &mut dyn FnMut(Region),
) -> Result<Usage, DeviceError> {
    let geometry = Geometry::new(*params);
    let segment_bytes = 16u64 << geometry.segment_log();
    let mut usage = Usage {
        live_blocks: Some(0),
        ..Usage::default()
    };
    let words = geometry.places().words as usize;
    // Some segments at a time.
    let at_once = ((1 << 16) / words).max(1) as u32;
    let mut part = vec![0u32; at_once as usize * words];
    let (mut free, mut most_free) = (0, 0);
    let mut segment = 0;
    while segment < geometry.segments {
        let count = (geometry.segments - segment).min(at_once);
        let part = &mut part[..count as usize * words];
        heap.read(geometry.state_word(segment) as u64, part)?;
        for (segment, table) in (segment as u64..).zip(part.chunks_exact(words)) {
            let tag = segment_tag(table[0]);
            let mut region = Region {
                offset: geometry.data as u64 * 16 + segment * segment_bytes,
                bytes: segment_bytes,
                usage: RegionUse::Free,
                units: 1,
                places: 0,
                live_blocks: Some(0),
                used_bytes: 0,
            };
            if (RUN_HEAD..=RUN).contains(&tag) {
                let head = tag == RUN_HEAD;
                let block = BlockSize::Parts(segment_bytes);
                usage.add(block, head as u64, segment_bytes, segment_bytes);
                region.usage = RegionUse::Run(segment_bytes);
                (region.places, region.live_blocks) = (1, Some(head as u32));
                region.used_bytes = segment_bytes;
            } else if (tag_for(0)..tag_for(geometry.classes())).contains(&tag) {
                add_blocks(&mut usage, geometry, tag - tag_for(0), table, &mut region);
            } else if tag != UNUSED {
                // Somebody is about to change it.
                usage.committed_bytes += segment_bytes;
                region.usage = RegionUse::Changing;
            }
            // A segment of blocks that nobody uses is free as soon as it is needed.
            free = if region.usage.is_free() { free + 1 } else { 0 };
            most_free = most_free.max(free);
            show(region);
        }
        segment += count;
    }
    usage.largest_free_run = Some(most_free * segment_bytes);
    Ok(usage)
}

/// Adds what is in use of a segment of a class, and the segment itself if anything is. Its part of the map has blocks that are
/// handed out as a whole as so many bytes of its slices.
fn add_blocks(
    usage: &mut Usage,
    geometry: Geometry,
    class: u32,
    table: &[u32],
    region: &mut Region,
) {
    let (slice_bytes, block_bytes) = (16u64 << class, 16u64 << geometry.block_log(class));
    let slices = geometry.slices(class);
    let (mut live, mut whole) = (0u64, 0u64);
    let counters = &table[geometry.places().counters as usize..];
    let stride =
        1 << (geometry.counter_stride_log() + geometry.block_log(class) - geometry.unit_log());
    for counts in counters
        .chunks(stride)
        .take(1 << geometry.blocks_log(class))
    {
        let tag = block_tag(counts[0]);
        if tag == WHOLE {
            whole += 1;
        } else if tag == tag_for(class) {
            let taken = block_count(counts[0]).min(slices);
            live += taken.saturating_sub(back_count(counts[1])) as u64;
        }
    }
    let segment_bytes = region.bytes;
    let (slice_used, whole_used) = (live * slice_bytes, whole * block_bytes);
    if live > 0 {
        let block = BlockSize::Bytes(slice_bytes);
        usage.add(block, live, slice_used, segment_bytes);
    }
    if whole > 0 {
        let committed = if live > 0 { 0 } else { segment_bytes };
        usage.add(BlockSize::Parts(block_bytes), whole, whole_used, committed);
    }
    let (part, use_of): (u64, fn(u64) -> RegionUse) = match live {
        0 => (block_bytes, RegionUse::Units),
        _ => (slice_bytes, RegionUse::Slab),
    };
    if live + whole > 0 {
        region.usage = use_of(part);
        region.places = (segment_bytes / part) as u32;
    } else {
        region.usage = RegionUse::Idle(BlockSize::Bytes(slice_bytes));
    }
    region.live_blocks = Some((live + whole) as u32);
    region.used_bytes = slice_used + whole_used;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::Gallatin;
    use crate::host::GallatinConfig;
    use warpheap_api::host::HostAlloc;

    #[test]
    fn whatever_the_words_hold_usage_is_within_the_pool() {
        struct Noise(u32);
        impl HeapReader for Noise {
            fn read(&mut self, first: u64, words: &mut [u32]) -> Result<(), DeviceError> {
                for (at, word) in (first as u32..).zip(words) {
                    let mixed = (at ^ self.0).wrapping_mul(0x9e37_79b9);
                    // Tags that mean something, as well as any.
                    let masks = [u32::MAX, 0x0fff_ffff, 0x07ff_00ff, 0x4fff_ffff];
                    *word = (mixed ^ mixed.rotate_left(self.0 % 32)) & masks[self.0 as usize % 4];
                }
                Ok(())
            }
        }
        for bytes in [200 << 10, 8 << 20] {
            let plan = Gallatin::plan(bytes, &GallatinConfig::default()).unwrap();
            let room = bytes - plan.metadata_bytes;
            for seed in 0..100 {
                let usage = Gallatin::usage(&plan.params, &mut Noise(seed)).unwrap();
                assert!(usage.used_bytes <= usage.committed_bytes, "{usage:?}");
                assert!(usage.committed_bytes <= room, "{usage:?}");
                assert!(usage.largest_free_run <= Some(room), "{usage:?}");
            }
        }
    }
}
