//! What in the metadata cannot be while no lane runs.

use crate::alloc::gallatin::state::{EMPTY, block_in, is_block, segment_blocks};
use crate::alloc::gallatin::{
    Geometry, RUN, RUN_HEAD, UNUSED, WHOLE, back_count, block_count, block_tag, segment_tag,
    tag_for,
};
use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{Audit, DeviceError, HeapReader};

/// A segment: its part of the memory table, whether the segment tree has it, whether the one before it is of a run.
#[derive(Clone, Copy)]
struct Segment<'a> {
    number: u32,
    table: &'a [u32],
    listed: bool,
    in_run: bool,
}

/// See [`HostAlloc::audit`](warpheap_api::host::HostAlloc::audit): segments that are free are those of the segment tree, the blocks
/// of a segment are in its ring or in use, buffers have blocks of their class. The classes' trees are hints, and not looked at.
pub(super) fn audit(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    found: &mut Audit,
) -> Result<(), DeviceError> {
    let geometry = Geometry::new(*params);
    let mut leaves = vec![0u32; geometry.segments.div_ceil(32) as usize];
    heap.read(geometry.segment_tree().first_word(0) as u64, &mut leaves)?;
    let words = geometry.places().words as usize;
    let at_once = ((1 << 16) / words).max(1) as u32;
    let mut tags = Vec::new();
    let mut first = 0;
    while first < geometry.segments {
        let count = (geometry.segments - first).min(at_once);
        let mut part = vec![0u32; count as usize * words];
        heap.read(geometry.state_word(first) as u64, &mut part)?;
        for (number, table) in (first..).zip(part.chunks_exact(words)) {
            let segment = Segment {
                number,
                table,
                listed: leaves[number as usize / 32] >> (number % 32) & 1 == 1,
                in_run: matches!(tags.last(), Some(&(RUN_HEAD | RUN))),
            };
            check(geometry, segment, found);
            tags.push(segment_tag(table[0]));
        }
        first += count;
    }
    check_buffers(geometry, &tags, heap, found)
}

fn check(geometry: Geometry, segment: Segment<'_>, found: &mut Audit) {
    let state = segment.table[0];
    let (tag, blocks) = (segment_tag(state), segment_blocks(state));
    let here = |what: String| format!("Gallatin, segment {}: {what}", segment.number);
    found.expect(segment.listed == (tag == UNUSED), || {
        here(match segment.listed {
            true => format!("the segment tree has it, and its state is {state:#010x}"),
            false => "nobody has it, and the segment tree does not either".into(),
        })
    });
    if tag == UNUSED || tag == RUN_HEAD || tag == RUN {
        found.expect(blocks == 0, || {
            here(format!(
                "it is of no class, and has {blocks} blocks to hand out"
            ))
        });
        found.expect(tag != RUN || segment.in_run, || {
            here("it goes on with a block that does not begin in front of it".into())
        });
    } else if (tag_for(0)..tag_for(geometry.classes())).contains(&tag) {
        check_blocks(geometry, tag - tag_for(0), segment, found);
    } else {
        found.expect(false, || {
            here(format!(
                "nobody can have left it in the state {state:#010x}"
            ))
        });
    }
}

/// A segment of a class: each of its blocks is in the ring or in use.
fn check_blocks(geometry: Geometry, class: u32, segment: Segment<'_>, found: &mut Audit) {
    let here = |what: String| format!("Gallatin, segment {}: {what}", segment.number);
    let places = geometry.places();
    let (blocks, slices) = (1u32 << geometry.blocks_log(class), geometry.slices(class));
    let units_log = geometry.block_log(class) - geometry.unit_log();
    let free = segment_blocks(segment.table[0]);
    let ring = &segment.table[places.counters as usize - (1 << geometry.units_log())..];
    let mut waits = vec![false; blocks as usize];
    // A segment that is one block has no ring.
    let entries = if blocks > 1 {
        &ring[..blocks as usize]
    } else {
        &[]
    };
    for unit in entries
        .iter()
        .filter(|&&entry| entry != 0)
        .map(|entry| entry - 1)
    {
        let block = (unit >> units_log) as usize;
        let fits = block < waits.len() && unit % (1 << units_log) == 0;
        found.expect(fits && !waits[block.min(waits.len() - 1)], || {
            here(format!(
                "its ring has unit {unit} twice, or where no block begins"
            ))
        });
        if fits {
            waits[block] = true;
        }
    }
    let waiting = waits.iter().filter(|&&waits| waits).count();
    found.expect(
        free >= 0 && free as usize == waiting && waiting < blocks as usize,
        || {
            here(format!(
                "it has {free} of {blocks} blocks to hand out, and {waiting} in its ring"
            ))
        },
    );
    let stride = units_log + geometry.counter_stride_log();
    for (block, &waits) in waits.iter().enumerate() {
        let counts = &segment.table[places.counters as usize + (block << stride)..];
        let tag = block_tag(counts[0]);
        let (taken, back) = (block_count(counts[0]).min(slices), back_count(counts[1]));
        if waits {
            found.expect(tag == UNUSED, || {
                here(format!(
                    "block {block} is in its ring, and in use: {:#010x}",
                    counts[0]
                ))
            });
        } else if tag == tag_for(class) {
            found.expect(back <= taken && back < slices, || {
                here(format!(
                    "of block {block} {taken} of {slices} slices were handed out, and {back} are back"
                ))
            });
        } else {
            found.expect(tag == WHOLE, || {
                here(format!(
                    "block {block} is neither in its ring nor in use: {:#010x}",
                    counts[0]
                ))
            });
        }
    }
}

