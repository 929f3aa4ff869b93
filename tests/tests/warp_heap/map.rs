//! Snapshots of heaps whose contents are known, at several sizes of chunks.

use crate::{POOL, heap, with_chunks};
use warpheap_api::host::{Ages, BlockSize, HostAlloc, Pool, Region, RegionUse, SnapshotSeries};
use warpheap_api::{DevicePtr, Layout, layout};
use warpheap_rt::alloc::WarpHeap;
use warpheap_tests::blocks::{fill, free_all, room};

const CHUNKS: [u64; 4] = [4 << 10, 16 << 10, 64 << 10, 256 << 10];

fn take(pool: &Pool<WarpHeap>, bytes: u64) -> (DevicePtr<u8>, Layout) {
    let layout = layout::bytes(bytes as usize);
    (pool.malloc(layout).expect("there is room"), layout)
}

fn regions(pool: &Pool<WarpHeap>) -> Vec<Region> {
    pool.snapshot().expect("a snapshot").regions
}

/// The part in which a block begins.
fn at(pool: &Pool<WarpHeap>, block: DevicePtr<u8>) -> Region {
    let offset = block.byte_offset(0);
    let all = regions(pool);
    let holds = |region: &&Region| (region.offset..region.end()).contains(&offset);
    *all.iter().find(holds).expect("parts cover the pool")
}

#[test]
fn slabs_have_their_blocks() {
    for chunk in CHUNKS {
        let pool = heap(16 << 20, &with_chunks(Some(chunk as u32)));
        let blocks: Vec<_> = (0..20).map(|_| take(&pool, 48)).collect();
        let large = take(&pool, chunk / 8);
        let snapshot = pool.snapshot().expect("a snapshot");
        assert_eq!((snapshot.unit, snapshot.unit_bytes), ("chunk", chunk));
        let uses = snapshot.uses();
        let small = uses
            .iter()
            .find(|totals| totals.usage == RegionUse::Slab(48));
        let small = small.expect("a chunk of the class");
        assert_eq!((small.live_blocks, small.used_bytes), (Some(20), 20 * 48));
        let places = chunk / 48 * small.units;
        assert_eq!(
            (small.room, small.free_places),
            (places * 48, Some(places - 20))
        );
        let of_large = at(&pool, large.0);
        assert_eq!(of_large.usage, RegionUse::Slab(chunk / 8));
        assert_eq!((of_large.places, of_large.live_blocks), (8, Some(1)));
        assert_eq!(of_large.fill(), Some(0.125));
        assert!(!of_large.is_pinned(), "an eighth is in use");
        for (block, layout) in blocks {
            free_all(&pool, vec![block], layout);
        }
        free_all(&pool, vec![large.0], large.1);
        let idle = at(&pool, large.0);
        assert_eq!(idle.usage, RegionUse::Idle(BlockSize::Bytes(chunk / 8)));
        let after = pool.snapshot().expect("a snapshot");
        assert_eq!(
            after.largest_free_run(),
            Some(room(&pool)),
            "idle chunks are free"
        );
    }
}

#[test]
fn units_and_runs_have_theirs_over_the_ends_of_chunks_too() {
    for chunk in CHUNKS {
        let pool = heap(16 << 20, &with_chunks(Some(chunk as u32)));
        let unit = chunk / 32;
        // Three of 12 units each: the third goes over the end of a chunk.
        let three: Vec<_> = (0..3).map(|_| take(&pool, 12 * unit)).collect();
        let uses = pool.snapshot().expect("a snapshot").uses();
        let units = uses
            .iter()
            .find(|totals| totals.usage == RegionUse::Units(unit));
        let units = units.expect("chunks of units");
        assert_eq!((units.live_blocks, units.used_bytes), (Some(3), 36 * unit));
        assert_eq!(units.free_places, Some(32 * units.units - 36));
        let run = take(&pool, 3 * chunk + 5 * unit);
        let head = at(&pool, run.0);
        assert_eq!(head.usage, RegionUse::Run(chunk));
        assert_eq!((head.units, head.live_blocks), (3, Some(1)));
        assert_eq!((head.offset, head.bytes), (run.0.byte_offset(0), 3 * chunk));
        let all = regions(&pool);
        let tail = all
            .iter()
            .find(|region| region.offset == head.end())
            .expect("the tail");
        assert_eq!(
            (tail.usage, tail.live_blocks),
            (RegionUse::Units(unit), Some(0))
        );
        assert_eq!(tail.used_bytes, 5 * unit);
        free_all(&pool, vec![run.0], run.1);
        assert!(at(&pool, run.0).usage.is_free());
        for (block, layout) in three {
            free_all(&pool, vec![block], layout);
        }
        assert_eq!(
            pool.snapshot().expect("a snapshot").largest_free_run(),
            Some(room(&pool))
        );
    }
}

