//! What in the metadata cannot be while no lane runs.

use super::entries::{self, Entry};
use crate::alloc::warp_heap::{
    Class, FREE, Geometry, RUN, RUN_HEAD, SLAB_CLASSES, UNITS, count_of, is_idle, tag_for, use_of,
};
use std::format;
use std::string::String;
use warpheap_api::HeapParams;
use warpheap_api::host::{Audit, DeviceError, HeapReader};

/// What a chunk may go on with that lies in front of another one.
#[derive(Clone, Copy, Default)]
struct Before {
    /// It is one of a run.
    run: bool,
    /// It has units, the last of which is taken.
    units: bool,
}

/// See [`HostAlloc::audit`](warpheap_api::host::HostAlloc::audit): counts are those of the bits, which are those of blocks, and
/// parts of a block lie behind its beginning.
pub(super) fn audit(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    found: &mut Audit,
) -> Result<(), DeviceError> {
    let geometry = Geometry::new(*params);
    let mut before = Before::default();
    entries::each(geometry, heap, &mut |entry| {
        before = check(geometry, entry, before, found);
    })
}

fn check(geometry: Geometry, entry: Entry<'_>, before: Before, found: &mut Audit) -> Before {
    let Entry {
        chunk, state, bits, ..
    } = entry;
    let (tag, count) = (use_of(state), count_of(state));
    let set: u32 = bits.iter().map(|word| word.count_ones()).sum();
    let here = |what: String| format!("WarpHeap, chunk {chunk}: {what}");
    let slab = (tag_for(0)..=tag_for(SLAB_CLASSES - 1)).contains(&tag);
    if state == FREE || is_idle(state) {
        found.expect(set == 0, || {
            here(format!("it is free, and {set} of its bits are set"))
        });
    } else if slab {
        let class = Class::from_index(tag - tag_for(0), geometry.chunk_shift());
        let (blocks, bytes) = (class.blocks(), u64::from(class.granules) * 16);
        found.expect(set == count, || {
            here(format!(
                "{count} blocks of {bytes} bytes are counted, and {set} bits are set"
            ))
        });
        let mut words = (0u32..).zip(bits);
        found.expect(
            words.all(|(at, word)| word & !class.bits_in(at) == 0),
            || here(format!("bits are set behind those of its {blocks} blocks")),
        );
    } else if tag == UNITS {
        check_units(entry, before, set, found);
    } else if tag == RUN_HEAD || tag == RUN {
        found.expect(count == 0 && set == 0, || {
            here(format!(
                "it is one of a block of several, and counts {count} others; {set} bits are set"
            ))
        });
        found.expect(tag == RUN_HEAD || before.run, || {
            here("it goes on with a block that does not begin in front of it".into())
        });
    } else {
        found.expect(false, || {
            here(format!(
                "nobody can have left it in the state {state:#010x}"
            ))
        });
    }
    found.expect(tag == UNITS || entry.heads == 0, || {
        here(format!(
            "it has no units, and blocks of units begin in it: {:#010x}",
            entry.heads
        ))
    });
    Before {
        run: tag == RUN_HEAD || tag == RUN,
        units: tag == UNITS && bits[0] >> 31 == 1,
    }
}