/// The block buffers of all classes. Segments have these tags.
fn check_buffers(
    geometry: Geometry,
    tags: &[u32],
    heap: &mut dyn HeapReader,
    found: &mut Audit,
) -> Result<(), DeviceError> {
    for class in 0..geometry.classes() {
        let first = geometry.buffers_before(class);
        for buffer in first..first + (1 << geometry.buffers_log(class)) {
            let mut word = [0];
            heap.read(geometry.buffer_word(buffer) as u64, &mut word)?;
            let [word] = word;
            let segment = geometry.segment_of_block(block_in(word)) as usize;
            let fits = is_block(word) && tags.get(segment) == Some(&tag_for(class));
            found.expect(word == EMPTY || fits, || {
                format!(
                    "Gallatin, buffer {} of slices of {} bytes: {word:#x} is no block of this class",
                    buffer - first,
                    16u64 << class
                )
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::Gallatin;
    use crate::alloc::gallatin::state::{BUSY, holds, none_back, pack};
    use crate::host::GallatinConfig;
    use crate::host::planted::{Planted, each_is_told};
    use warpheap_api::host::HostAlloc;

    /// A heap in which segment 2 has one block of slices of 16 bytes in use and one as a whole, and 4 and 5 are a run.
    fn heap() -> (Planted, Geometry) {
        let plan = Gallatin::plan(64 << 20, &GallatinConfig::default()).unwrap();
        let geometry = Geometry::new(plan.params);
        let mut heap = Planted::new(&plan);
        let blocks = 1u32 << geometry.blocks_log(0);
        assert!(blocks > 2);
        let unit = 2 << geometry.units_log();
        let leaf = geometry.segment_tree().first_word(0) as usize;
        heap.words[leaf] &= !0b11_0100;
        heap.words[geometry.state_word(2)] = pack(tag_for(0), blocks - 2);
        for block in 2..blocks {
            heap.words[geometry.ring_word(2) + block as usize] = block + 1;
        }
        heap.words[geometry.taken_word(unit)] = pack(tag_for(0), 7);
        heap.words[geometry.back_word(unit)] = none_back(0) + 3;
        heap.words[geometry.taken_word(unit + 1)] = pack(WHOLE, 0);
        heap.words[geometry.buffer_word(0)] = holds(unit);
        heap.words[geometry.state_word(4)] = pack(RUN_HEAD, 0);
        heap.words[geometry.state_word(5)] = pack(RUN, 0);
        (heap, geometry)
    }

    #[test]
    fn what_cannot_be_is_told_with_its_segment() {
        let geometry = heap().1;
        let blocks = 1 << geometry.blocks_log(0);
        let unit = 2 << geometry.units_log();
        let leaf = geometry.segment_tree().first_word(0) as usize;
        let state = |segment| geometry.state_word(segment);
        let ring = geometry.ring_word(2);
        let changes = [
            (leaf, u32::MAX, "segment 2: the segment tree has it"),
            (leaf + 1, 0, "segment 32: nobody has it"),
            (
                state(2),
                pack(tag_for(0), blocks - 1),
                "blocks to hand out, and",
            ),
            (state(2), pack(tag_for(0), 0), "segment 2: it has 0 of"),
            (state(2), pack(61, 0), "segment 2: nobody can have left it"),
            (
                state(9),
                pack(UNUSED, 1),
                "segment 9: it is of no class, and has 1",
            ),
            (state(4), 0, "segment 5: it goes on with a block"),
            (ring + 2, 4, "segment 2: its ring has unit 3 twice"),
            (ring + 2, 2, "segment 2: block 1 is in its ring, and in use"),
            (ring + 2, 0, "segment 2: block 2 is neither in its ring"),
            (
                geometry.back_word(unit),
                8,
                "7 of 32 slices were handed out, and 8 are back",
            ),
            (
                geometry.buffer_word(0),
                BUSY,
                "buffer 0 of slices of 16 bytes: 0x1 is",
            ),
            (
                geometry.buffer_word(0),
                holds(0),
                "buffer 0 of slices of 16 bytes: 0x3 is",
            ),
        ];
        each_is_told::<Gallatin>(|| heap().0, &changes);
    }
}
