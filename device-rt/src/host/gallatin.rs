//! [`Gallatin`] on the host.

use crate::alloc::Gallatin;
use crate::alloc::gallatin::{
    BUFFERS_WORD, Geometry, PARAM_BUFFERS, PARAM_DATA, PARAM_SEGMENTS, PARAM_SIZES, PARAM_TABLE,
    PARAM_TREES, RUN, RUN_HEAD, UNUSED, WHOLE, block_count, block_tag, segment_tag, tag_for,
};
use crate::bits::VebTree;
use std::vec;
use std::vec::Vec;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::{
    BlockSize, DeviceError, Fill, HeapPlan, HeapReader, HostAlloc, PlanError, Usage,
};
use warpheap_api::{DeviceAlloc, HeapParams, header};

/// Settings of [`Gallatin`]. Defaults are the paper's for pools from 8 GiB on; smaller ones have
/// everything in proportion. The largest slice alone is larger: half the smallest block, so that no
/// request takes more than twice its size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GallatinConfig {
    /// Bytes of a segment: a power of two from 1 KiB to 64 MiB. Default `None`: 16 MiB, or the largest size
    /// of which the pool holds 512; 2048 if it is smaller than 64 MiB, but 1 KiB at least, and then a pool
    /// must hold 64.
    pub segment_bytes: Option<u32>,
    /// Slices of a block that is smaller than a segment: a power of two from 16 to 4096. Default `None`:
    /// as many as make 256 of the smallest blocks a segment (4096 in one of 16 MiB), 16 at least.
    pub slices: Option<u32>,
    /// Bytes of the largest slice, a power of two up to 64 KiB and the segment's size; larger requests take
    /// blocks, whose sizes must be those of classes: `segment_bytes / slices` or more. Default `None`:
    /// half the smallest block (32 KiB in segments of 16 MiB), or what blocks need.
    pub largest_slice: Option<u32>,
    /// Block buffers of the smallest slices, a power of two up to 1024; larger slices have half as many each.
    /// Default `None`: 128, but no more than hold a 256th of the pool.
    pub buffers: Option<u32>,
    /// Least buffers of a size, a power of two up to `buffers`. Default `None`: 4, or a 32nd of the number of
    /// segments.
    pub least_buffers: Option<u32>,
}

/// Least segments of a pool that chooses their size itself.
const LEAST_SEGMENTS: u64 = 64;
/// Pools from this size on have 512 segments or more, smaller ones 2048, so that there are enough for all
/// classes.
const LARGE_POOL: u64 = 64 << 20;

/// The exponents of a heap's sizes, in granules, and of its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    segment: u32,
    unit: u32,
    largest: u32,
    buffers: u32,
    fewest: u32,
    /// Of the words between buffers.
    buffer_stride: u32,
    /// Of the words between the counters of units.
    counter_stride: u32,
}

impl GallatinConfig {
    /// The exponent of a setting, or of its default.
    fn log(
        setting: &'static str,
        given: Option<u32>,
        default: u64,
        range: std::ops::RangeInclusive<u64>,
        why: &'static str,
    ) -> Result<u32, PlanError> {
        let value = given.map_or(default, u64::from);
        if value.is_power_of_two() && range.contains(&value) {
            return Ok(value.ilog2());
        }
        Err(PlanError::BadSetting {
            allocator: Gallatin::NAME,
            setting,
            value,
            why,
        })
    }

    /// The shape of a heap in a pool of so many bytes.
    fn shape(&self, bytes: u64) -> Result<Shape, PlanError> {
        let fit = |value: u64, least: u64, most: u64| 1 << value.clamp(least, most).ilog2();
        let segments = match bytes {
            LARGE_POOL.. => 512,
            _ => 2048,
        };
        let segment = Self::log(
            "segment_bytes",
            self.segment_bytes,
            fit(bytes / segments, 1 << 10, 16 << 20),
            1 << 10..=64 << 20,
            "give a power of two from 1 KiB to 64 MiB",
        )?;
        let segment_bytes = 1u64 << segment;
        let slices = Self::log(
            "slices",
            self.slices,
            (segment_bytes / 256 / 16).clamp(16, 4096),
            16..=(segment_bytes / 16).min(4096),
            "give a power of two from 16 to 4096, of which 16 bytes each fit a segment",
        )?;
        let largest = Self::log(
            "largest_slice",
            self.largest_slice,
            (segment_bytes >> slices).max(8 << slices).min(64 << 10),
            segment_bytes >> slices..=segment_bytes.min(64 << 10),
            "give a power of two from segment_bytes / slices up to 64 KiB and the size of a segment",
        )?;
        let unit_bytes = 16u64 << slices;
        let buffers = Self::log(
            "buffers",
            self.buffers,
            fit(bytes / 256 / unit_bytes, 1, 128),
            1..=1024,
            "give a power of two up to 1024",
        )?;
        let fewest = Self::log(
            "least_buffers",
            self.least_buffers,
            fit(bytes / segment_bytes / 32, 1, 4.min(1 << buffers)),
            1..=1 << buffers,
            "give a power of two up to the number of buffers",
        )?;
        // Words that many lanes change lie apart where the pool has the room.
        let all = 2u64 << buffers.max(fewest + 3);
        let buffer_stride = match bytes / 256 / all {
            0..16 => 0,
            16..256 => 2,
            _ => 6,
        };
        Ok(Shape {
            segment: segment - 4,
            unit: slices,
            largest: largest - 4,
            buffers,
            fewest,
            buffer_stride,
            counter_stride: (unit_bytes / 1024).clamp(2, 64).ilog2(),
        })
    }
}

