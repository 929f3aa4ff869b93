//! How a heap is set up for pages of one size, how large it has to be, and what is said about one that is
//! too small or too large.

use super::shape::Shape;
use crate::error::CliError;
use warpheap::device::*;
use warpheap::rt::host::{DirectOutputConfig, RandomWalkConfig};
use warpheap::{DeviceError, HostAlloc, KernelFailure, PlanError};

/// What pools are rounded up to.
const STEP: u64 = 64 << 10;
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
    let mut pool = round(blocks);
    // The metadata grow with the pool, by far less than it.
    for _ in 0..4 {
        pool = match A::plan(pool, &A::config(shape.page_bytes)) {
            Ok(plan) => round(blocks + plan.metadata_bytes),
            Err(PlanError::TooSmall { least, .. }) => round(least.max(pool)),
            // Too large: `reserve_with` says so.
            Err(_) => return pool,
        };
    }
    pool
}

fn round(bytes: u64) -> u64 {
    bytes.next_multiple_of(STEP)
}

/// The sizes to try, one after the other, when the user leaves the choice: what should be enough, and
/// more in case it is not.
pub fn sizes<A: Paged>(shape: &Shape, limit: u64) -> Vec<u64> {
    let enough = enough::<A>(shape);
    let mut sizes: Vec<u64> = [1, 2, 4].map(|times| (enough * times).min(limit)).into();
    sizes.dedup();
    sizes
}

/// The error for a pool whose heap could not serve a page.
pub fn too_small<A: Paged>(
    shape: &Shape,
    pool: u64,
    limit: u64,
    failure: &KernelFailure,
) -> CliError {
    // An estimate that was not enough is no advice.
    let enough = enough::<A>(shape).max(round(pool + pool / 2));
    let advice = if pool >= limit {
        format!("{limit} bytes are all that the device allows: take fewer rows or another device")
    } else {
        format!("--pool {} would do", enough.min(limit))
    };
    CliError::Run(format!(
        "{}: a pool of {pool} bytes is too small for the pages of this join; {advice} ({failure})",
        A::NAME
    ))
}

/// The error for a pool that could not be had. `asked` if the user named its size.
pub fn refused<A: Paged>(shape: &Shape, asked: Option<u64>, error: DeviceError) -> CliError {
    let Some(bytes) = asked else {
        return CliError::Run(format!("{}: {error}", A::NAME));
    };
    match error {
        DeviceError::Plan(PlanError::TooSmall { .. }) => CliError::Usage(format!(
            "--pool {bytes}: {error}; for this join --pool {} would do",
            enough::<A>(shape)
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

    #[test]
    fn advice_is_more_than_what_failed() {
        let shape = Shape::new(1000, 1000, 1000, 4, 128);
        let failure = KernelFailure {
            kernel: "join_probe".into(),
            lanes: 1,
            by_cause: [1, 0, 0],
            first: warpheap::api::AllocError::Exhausted,
            block: 0,
            lane: 0,
        };
        let advice = |pool, limit| too_small::<WarpHeap>(&shape, pool, limit, &failure).to_string();
        let bytes = enough::<WarpHeap>(&shape);
        assert!(advice(4096, u64::MAX).contains(&format!("--pool {bytes} would do")));
        let grown = round(6 * bytes);
        assert!(advice(4 * bytes, u64::MAX).contains(&format!("--pool {grown} would do")));
        assert!(!advice(bytes, bytes).contains("--pool"));
    }
}
