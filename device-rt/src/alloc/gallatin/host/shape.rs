//! Settings of [`Gallatin`], and what follows from them and a pool's size.

use crate::alloc::Gallatin;
use crate::alloc::gallatin::{
    BUFFERS_WORD, Geometry, PARAM_BUFFERS, PARAM_DATA, PARAM_SEGMENTS, PARAM_SIZES, PARAM_TABLE,
    PARAM_TREES,
};
use crate::bits::VebTree;
use warpheap_api::abi::HEAP_PARAMS;
use warpheap_api::host::PlanError;
use warpheap_api::{DeviceAlloc, HeapParams};

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
    /// Block buffers of the smallest slices, a power of two up to 1024; larger slices have half as many each,
    /// in pools of 1 GiB and more from where the blocks of as many would be more than a 64th of the pool.
    /// Default `None`: 128, but no more than hold a 256th of the pool.
    pub buffers: Option<u32>,
    /// Least buffers of a size, a power of two up to `buffers`. Default `None`: 16 from pools of 1 GiB on, 4 in
    /// smaller ones, or a 32nd of the number of segments.
    pub least_buffers: Option<u32>,
}

/// Pools from this size on have 512 segments or more, smaller ones 2048, so that there are enough for all
/// classes.
const LARGE_POOL: u64 = 64 << 20;
/// Pools from this size on have room for more buffers of large blocks than the paper's four.
const MANY_BUFFERS: u64 = 1 << 30;

/// The exponents of a heap's sizes, in granules, and of its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    segment: u32,
    unit: u32,
    largest: u32,
    buffers: u32,
    /// Classes with as many buffers as the next.
    equal: u32,
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
    pub(super) fn shape(&self, bytes: u64) -> Result<Shape, PlanError> {
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
        let most = if bytes >= MANY_BUFFERS { 16 } else { 4 };
        let fewest = Self::log(
            "least_buffers",
            self.least_buffers,
            fit(bytes / segment_bytes / 32, 1, most.min(1 << buffers)),
            1..=1 << buffers,
            "give a power of two up to the number of buffers",
        )?;
        // As long as the blocks of all buffers of a class are no more than a 64th of the pool.
        let equal = match bytes {
            MANY_BUFFERS.. => (bytes / 64 / (unit_bytes << buffers)).max(1).ilog2().min(7),
            _ => 0,
        };
        // Words that many lanes change lie apart where the pool has the room.
        let all = ((equal as u64 + 2) << buffers).max(16 << fewest);
        let buffer_stride = match bytes / 256 / all {
            0..16 => 1,
            16..256 => 2,
            256..4096 => 6,
            _ => 9,
        };
        Ok(Shape {
            segment: segment - 4,
            unit: slices,
            largest: largest - 4,
            buffers,
            equal,
            fewest,
            buffer_stride,
            counter_stride: (unit_bytes / 1024).clamp(2, 64).ilog2(),
        })
    }
}

impl Shape {
    pub(super) fn bytes(&self) -> u64 {
        16 << self.segment
    }

    /// The parameters of a heap of so many segments, and the bytes before the first of them.
    pub(super) fn lay_out(&self, segments: u64) -> (HeapParams, u64) {
        let mut params = [0; HEAP_PARAMS];
        params[PARAM_SEGMENTS] = segments as u32;
        params[PARAM_SIZES] = self.segment | self.unit << 8 | self.largest << 16;
        params[PARAM_BUFFERS] = self.buffers
            | self.equal << 5
            | self.fewest << 8
            | self.buffer_stride << 16
            | self.counter_stride << 24;
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
    pub(super) fn bytes_for(&self, segments: u64) -> u64 {
        self.lay_out(segments).1 + segments * self.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_large_pool_has_the_papers_sizes() {
        let shape = GallatinConfig::default().shape(8 << 30).unwrap();
        let expected = Shape {
            segment: 20,
            unit: 12,
            largest: 11,
            buffers: 7,
            equal: 4,
            fewest: 4,
            buffer_stride: 9,
            counter_stride: 6,
        };
        assert_eq!(shape, expected);
    }
}
