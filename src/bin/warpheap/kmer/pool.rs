//! How large a heap the k-mers need, and what is said about one that is too small or too large.

use crate::error::CliError;
use crate::graph::pool::limit as device_limit;
use std::fmt::Display;
use warpheap::device::{Layout, layout};
use warpheap::{Device, DeviceError, DeviceInfo, HostAlloc, PlanError};

/// What pools are rounded up to.
const STEP: u64 = 64 << 10;
/// Free room beside the blocks, for allocators that split their heap into regions of one block size.
const ROOM: u64 = 16 << 20;
/// What handles of a map reach.
const REACH: u64 = 32 << 30;
/// A leaf: its state, a key of two words, a count.
const LEAF: Layout = layout::bytes(16);
/// A node.
const NODE: Layout = layout::aligned(32, 32);
/// Bytes of the pool in which blocks are measured.
const PROBE: u64 = 4 << 20;
/// The largest root, as the logarithm of its slots.
const LARGEST_ROOT: u32 = 24;

/// What the map asks of a heap.
#[derive(Debug, Clone, Copy)]
pub struct Demand {
    /// Different k-mers.
    pub distinct: u64,
    /// Bytes that the allocator takes for a leaf and for three quarters of a node: in a trie of random
    /// keys with eight slots to a node there is about one node for two keys.
    pub each: u64,
}

impl Demand {
    /// The demand of so many k-mers, with blocks as large as the allocator makes them: some have pages
    /// of one size only.
    pub fn new<A: HostAlloc>(device: &Device, distinct: u64) -> Self {
        let taken = || -> Result<[u64; 2], DeviceError> {
            let pool = device.reserve::<A>(PROBE)?;
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

    /// The logarithm of the number of slots of the root: about as many as there are keys, unless the
    /// allocator has no block as large.
    pub fn root_bits<A: HostAlloc>(self) -> u32 {
        let wanted = self.distinct.max(2).ilog2();
        let possible = (A::CAPS.max_size / 4).max(1).ilog2();
        wanted.min(possible).min(LARGEST_ROOT)
    }

    /// Bytes of root, leaves and nodes.
    fn bytes<A: HostAlloc>(self) -> u64 {
        (4 << self.root_bits::<A>()) + self.distinct * self.each
    }
}

/// The largest pool that a map can have on this device.
pub fn limit(info: &DeviceInfo) -> u64 {
    device_limit(info).min(REACH)
}

/// Bytes of a pool that is enough, for all that is known beforehand.
pub fn enough<A: HostAlloc>(demand: Demand) -> u64 {
    let bytes = demand.bytes::<A>();
    let blocks = bytes + bytes / 4 + ROOM;
    let mut pool = blocks.next_multiple_of(STEP);
    // The metadata grow with the pool, by far less than it.
    for _ in 0..4 {
        let bytes = match A::plan(pool, &A::Config::default()) {
            Ok(plan) => blocks + plan.metadata_bytes,
            Err(PlanError::TooSmall { least, .. }) => least.max(pool),
            // Too large: `reserve` says so.
            Err(_) => return pool,
        };
        pool = bytes.next_multiple_of(STEP);
    }
    pool
}

/// The sizes to try, one after the other, when the user leaves the choice: what should be enough, and
/// more in case it is not.
pub fn sizes<A: HostAlloc>(demand: Demand, limit: u64) -> Vec<u64> {
    let enough = enough::<A>(demand);
    let mut sizes: Vec<u64> = [1, 2, 4].map(|times| (enough * times).min(limit)).into();
    sizes.dedup();
    sizes
}

/// The error for a pool in which the map did not fit.
pub fn too_small<A: HostAlloc>(
    demand: Demand,
    pool: u64,
    limit: u64,
    failure: &dyn Display,
) -> CliError {
    // An estimate that was not enough is no advice.
    let enough = enough::<A>(demand).max((pool + pool / 2).next_multiple_of(STEP));
    let advice = if pool >= limit {
        format!("{limit} bytes are all that it can have here: take fewer bases or another device")
    } else {
        format!("--pool {} would do", enough.min(limit))
    };
    CliError::Run(format!(
        "{}: a pool of {pool} bytes is too small for {} different k-mers; {advice} ({failure})",
        A::NAME,
        demand.distinct,
    ))
}

/// The error for a pool that could not be had. `asked` if the user named its size.
pub fn refused<A: HostAlloc>(demand: Demand, asked: Option<u64>, error: DeviceError) -> CliError {
    let Some(bytes) = asked else {
        return CliError::Run(format!("{}: {error}", A::NAME));
    };
    match error {
        DeviceError::Plan(PlanError::TooSmall { .. }) => CliError::Usage(format!(
            "--pool {bytes}: {error}; for these k-mers --pool {} would do",
            enough::<A>(demand)
        )),
        DeviceError::Plan(_) | DeviceError::TooLarge { .. } | DeviceError::OutOfMemory { .. } => {
            CliError::Usage(format!("--pool {bytes}: {error}"))
        }
        error => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::device::{Bump, DeviceAlloc, OuroborosPS, WarpHeap};

    fn of(distinct: u64) -> Demand {
        let each = 40;
        Demand { distinct, each }
    }

    #[test]
    fn the_root_fits_keys_and_allocator() {
        assert_eq!(of(0).root_bits::<WarpHeap>(), 1);
        assert_eq!(of(1000).root_bits::<WarpHeap>(), 9);
        assert_eq!(of(1 << 31).root_bits::<WarpHeap>(), LARGEST_ROOT);
        let bits = of(1 << 31).root_bits::<OuroborosPS>();
        assert!(4 << bits <= OuroborosPS::CAPS.max_size, "{bits}");
    }

    #[test]
    fn enough_holds_leaves_nodes_and_metadata() {
        let demand = of(1 << 20);
        let pool = enough::<Bump>(demand);
        assert!(pool > demand.bytes::<Bump>() && pool < 3 * demand.bytes::<Bump>());
        assert_eq!(sizes::<Bump>(demand, pool), [pool]);
        assert_eq!(sizes::<Bump>(demand, u64::MAX), [pool, 2 * pool, 4 * pool]);
    }

    #[test]
    fn advice_is_more_than_what_failed() {
        let demand = of(1000);
        let advice = |pool, limit| too_small::<Bump>(demand, pool, limit, &"full").to_string();
        let enough = enough::<Bump>(demand);
        assert!(advice(1 << 20, u64::MAX).contains(&format!("--pool {enough} would do")));
        assert!(advice(4 * enough, u64::MAX).contains(&format!("--pool {} would", 6 * enough)));
        assert!(!advice(enough, enough).contains("--pool"));
    }
}
