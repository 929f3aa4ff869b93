//! How large a heap a graph needs.

use super::growth::Demand;
use crate::error::JobError;
use crate::pool::{Need, STEP, around, limit};
use warpheap::{DeviceInfo, HostAlloc};

/// Free room beside the blocks, for allocators that split their heap into regions of one block size:
/// one region may be begun for each size, and large blocks want neighbours.
const ROOM: u64 = 32 << 20;

/// Bytes of a pool that is enough for the vectors of a graph.
///
/// Room for every block ever asked for, which is at most twice what is live in the end: so it is enough
/// for allocators that never free, and for those that cannot use freed blocks of one size for
/// another.
pub fn enough<A: HostAlloc>(demand: &Demand) -> u64 {
    let blocks = demand.total();
    let blocks = match A::CAPS.frees {
        true => blocks + blocks / 4 + ROOM + 4 * demand.largest(),
        false => blocks + STEP,
    };
    around::<A>(blocks, &A::Config::default())
}

/// What the vectors of a graph need of a heap.
pub fn need<A: HostAlloc>(info: &DeviceInfo, demand: &Demand) -> Need {
    Need {
        allocator: A::NAME,
        enough: enough::<A>(demand),
        limit: limit(info),
        job: "this graph",
        contents: "this graph".to_owned(),
        instead: "take a smaller graph",
    }
}

/// Checks that the allocator serves blocks as large as the largest vector.
///
/// # Errors
/// [`JobError::Run`] that says how large the block is and what is possible.
pub fn check_largest<A: HostAlloc>(demand: &Demand) -> Result<(), JobError> {
    let (largest, most) = (demand.largest(), A::CAPS.max_size);
    if largest > most {
        return Err(JobError::Run(format!(
            "{0}: the vertex with the most in-edges needs a block of {largest} bytes, and {0} serves at most \
             {most}: take a smaller graph or another allocator",
            A::NAME
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::device::{Bump, Counted};

    type Plain = Counted<Bump>;

    #[test]
    fn enough_holds_every_block_and_the_metadata() {
        let demand = Demand::new([3, 9, 70_000].into_iter());
        let pool = enough::<Plain>(&demand);
        assert!(pool >= demand.total() + Plain::plan(pool, &()).unwrap().metadata_bytes);
        assert!(pool <= 2 * demand.total() + 4 * STEP);
    }
}