/// A chunk of units, `set` of whose bits are set.
fn check_units(entry: Entry<'_>, before: Before, set: u32, found: &mut Audit) {
    let (count, heads, taken) = (count_of(entry.state), entry.heads, entry.bits[0]);
    let here = |what: String| format!("WarpHeap, chunk {}: {what}", entry.chunk);
    found.expect(set == count && taken.count_ones() == set, || {
        here(format!(
            "{count} units are counted, and {set} bits are set, {} of units",
            taken.count_ones()
        ))
    });
    found.expect(heads & !taken == 0, || {
        here(format!(
            "blocks begin at {heads:#010x}, and the units {taken:#010x} are taken"
        ))
    });
    // The first units of a stretch are of a block that begins there, or of one that goes over the end of the chunk before.
    let stretches = taken & !(taken << 1);
    let continued = u32::from(before.run || before.units);
    found.expect(stretches & !heads & !continued == 0, || {
        here(format!(
            "the units {taken:#010x} are taken, and blocks begin at {heads:#010x} only"
        ))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::warp_heap::WarpHeap;
    use crate::alloc::warp_heap::entry_words;
    use crate::alloc::warp_heap::host::WarpHeapConfig;
    use crate::alloc::warp_heap::state::{LOCKED, pack};
    use crate::host::planted::{Planted, each_is_told};
    use warpheap_api::host::HostAlloc;

    /// A heap in which chunk 3 has blocks, chunks 5 and 6 units, 8 to 10 a run whose end is units.
    fn heap() -> (Planted, Geometry) {
        let plan = WarpHeap::plan(8 << 20, &WarpHeapConfig::default()).unwrap();
        let geometry = Geometry::new(plan.params);
        let mut heap = Planted::new(&plan);
        let mut set = |chunk: u32, state: u32, heads: u32, bits: u32| {
            let at = geometry.state_word(chunk);
            (heap.words[at], heap.words[at + 1]) = (state, heads);
            heap.words[geometry.bits_word(chunk)] = bits;
        };
        set(3, pack(tag_for(4), 5), 0, 0b10_1111);
        set(4, pack(tag_for(7), 0), 0, 0);
        set(5, pack(UNITS, 9), 1 << 2 | 1 << 24, 0xff00_0004);
        set(6, pack(UNITS, 6), 1 << 2, 0b111_111);
        set(8, pack(RUN_HEAD, 0), 0, 0);
        set(9, pack(RUN, 0), 0, 0);
        set(10, pack(UNITS, 3), 0, 0b111);
        (heap, geometry)
    }

    #[test]
    fn a_word_of_an_entry_is_where_it_is_read() {
        let geometry = heap().1;
        assert_eq!(
            entry_words(geometry.chunk_shift()),
            8 + (1 << (geometry.chunk_shift() - 5))
        );
    }

    #[test]
    fn what_cannot_be_is_told_with_its_chunk() {
        let geometry = heap().1;
        let slab = |count| pack(tag_for(4), count);
        // A chunk has fewer blocks of an odd size than its words have bits.
        let class = Class::from_index(4, geometry.chunk_shift());
        let last = 8 + (class.words() - 1) as usize;
        let changes = [
            (
                3,
                0,
                slab(6),
                "chunk 3: 6 blocks of 80 bytes are counted, and 5 bits",
            ),
            (3, 0, FREE, "chunk 3: it is free, and 5 of its bits"),
            (3, 0, slab(0), "chunk 3: it is free, and 5 of its bits"),
            (3, 0, pack(LOCKED, 0), "chunk 3: nobody can have left it"),
            (3, 0, 5, "chunk 3: nobody can have left it"),
            (3, 1, 1, "chunk 3: it has no units, and blocks"),
            (4, 8, 1, "chunk 4: it is free, and 1 of its bits"),
            (
                5,
                0,
                pack(UNITS, 8),
                "chunk 5: 8 units are counted, and 9 bits",
            ),
            (5, 9, 1, "chunk 5: 9 units are counted, and 10 bits"),
            (
                5,
                1,
                1 << 3 | 1 << 24,
                "chunk 5: blocks begin at 0x01000008",
            ),
            (5, 1, 1 << 24, "chunk 5: the units 0xff000004 are taken"),
            (6, 1, 1 << 7, "chunk 6: blocks begin at 0x00000080"),
            (9, 0, FREE, "chunk 10: the units 0x00000007 are taken"),
            (8, 0, FREE, "chunk 9: it goes on with a block"),
            (
                9,
                0,
                pack(RUN, 1),
                "chunk 9: it is one of a block of several",
            ),
            (3, last, 1 << 31, "behind those of its"),
        ];
        let changes = changes
            .map(|(chunk, word, value, part)| (geometry.state_word(chunk) + word, value, part));
        each_is_told::<WarpHeap>(|| heap().0, &changes);
    }
}
