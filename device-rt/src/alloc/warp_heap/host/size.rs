//! What a heap's words begin with, and what becomes of them when it gets another size.

use super::PART;
use crate::alloc::warp_heap::{
    FREE, Geometry, PARAM_CHUNKS, PARAM_DIRECTORY, PARAM_ENTRIES, PARAM_ENTRY_WORDS, PARAM_SLOTS,
    SLAB_CLASSES, WINDOWS_WORD, is_idle,
};
use std::vec;
use std::vec::Vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{DeviceError, Fill, HeapPlan, HeapReader, Refill};

/// Rows of the tables: one for each size class, and that of units.
const ROWS: u32 = SLAB_CLASSES + 1;

/// A fresh heap: all tables are zeros.
pub(super) fn fresh(params: &HeapParams) -> Fill {
    zeros(WINDOWS_WORD, entry(params, params[PARAM_CHUNKS]))
}

/// See [`HostAlloc::refill`](warpheap_api::host::HostAlloc::refill).
pub(super) fn refill(from: &HeapPlan, to: &HeapPlan) -> Refill {
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

/// See [`HostAlloc::end_of_use`](warpheap_api::host::HostAlloc::end_of_use).
pub(super) fn end_of_use(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
) -> Result<u64, DeviceError> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alloc::warp_heap::WarpHeap;
    use crate::alloc::warp_heap::host::WarpHeapConfig;
    use crate::alloc::warp_heap::{PARAM_DATA, PARAM_SHIFT};
    use warpheap_api::host::HostAlloc;

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
}
