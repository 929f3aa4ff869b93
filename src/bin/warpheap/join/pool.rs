//! How a heap is set up for pages of one size, and how large it has to be.

use super::shape::Shape;
use crate::pool::{Need, STEP, around, limit};
use warpheap::device::*;
use warpheap::rt::host::{DirectOutputConfig, RandomWalkConfig};
use warpheap::{DeviceInfo, HostAlloc};

/// Free room beside the pages, for allocators that split their heap into regions.
const ROOM: u64 = 32 << 20;

/// Settings for pages of one size.
pub trait Paged: HostAlloc {
    /// The settings: the defaults, unless all blocks of a heap have one size.
    fn config(_page_bytes: u32) -> Self::Config {
        Self::Config::default()
    }

    /// Bytes that a page takes.
    fn block(page_bytes: u32) -> u64 {
        u64::from(page_bytes).next_multiple_of(Self::LEAST_BLOCK)
    }
}

macro_rules! as_they_are {
    ($($allocator:ident),*) => {$(impl Paged for $allocator {})*};
}

as_they_are!(
    Bump,
    ScatterAlloc,
    WarpHeap,
    OuroborosPS,
    OuroborosPVA,
    OuroborosPVL,
    OuroborosCS,
    OuroborosCVA,
    OuroborosCVL,
    Gallatin,
    RandomWalkMalloc,
    SizeList,
    MpList
);

macro_rules! one_size {
    ($($allocator:ident: $config:ident.$setting:ident),* $(,)?) => {$(
        impl Paged for $allocator {
            fn config(page_bytes: u32) -> $config {
                $config {
                    $setting: page_bytes,
                    ..$config::default()
                }
            }

            fn block(page_bytes: u32) -> u64 {
                page_bytes.into()
            }
        }
    )*};
}

one_size! {
    RandomWalk: RandomWalkConfig.page_bytes,
    RandomWalkBitmap: RandomWalkConfig.page_bytes,
    CollaborativeWalk: RandomWalkConfig.page_bytes,
    ClusteredWalk: RandomWalkConfig.page_bytes,
}

impl Paged for DirectOutput {
    fn config(page_bytes: u32) -> DirectOutputConfig {
        DirectOutputConfig {
            place_bytes: page_bytes,
        }
    }

    fn block(page_bytes: u32) -> u64 {
        page_bytes.into()
    }
}

/// Bytes of a pool that is enough for the pages of a join.
///
/// Where pages are freed it is twice what they take, and some more: allocators that search want to find.
pub fn enough<A: Paged>(shape: &Shape) -> u64 {
    let blocks = shape.most_pages() * A::block(shape.page_bytes);
    let blocks = match A::CAPS.frees {
        true => 2 * blocks + ROOM,
        false => blocks + STEP,
    };
    around::<A>(blocks, &A::config(shape.page_bytes))
}

/// What a join needs of a heap.
pub fn need<A: Paged>(info: &DeviceInfo, shape: &Shape) -> Need {
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

    fn holds<A: Paged>(page_bytes: u32) {
        let shape = Shape::new(1 << 20, 1 << 20, 1 << 20, 4, page_bytes);
        let pool = enough::<A>(&shape);
        let pages = shape.most_pages() * u64::from(page_bytes);
        let plan = A::plan(pool, &A::config(page_bytes));
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
