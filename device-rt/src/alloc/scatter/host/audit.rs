//! What in the metadata cannot be while no lane runs.

use crate::alloc::scatter::geometry::Geometry;
use crate::alloc::scatter::state::{MULTI_HEAD, MULTI_TAIL};
use crate::alloc::scatter::{chunk_of, count_of, is_multi};
use std::format;
use std::string::String;
use std::vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{Audit, DeviceError, HeapReader};

/// Pages that are read at a time: whole regions.
const PART: u32 = 4096;

/// A page: its word, its bits, and those of its second level.
#[derive(Clone, Copy)]
struct Page<'a> {
    number: u32,
    state: u32,
    bits: u32,
    second: &'a [u32],
}

/// See [`HostAlloc::audit`](warpheap_api::host::HostAlloc::audit): counts are those of the bits, runs are whole, regions count their
/// full pages. Marks of words that are full are hints, and not looked at.
pub(super) fn audit(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    found: &mut Audit,
) -> Result<(), DeviceError> {
    let geometry = Geometry::new(*params);
    let of_page = geometry.page_granules() / 32;
    let region_pages = geometry.region_pages();
    let mut in_run = false;
    let mut first = 0;
    while first < geometry.pages {
        let count = (geometry.pages - first).min(PART);
        let mut table = vec![0u32; 2 * count as usize];
        let mut second = vec![0u32; (of_page * count) as usize];
        let mut regions = vec![0u32; count.div_ceil(region_pages) as usize];
        heap.read(geometry.state_word(first) as u64, &mut table)?;
        heap.read(geometry.second_word(first) as u64, &mut second)?;
        heap.read(geometry.region_word(first) as u64, &mut regions)?;
        let pages = table
            .chunks_exact(2)
            .zip(second.chunks_exact(of_page as usize));
        for (number, (entry, second)) in (first..).zip(pages) {
            let page = Page {
                number,
                state: entry[0],
                bits: entry[1],
                second,
            };
            check(geometry, page, in_run, found);
            in_run = is_multi(entry[0]);
        }
        for (at, (counted, table)) in
            (0..).zip(regions.iter().zip(table.chunks(2 * region_pages as usize)))
        {
            let full = table.chunks_exact(2);
            let full = full.filter(|entry| geometry.is_full(entry[0])).count();
            found.expect(*counted as usize == full, || {
                let region = first / region_pages + at;
                format!(
                    "ScatterAlloc, region {region}: {} full pages are counted, and {full} are full",
                    *counted as i32
                )
            });
        }
        first += count;
    }
    Ok(())
}

fn check(geometry: Geometry, page: Page<'_>, in_run: bool, found: &mut Audit) {
    let (chunk, count) = (chunk_of(page.state), count_of(page.state));
    let here = |what: String| format!("ScatterAlloc, page {}: {what}", page.number);
    if is_multi(page.state) {
        found.expect(count == 0, || {
            here(format!("it is one of a run, and counts {count} chunks"))
        });
        found.expect(chunk != MULTI_TAIL || in_run, || {
            here("it goes on with a run that does not begin in front of it".into())
        });
        debug_assert!(chunk == MULTI_HEAD || chunk == MULTI_TAIL);
        return;
    }
    if chunk == 0 {
        found.expect(count == 0, || {
            here(format!("it is not split, and counts {count} chunks"))
        });
        return;
    }
    if chunk > geometry.page_granules() {
        found.expect(false, || {
            here(format!(
                "its chunks have {chunk} granules, more than itself"
            ))
        });
        return;
    }
    let spots = geometry.spots(chunk);
    found.expect(count != 0 && count <= spots, || {
        here(format!("it counts {count} chunks of {spots}"))
    });
    // A page that is one chunk has no bits.
    let words = match spots {
        0..=1 => return,
        2..=32 => &[page.bits][..],
        _ => page.second,
    };
    let set: u32 = words.iter().map(|word| word.count_ones()).sum();
    found.expect(set == count, || {
        let bytes = chunk * 16;
        here(format!(
            "{count} chunks of {bytes} bytes are counted, and {set} bits are set"
        ))
    });
    let highest = words.iter().rposition(|&word| word != 0);
    let end = highest.map_or(0, |at| 32 * at as u32 + 32 - words[at].leading_zeros());
    found.expect(end <= spots, || {
        here(format!("bit {} is set, and it has {spots} chunks", end - 1))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::ScatterAlloc;
    use crate::alloc::scatter::state::pack;
    use crate::host::ScatterConfig;
    use crate::host::planted::{Planted, each_is_told};
    use warpheap_api::host::HostAlloc;

    /// A heap in which page 2 has few large chunks, page 3 many small ones, page 4 one, and 6 and 7 are a run.
    fn heap() -> (Planted, Geometry) {
        let plan = ScatterAlloc::plan(8 << 20, &ScatterConfig::default()).unwrap();
        let geometry = Geometry::new(plan.params);
        let mut heap = Planted::new(&plan);
        for (page, state) in [
            (2, pack(16, 3)),
            (3, pack(1, 34)),
            (4, pack(256, 1)),
            (6, pack(MULTI_HEAD, 0)),
            (7, pack(MULTI_TAIL, 0)),
        ] {
            heap.words[geometry.state_word(page)] = state;
        }
        heap.words[geometry.bits_word(2)] = 0b10_0101;
        heap.words[geometry.second_word(3)] = u32::MAX;
        heap.words[geometry.second_word(3) + 1] = 0b11;
        heap.words[geometry.bits_word(3)] = 1;
        heap.words[geometry.region_word(0)] = 3;
        (heap, geometry)
    }

    #[test]
    fn what_cannot_be_is_told_with_its_page() {
        let geometry = heap().1;
        let state = |page| geometry.state_word(page);
        let changes = [
            (
                state(2),
                pack(16, 4),
                "page 2: 4 chunks of 256 bytes are counted, and 3 bits",
            ),
            (
                state(2),
                pack(0, 3),
                "page 2: it is not split, and counts 3",
            ),
            (state(2), pack(16, 0), "page 2: it counts 0 chunks of 16"),
            (state(2), pack(16, 17), "page 2: it counts 17 chunks of 16"),
            (
                state(2),
                pack(300, 1),
                "page 2: its chunks have 300 granules",
            ),
            (
                state(3),
                pack(1, 33),
                "page 3: 33 chunks of 16 bytes are counted, and 34",
            ),
            (state(4), pack(256, 2), "page 4: it counts 2 chunks of 1"),
            (state(6), 0, "page 7: it goes on with a run"),
            (
                state(7),
                pack(MULTI_TAIL, 1),
                "page 7: it is one of a run, and counts 1",
            ),
            (
                geometry.bits_word(2),
                0b1_0101 << 12,
                "page 2: bit 16 is set, and it has 16",
            ),
            (
                geometry.region_word(0),
                2,
                "region 0: 2 full pages are counted, and 3 are",
            ),
            (
                geometry.region_word(17),
                u32::MAX,
                "region 1: -1 full pages are counted, and 0",
            ),
        ];
        each_is_told::<ScatterAlloc>(|| heap().0, &changes);
    }
}
