//! How large a heap the k-mers need.

use crate::pool::{Need, around, limit};
use warpheap::device::{HeapHashMap, Layout, layout};
use warpheap::rt::container::map::NODE_SLOTS;
use warpheap::{Device, DeviceError, HostAlloc};
use warpheap_applications::kmer::Kmer;

/// Free room beside the blocks, for allocators that split their heap into regions of one block size.
const ROOM: u64 = 16 << 20;
/// What handles of a map reach.
const REACH: u64 = 32 << 30;
/// A leaf: its state, a key of two words, a count.
const LEAF: Layout = layout::bytes(16);
/// Bytes of a node, the largest block but for the root.
pub const NODE_BYTES: u32 = NODE_SLOTS * 4;
/// A node.
const NODE: Layout = layout::aligned(NODE_BYTES as usize, NODE_BYTES as usize);
/// Bytes of the pool in which blocks are measured.
const PROBE: u64 = 4 << 20;
/// The largest root, as the logarithm of the keys that it is for.
const LARGEST_ROOT: u32 = 26;
/// The map.
type Map = HeapHashMap<Kmer, u32>;

/// What the map asks of a heap.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Different k-mers.
    pub distinct: u64,
    /// Bytes that the allocator takes for a leaf and for three quarters of a node: in a trie of random
    /// keys with sixteen slots to a node there is about one node for three keys, less or more as they fall.
    pub each: u64,
}

impl Demand {
    /// The demand of so many k-mers, with blocks as large as the allocator makes them: some have pages
    /// of one size only.
    pub fn new<A: HostAlloc>(device: &Device, distinct: u64) -> Self {
        let taken = || -> Result<[u64; 2], DeviceError> {
            let pool = device.reserve_with::<A>(PROBE, &A::config_for(NODE_BYTES))?;
            let before = pool.stats()?.usage.used_bytes;
            pool.malloc(LEAF)?;
            let between = pool.stats()?.usage.used_bytes;
            pool.malloc(NODE)?;
            let after = pool.stats()?.usage.used_bytes;
            Ok([
                between.saturating_sub(before),
                after.saturating_sub(between),
            ])
        };
        // Whatever is wrong with the device will be said where it matters.
        let [leaf, node] = taken().unwrap_or_default();
        let (leaf, node) = (leaf.max(LEAF.size() as u64), node.max(NODE.size() as u64));
        let each = leaf + node * 3 / 4;
        Demand { distinct, each }
    }

    /// The logarithm of the number of keys that the root is for: about as many as there are, unless the
    /// allocator has no block as large.
    pub fn root_bits<A: HostAlloc>(self) -> u32 {
        let mut bits = (self.distinct + self.distinct / 3)
            .max(2)
            .ilog2()
            .min(LARGEST_ROOT);
        let largest = A::largest_block(&A::config_for(NODE_BYTES));
        while bits > 0 && Map::root_layout(bits).size() as u64 > largest {
            bits -= 1;
        }
        bits
    }

    /// Bytes of root, leaves and nodes.
    fn bytes<A: HostAlloc>(self) -> u64 {
        let bits = self.root_bits::<A>();
        let root = Map::root_layout(bits).size() as u64;
        // Slots are taken by random keys until three quarters of them are full, but for one key in sixteen.
        let in_slots = if root > 8 << bits { (3 << bits) / 2 } else { 0 };
        root + (self.distinct.saturating_sub(in_slots) + self.distinct / 16) * self.each
    }
}

/// Bytes of a pool that is enough, for all that is known beforehand.
fn enough<A: HostAlloc>(demand: Demand) -> u64 {
    let bytes = demand.bytes::<A>();
    around::<A>(bytes + bytes / 4 + ROOM, &A::config_for(NODE_BYTES))
}

/// What the map needs of a heap.
pub fn need<A: HostAlloc>(device: &Device, demand: Demand) -> Need {
    Need {
        allocator: A::NAME,
        enough: enough::<A>(demand),
        limit: limit(device.info()).min(REACH),
        job: "these k-mers",
        contents: format!("{} different k-mers", demand.distinct),
        instead: "take fewer bases",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::device::{Bump, DeviceAlloc, OuroborosPS, RandomWalk, WarpHeap};

    fn of(distinct: u64) -> Demand {
        let each = 40;
        Demand { distinct, each }
    }

    #[test]
    fn the_root_fits_keys_and_allocator() {
        assert_eq!(of(0).root_bits::<WarpHeap>(), 1);
        assert_eq!(of(1000).root_bits::<WarpHeap>(), 10);
        assert_eq!(of(1 << 31).root_bits::<WarpHeap>(), LARGEST_ROOT);
        let bits = of(1 << 31).root_bits::<OuroborosPS>();
        assert!(4 << bits <= OuroborosPS::CAPS.max_size, "{bits}");
        // A page.
        assert_eq!(of(1 << 31).root_bits::<RandomWalk>(), 4);
    }

    #[test]
    fn enough_holds_leaves_nodes_and_metadata() {
        let demand = of(1 << 20);
        let pool = enough::<Bump>(demand);
        assert!(pool > demand.bytes::<Bump>() && pool < 3 * demand.bytes::<Bump>());
    }
}
