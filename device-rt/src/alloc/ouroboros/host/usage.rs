//! What of a heap is in use.

use crate::alloc::ouroboros::{Geometry, HEAD_COUNT, HEADER_WORDS, QUEUE, count_of, tag_of};
use std::vec;
use std::vec::Vec;
use warpheap_api::HeapParams;
use warpheap_api::host::{BlockSize, DeviceError, HeapMap, HeapReader, Region, RegionUse, Usage};

/// What is in use, and of which parts the heap is made; arguments as for [`usage`].
pub(super) fn map(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    small: bool,
    large: bool,
) -> Result<HeapMap, DeviceError> {
    let unit_bytes = 16 << Geometry::new(*params).chunk_log();
    HeapMap::of("chunk", unit_bytes, HeapMap::add, |show| {
        usage(params, heap, small, large, show)
    })
}

/// What is in use; whether the queues of the base instance, and those of larger ones, hold pages. Each chunk is shown.
pub(super) fn usage(
    params: &HeapParams,
    heap: &mut dyn HeapReader,
    small: bool,
    large: bool,
    show: &mut dyn FnMut(Region),
) -> Result<Usage, DeviceError> {
    let geometry = Geometry::new(*params);
    let chunk_bytes = 16u64 << geometry.chunk_log();
    // Of each class: base chunks of pages and of its queue, pages, and free ones.
    let mut classes: Vec<[u64; 4]> = vec![[0; 4]; geometry.classes() as usize];
    let mut headers = vec![0; 256 * HEADER_WORDS];
    let (mut chunk, mut read_to, mut first) = (0, 0, 0);
    while chunk < geometry.chunks {
        if chunk >= read_to {
            let count = (geometry.chunks - chunk).min(256);
            let headers = &mut headers[..count as usize * HEADER_WORDS];
            heap.read(geometry.header(chunk) as u64, headers)?;
            (first, read_to) = (chunk, chunk + count);
        }
        let state = headers[(chunk - first) as usize * HEADER_WORDS];
        let class = (tag_of(state) & !QUEUE).wrapping_sub(1);
        let mut units = 1;
        let mut region = Region {
            offset: geometry.data as u64 * 16 + chunk as u64 * chunk_bytes,
            bytes: chunk_bytes,
            usage: if state == 0 {
                RegionUse::Free
            } else {
                RegionUse::Changing
            },
            units: 1,
            places: 0,
            live_blocks: Some(0),
            used_bytes: 0,
        };
        if let Some([base, queue, pages, free]) = classes.get_mut(class as usize) {
            if tag_of(state) & QUEUE != 0 {
                *queue += 1;
                region.usage = RegionUse::Queue(16 << geometry.page_log(class));
            } else {
                let row = 1 << geometry.units_log(class);
                if chunk % row == 0 && geometry.chunks - chunk >= row {
                    units = row;
                    *base += row as u64;
                    *pages += geometry.pages(class) as u64;
                    *free += count_of(state).min(geometry.pages(class)) as u64;
                    let in_queue = if geometry.units_log(class) == 0 {
                        small
                    } else {
                        large
                    };
                    fill_in(&mut region, geometry, class, state, in_queue);
                }
            }
        }
        show(region);
        chunk += units;
    }
    let mut usage = Usage {
        live_blocks: Some(0),
        ..Usage::default()
    };
    for (class, [base, queue, pages, free]) in classes.into_iter().enumerate() {
        let mut queued = [0];
        let of_base = geometry.units_log(class as u32) == 0;
        let pages_queued = if of_base { small } else { large };
        if pages_queued {
            heap.read(geometry.head(class as u32, HEAD_COUNT) as u64, &mut queued)?;
        }
        let queued = (queued[0] as i32).max(0) as u64;
        let live = pages.saturating_sub(free + queued);
        let page = 16u64 << geometry.page_log(class as u32);
        let committed = (base + queue) * chunk_bytes;
        if committed != 0 {
            usage.add(BlockSize::Bytes(page), live, live * page, committed);
        }
    }
    Ok(usage)
}

/// Fills in what a chunk of pages of this class holds. Where free pages are in the queue, no chunk tells how many of its own
/// are.
fn fill_in(region: &mut Region, geometry: Geometry, class: u32, state: u32, in_queue: bool) {
    let page = 16u64 << geometry.page_log(class);
    let pages = geometry.pages(class);
    let live = pages - count_of(state).min(pages);
    region.usage = RegionUse::Slab(page);
    region.units = 1 << geometry.units_log(class);
    region.bytes *= region.units as u64;
    region.places = pages;
    region.live_blocks = (!in_queue).then_some(live);
    region.used_bytes = if in_queue { 0 } else { live as u64 * page };
}