impl Shape {
    fn bytes(&self) -> u64 {
        16 << self.segment
    }

    /// The parameters of a heap of so many segments, and the bytes before the first of them.
    fn lay_out(&self, segments: u64) -> (HeapParams, u64) {
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_SEGMENTS] = segments as u32;
        params[PARAM_SIZES] = self.segment | self.unit << 8 | self.largest << 16;
        params[PARAM_BUFFERS] =
            self.buffers | self.fewest << 8 | self.buffer_stride << 16 | self.counter_stride << 24;
        let geometry = Geometry::new(params);
        let classes = geometry.classes();
        let buffers = geometry.buffers_before(classes);
        let trees = BUFFERS_WORD + (buffers << self.buffer_stride);
        // Whole sectors, so that each segment's words begin one.
        let table = trees + (classes + 1) * VebTree::words(segments as u32);
        let table = table.next_multiple_of(8);
        params[PARAM_TREES] = trees;
        params[PARAM_TABLE] = table;
        let end = table as u64 + segments * geometry.places().words as u64;
        let data = (end * 4).next_multiple_of(self.bytes().min(64 << 10));
        params[PARAM_DATA] = (data / 16) as u32;
        (params, data)
    }

    /// The bytes of a pool of so many segments.
    fn bytes_for(&self, segments: u64) -> u64 {
        self.lay_out(segments).1 + segments * self.bytes()
    }
}

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
    const KIND: u32 = 20;
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
            for table in part.chunks_exact(words) {
                let tag = segment_tag(table[0]);
                let before = usage.committed_bytes;
                if (RUN_HEAD..=RUN).contains(&tag) {
                    let head = (tag == RUN_HEAD) as u64;
                    let block = BlockSize::Parts(segment_bytes);
                    usage.add(block, head, segment_bytes, segment_bytes);
                } else if (tag_for(0)..tag_for(geometry.classes())).contains(&tag) {
                    add_blocks(&mut usage, geometry, tag - tag_for(0), table);
                } else if tag != UNUSED {
                    // Somebody is about to change it.
                    usage.committed_bytes += segment_bytes;
                }
                // A segment of blocks that nobody uses is free as soon as it is needed.
                let unused = usage.committed_bytes == before;
                free = if unused { free + 1 } else { 0 };
                most_free = most_free.max(free);
            }
            segment += count;
        }
        usage.largest_free_run = Some(most_free * segment_bytes);
        Ok(usage)
    }
}

/// Adds what is in use of a segment of a class, and the segment itself if anything is.
fn add_blocks(usage: &mut Usage, geometry: Geometry, class: u32, table: &[u32]) {
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
            live += taken.saturating_sub(counts[1]) as u64;
        }
    }
    let segment_bytes = 16u64 << geometry.segment_log();
    if live > 0 {
        let used = live * slice_bytes;
        usage.add(BlockSize::Bytes(slice_bytes), live, used, segment_bytes);
    }
    if whole > 0 {
        let committed = if live > 0 { 0 } else { segment_bytes };
        let used = whole * block_bytes;
        usage.add(BlockSize::Parts(block_bytes), whole, used, committed);
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
    fn a_large_pool_has_the_papers_sizes() {
        let shape = GallatinConfig::default().shape(8 << 30).unwrap();
        let expected = Shape {
            segment: 20,
            unit: 12,
            largest: 11,
            buffers: 7,
            fewest: 2,
            buffer_stride: 6,
            counter_stride: 6,
        };
        assert_eq!(shape, expected);
    }

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
