//! How large the heap for the pages of a join has to be.

use super::shape::Shape;
use crate::pool::{Need, STEP, around, limit};
use warpheap::{DeviceInfo, HostAlloc};

/// Free room beside the pages, for allocators that split their heap into regions.
const ROOM: u64 = 32 << 20;

/// Bytes of a pool that is enough for the pages of a join.
///
/// Where pages are freed it is twice what they take, and some more: allocators that search want to find.
pub fn enough<A: HostAlloc>(shape: &Shape) -> u64 {
    let config = A::config_for(shape.page_bytes);
    let page = u64::from(shape.page_bytes);
    let block = match A::largest_block(&config) == page {
        true => page,
        false => page.next_multiple_of(A::LEAST_BLOCK),
    };
    let blocks = shape.most_pages() * block;
    let blocks = match A::CAPS.frees {
        true => 2 * blocks + ROOM,
        false => blocks + STEP,
    };
    around::<A>(blocks, &config)
}

/// What a join needs of a heap.
pub fn need<A: HostAlloc>(info: &DeviceInfo, shape: &Shape) -> Need {
    Need {
        allocator: A::NAME,
        enough: enough::<A>(shape),
        limit: limit(info),
        job: "this join",
        contents: "the pages of this join".to_owned(),
        instead: "take fewer rows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpheap::device::*;

    fn holds<A: HostAlloc>(page_bytes: u32) {
        let shape = Shape::new(1 << 20, 1 << 20, 1 << 20, 4, page_bytes);
        let pool = enough::<A>(&shape);
        let pages = shape.most_pages() * u64::from(page_bytes);
        let plan = A::plan(pool, &A::config_for(page_bytes));
        let room = plan.map(|plan| pool - plan.metadata_bytes);
        assert!(
            room.as_ref().is_ok_and(|room| *room >= pages),
            "{} of {page_bytes}: {room:?} for {pages}",
            A::NAME
        );
    }

    #[test]
    fn enough_holds_every_page_and_the_metadata() {
        for page_bytes in [32, 128, 2048] {
            holds::<DirectOutput>(page_bytes);
            holds::<RandomWalk>(page_bytes);
            holds::<CollaborativeWalk>(page_bytes);
            holds::<WarpHeap>(page_bytes);
            holds::<SizeList>(page_bytes);
            holds::<Gallatin>(page_bytes);
        }
    }
}
