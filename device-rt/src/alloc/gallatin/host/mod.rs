//! [`Gallatin`] on the host.

mod audit;
mod shape;
mod usage;

use crate::alloc::Gallatin;
use crate::alloc::gallatin::Geometry;
use crate::bits::VebTree;
use std::vec;
use std::vec::Vec;
use warpheap_allocators::kind_of;
use warpheap_api::host::{
    Audit, DeviceError, Fill, HeapMap, HeapPlan, HeapReader, HostAlloc, PlanError, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams, header};

pub use shape::GallatinConfig;

/// Least segments of a pool that chooses their size itself.
const LEAST_SEGMENTS: u64 = 64;
/// The words of the full tree: each level has its bits set.
fn full(tree: VebTree, fills: &mut Vec<Fill>) {
    for level in 0..tree.levels() {
        let (first, bits) = (tree.first_word(level) as u64, tree.bits(level));
        let fill = |word, words, value| Fill { word, words, value };
        let whole = (bits / 32) as u64;
        if whole > 0 {
            fills.push(fill(first, whole, u32::MAX));
        }
        if bits % 32 > 0 {
            fills.push(fill(first + whole, 1, (1 << (bits % 32)) - 1));
        }
    }
}

impl HostAlloc for Gallatin {
    const KIND: u32 = kind_of(Self::NAME);
    type Config = GallatinConfig;

    fn plan(bytes: u64, config: &GallatinConfig) -> Result<HeapPlan, PlanError> {
        let shape = config.shape(bytes)?;
        let least = match config.segment_bytes {
            None => LEAST_SEGMENTS,
            Some(_) => 1,
        };
        let room = bytes / shape.bytes();
        if room > VebTree::MOST as u64 {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "segment_bytes",
                value: shape.bytes(),
                why: "the pool has room for more than 1048576 segments: give a larger size",
            });
        }
        // Fewer segments need smaller tables, so this ends.
        let mut segments = room;
        while segments > 0 && shape.bytes_for(segments) > bytes {
            let missing = shape.bytes_for(segments) - bytes;
            segments = segments.saturating_sub((missing / shape.bytes()).max(1));
        }
        while segments > 0 && shape.bytes_for(segments + 1) <= bytes {
            segments += 1;
        }
        if segments < least {
            // What a pool of that size has room for may be more than this one's.
            let (mut enough, mut needed) = (bytes, shape.bytes_for(least));
            while needed > enough {
                enough = needed;
                needed = config.shape(enough)?.bytes_for(least);
            }
            return Err(PlanError::TooSmall {
                allocator: Self::NAME,
                bytes,
                least: enough,
            });
        }
        let (params, data) = shape.lay_out(segments);
        let geometry = Geometry::new(params);
        let mut fills = vec![Fill {
            word: header::HEADER_WORDS as u64,
            words: data / 4 - header::HEADER_WORDS as u64,
            value: 0,
        }];
        full(geometry.segment_tree(), &mut fills);
        Ok(HeapPlan {
            params,
            fills,
            metadata_bytes: bytes - segments * shape.bytes(),
        })
    }

    fn usage(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<Usage, DeviceError> {
        usage::usage(params, heap, &mut |_| ())
    }

    fn map(params: &HeapParams, heap: &mut dyn HeapReader) -> Result<HeapMap, DeviceError> {
        let unit_bytes = 16 << Geometry::new(*params).segment_log();
        HeapMap::of("segment", unit_bytes, HeapMap::add, |show| {
            usage::usage(params, heap, show)
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
    use crate::alloc::gallatin::MOST_CLASSES;

    #[test]
    fn every_size_leaves_room_for_tables_and_segments() {
        let config = GallatinConfig::default();
        let sizes = (1..400u64).map(|i| i * 4096 + i % 256 * 16);
        for bytes in sizes.chain([8 << 20, (8 << 20) + 4096, 1 << 30, 8 << 30, (64 << 30) - 16]) {
            let plan = match Gallatin::plan(bytes, &config) {
                Ok(plan) => plan,
                Err(PlanError::TooSmall { least, .. }) => {
                    assert!(bytes < least && least < 80 << 10, "{bytes}: {least}");
                    assert!(Gallatin::plan(least, &config).is_ok());
                    assert!(Gallatin::plan(least - 16, &config).is_err());
                    continue;
                }
                Err(error) => panic!("{error}"),
            };
            let geometry = Geometry::new(plan.params);
            let end = geometry.state_word(geometry.segments) as u64 * 4;
            let data = geometry.data as u64 * 16;
            let segment = 16u64 << geometry.segment_log();
            assert!(end <= data);
            assert_eq!(data % segment.min(64 << 10), 0, "segments are aligned");
            assert!(data + geometry.segments as u64 * segment <= bytes);
            assert!(geometry.classes() <= MOST_CLASSES);
            assert!(
                plan.metadata_bytes <= end + 2 * segment + (64 << 10),
                "{plan:?}"
            );
            // A share that falls with the size of the pool.
            let share = if bytes < 64 << 20 { 14 } else { 40 };
            assert!(bytes < 1 << 20 || end * share <= bytes, "{bytes}: {end}");
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let set = |change: fn(&mut GallatinConfig)| {
            let mut config = GallatinConfig::default();
            change(&mut config);
            Gallatin::plan(1 << 28, &config).map_err(|error| error.to_string())
        };
        for (change, name) in [
            (
                (|c| c.segment_bytes = Some(5000)) as fn(&mut GallatinConfig),
                "segment_bytes",
            ),
            (|c| c.segment_bytes = Some(512), "segment_bytes"),
            (|c| c.slices = Some(8), "slices"),
            (|c| c.slices = Some(8192), "slices"),
            (|c| c.largest_slice = Some(128 << 10), "largest_slice"),
            (|c| c.largest_slice = Some(1024), "largest_slice"),
            (|c| c.buffers = Some(2048), "buffers"),
            (|c| c.buffers = Some(0), "buffers"),
            (|c| c.least_buffers = Some(256), "least_buffers"),
        ] {
            let error = set(change).expect_err(name);
            assert!(error.contains(name), "{error}");
        }
        assert!(set(|c| c.largest_slice = Some(8192)).is_ok());
    }
}
