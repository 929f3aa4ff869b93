//! A kernel that counts k-mers: compiled to PTX, to SPIR-V, and for the host.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]

use warpheap::device::*;

warpheap::device_module!();

/// The largest `k`: two bits for each base of a 32-bit key.
pub const LARGEST_K: u32 = 16;

/// The base of `bases` that is none: between sequences, and where a sequence is unknown.
pub const GAP: u32 = 4;

/// Counts k-mers: lane `i` reads the `k` bases from `i` on and adds 1 to their value in the map, unless a
/// [`GAP`] is among them. `bases` holds four bits for each base (0 to 3, or [`GAP`]), eight to a word, the
/// first one in the lowest bits. The first base of a k-mer is in the highest bits of its key.
#[kernel(allocators = [WarpHeap])]
pub fn count_kmers<A: DeviceAlloc>(
    heap: Heap<A>,
    map: HeapHashMap<u32, u32>,
    bases: &[u32],
    k: u32,
) -> Result<(), AllocError> {
    let count = bases.len() as u32 * 8;
    let mut at = thread::index();
    while at < count {
        let mut key = 0;
        let mut whole = k <= count - at;
        let mut i = 0;
        while whole & (i < k) {
            let base = (bases[((at + i) / 8) as usize] >> ((at + i) % 8 * 4)) & 0xf;
            key = key << 2 | base & 3;
            whole = base < GAP;
            i += 1;
        }
        if whole {
            map.add(heap, key, 1)?;
        }
        at += thread::count();
    }
    Ok(())
}