#[test]
fn two_runs_side_by_side_are_two_parts() {
    let chunk = 64 << 10;
    let pool = heap(POOL, &with_chunks(Some(chunk as u32)));
    let blocks = fill(&pool, layout::bytes(2 * chunk));
    let all = regions(&pool);
    let runs: Vec<&Region> = all
        .iter()
        .filter(|region| region.usage == RegionUse::Run(chunk as u64))
        .collect();
    assert_eq!(runs.len(), blocks.len());
    assert!(
        runs.iter()
            .all(|run| (run.units, run.live_blocks) == (2, Some(1)))
    );
}

#[test]
fn a_full_heap_of_few_blocks_says_what_pins_it() {
    let chunk = 16u64 << 10;
    let pool = heap(POOL, &with_chunks(Some(chunk as u32)));
    let layout = layout::bytes(64);
    let mut blocks = fill(&pool, layout);
    let full = pool.snapshot().expect("a snapshot");
    assert_eq!(full.largest_free_run(), Some(0));
    assert!(
        full.reason().starts_with("Largest free run 0 B of "),
        "{}",
        full.reason()
    );
    // One block of each chunk stays.
    blocks.sort_by_key(|block| block.byte_offset(0));
    let first = blocks[0].byte_offset(0) / chunk;
    let (kept, freed): (Vec<_>, Vec<_>) = blocks.iter().partition(|block| {
        let place = block.byte_offset(0) - first * chunk;
        place % chunk == 0
    });
    free_all(&pool, freed, layout);
    let chunks = room(&pool) / chunk;
    assert_eq!(kept.len() as u64, chunks);
    let pinned = pool.snapshot().expect("a snapshot");
    let found = pinned.pinned();
    assert_eq!((found.regions, found.blocks), (chunks, chunks));
    assert_eq!(found.bytes, room(&pool));
    assert_eq!(pinned.largest_free_run(), Some(0), "no chunk is free");
    assert!(
        pool.malloc(layout::bytes(4096)).is_err(),
        "though almost all is"
    );
    let reason = pinned.reason();
    let says = format!("{chunks} chunks are pinned, less than an eighth in use");
    for part in [&says, "Largest free run 0 B", "(class 64 B:"] {
        assert!(reason.contains(part), "no `{part}` in: {reason}");
    }
}

#[test]
fn ages_come_of_a_series() {
    let pool = heap(POOL, &with_chunks(None));
    let mut ages = Ages::new();
    let mut see = || ages.add(&pool.snapshot().expect("a snapshot"));
    let stays = take(&pool, 100);
    see();
    let goes = take(&pool, 5000);
    see();
    see();
    let parts = (at(&pool, stays.0), at(&pool, goes.0));
    assert_eq!((ages.of(&parts.0), ages.of(&parts.1)), (Some(2), Some(1)));
}

#[test]
fn a_series_stays_small_and_keeps_its_ends() {
    let pool = heap(POOL, &with_chunks(None));
    let series = SnapshotSeries::new();
    for step in 0..300 {
        series.take(&pool, step).expect("a snapshot");
    }
    series.always(&pool, "end").expect("a snapshot");
    let kept = series.into_snapshots();
    assert!(kept.len() <= SnapshotSeries::MOST + 1, "{}", kept.len());
    let labels: Vec<&str> = kept.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(
        (labels[..3].to_vec(), labels.last()),
        (vec!["0", "8", "16"], Some(&"end"))
    );
    let none = SnapshotSeries::none();
    none.always(&pool, "never").expect("nothing");
    assert_eq!(none.into_snapshots(), []);
}

/// A heap of many chunks is read by its tables alone: no block's memory is.
#[test]
fn blocks_are_not_read() {
    struct Tables<'a>(&'a Pool<WarpHeap>, u64);
    impl warpheap_api::host::HeapReader for Tables<'_> {
        fn read(
            &mut self,
            first: u64,
            words: &mut [u32],
        ) -> Result<(), warpheap_api::host::DeviceError> {
            self.1 = self.1.max((first + words.len() as u64) * 4);
            words.fill(0);
            Ok(())
        }
    }
    let pool = heap(64 << 20, &with_chunks(None));
    let mut reader = Tables(&pool, 0);
    let map = WarpHeap::map(&pool.raw().params(), &mut reader).expect("a map");
    assert_eq!(map.usage.used_bytes, 0);
    assert!(
        reader.1 <= pool.metadata_bytes(),
        "{} of {}",
        reader.1,
        reader.0.metadata_bytes()
    );
}
