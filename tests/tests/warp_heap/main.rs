//! What only WarpHeap promises: little waste by its size classes, chunks that serve any size once they are
//! empty, blocks as large as the pool, dense heaps, its setting, and what snapshots show.

mod compaction;
mod map;
mod placement;
mod sizes;
mod together;

use warpheap_api::host::Pool;
use warpheap_rt::alloc::WarpHeap;
use warpheap_rt::host::WarpHeapConfig;
use warpheap_tests::Site;

const POOL: u64 = 4 << 20;

fn with_chunks(chunk_bytes: Option<u32>) -> WarpHeapConfig {
    WarpHeapConfig { chunk_bytes }
}

fn heap(bytes: u64, config: &WarpHeapConfig) -> Pool<WarpHeap> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}

/// A number for each lane and round.
fn any(lane: usize, round: usize) -> usize {
    let mixed = (lane as u32 ^ (round as u32) << 20).wrapping_mul(0x9e37_79b1);
    ((mixed ^ mixed >> 15).wrapping_mul(0x85eb_ca77) >> 8) as usize
}
