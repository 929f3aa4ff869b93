use super::*;
use crate::host::{BlockSize, ClassUsage, Usage};
use std::format;

const CHUNK: u64 = 4096;

fn region(at: u64, chunks: u64, usage: RegionUse, live: u32, used_bytes: u64) -> Region {
    let part = match usage.block() {
        Some(BlockSize::Bytes(bytes) | BlockSize::Parts(bytes)) if !usage.is_free() => bytes,
        _ => 0,
    };
    Region {
        offset: at * CHUNK,
        bytes: chunks * CHUNK,
        usage,
        units: chunks as u32,
        places: (chunks * CHUNK).checked_div(part).unwrap_or(0) as u32,
        live_blocks: Some(live),
        used_bytes,
    }
}

/// A pool of 16 chunks, the first of which has the tables, and the last of which is not a whole one.
fn snapshot(sequence: u64, regions: Vec<Region>) -> Snapshot {
    let mut usage = Usage::default();
    for region in &regions {
        if let Some(block) = region.usage.block().filter(|_| !region.usage.is_free()) {
            let live = u64::from(region.live_blocks.unwrap_or(0));
            usage.add(block, live, region.used_bytes, region.bytes);
        }
    }
    let map = HeapMap {
        unit: "chunk",
        unit_bytes: CHUNK,
        usage,
        regions,
    };
    let stats = PoolStats {
        allocator: "Toy",
        pool_bytes: 16 * CHUNK - 16,
        metadata_bytes: 2 * CHUNK - 16,
        usage: Usage::default(),
        failures: [0; 3],
        refused_bytes: 0,
        mallocs: 0,
        frees: 0,
        malloc_bytes: 0,
        free_bytes: 0,
        budget: None,
    };
    Snapshot::new(sequence, map, stats)
}

fn several() -> Snapshot {
    let mut regions = Vec::new();
    for region in [
        region(1, 1, RegionUse::Slab(64), 2, 128),
        region(2, 1, RegionUse::Slab(64), 60, 3840),
        region(3, 1, RegionUse::Units(128), 1, 640),
        region(4, 1, RegionUse::Units(128), 0, 128),
        region(5, 1, RegionUse::Run(CHUNK), 1, CHUNK),
        region(6, 1, RegionUse::Run(CHUNK), 0, CHUNK),
        region(7, 1, RegionUse::Run(CHUNK), 1, CHUNK),
        region(8, 1, RegionUse::Free, 0, 0),
        region(9, 1, RegionUse::Free, 0, 0),
        region(10, 1, RegionUse::Idle(BlockSize::Bytes(64)), 0, 0),
        region(11, 1, RegionUse::Changing, 0, 0),
        region(12, 2, RegionUse::Free, 0, 0),
        region(14, 1, RegionUse::Changing, 0, 0),
    ] {
        HeapMap::add(&mut regions, region);
    }
    snapshot(3, regions)
}

#[test]
fn parts_cover_the_pool_and_join_where_nothing_tells_them_apart() {
    let snapshot = several();
    let mut end = 0;
    for region in &snapshot.regions {
        assert_eq!(region.offset, end);
        end = region.end();
    }
    assert_eq!(end, snapshot.stats.pool_bytes);
    let run = |at: usize| (snapshot.regions[at].bytes, snapshot.regions[at].live_blocks);
    assert_eq!((run(5), run(6)), ((2 * CHUNK, Some(1)), (CHUNK, Some(1))));
    assert_eq!(
        (snapshot.regions[7].bytes, snapshot.regions[7].units),
        (2 * CHUNK, 2)
    );
    let ends = [snapshot.regions[0], *snapshot.regions.last().unwrap()];
    assert_eq!(ends.map(|region| region.usage), [RegionUse::Reserved; 2]);
    assert_eq!(ends.map(|region| region.bytes), [CHUNK, CHUNK - 16]);
}

#[test]
fn sums_are_those_of_the_parts() {
    let snapshot = several();
    let uses = snapshot.uses();
    assert_eq!(
        uses.iter().map(|totals| totals.bytes).sum::<u64>(),
        snapshot.stats.pool_bytes
    );
    let slab = &uses[0];
    assert_eq!((slab.usage, slab.units), (RegionUse::Slab(64), 2));
    assert_eq!((slab.live_blocks, slab.free_places), (Some(62), Some(66)));
    assert_eq!((slab.pinned.regions, slab.pinned.blocks), (1, 2));
    let units = &uses[1];
    // 5 units of 32 are more than an eighth; one is less.
    assert_eq!((units.live_blocks, units.pinned.regions), (Some(1), 1));
    assert_eq!(units.free_places, Some(64 - 6));
    assert_eq!(snapshot.pinned().bytes, 2 * CHUNK);
    // The idle chunk is free as well; the one that is about to change is not.
    assert_eq!(snapshot.largest_free_run(), Some(3 * CHUNK));
    let used = 128 + 3840 + 640 + 128 + 3 * CHUNK;
    assert_eq!(snapshot.free_bytes(), 14 * CHUNK - used);
}

#[test]
fn an_eighth_is_not_pinned() {
    let pinned =
        |live: u32| region(1, 1, RegionUse::Slab(64), live, u64::from(live) * 64).is_pinned();
    assert_eq!([0, 1, 7, 8].map(pinned), [false, true, true, false]);
    assert!(!region(1, 1, RegionUse::Run(CHUNK), 1, 16).is_pinned());
}

#[test]
fn a_snapshot_says_why() {
    let text = format!("{}", several());
    for part in [
        "Largest free run 12 KiB of 39.3 KiB free",
        "11.3 KiB of it can serve one size class each",
        "2 chunks are pinned, less than an eighth in use: 2 blocks tie 8 KiB",
        "(class 64 B: 1, units: 1)",
        "chunks of 4 KiB",
    ] {
        assert!(text.contains(part), "no `{part}` in:\n{text}");
    }
    let row = text.lines().find(|line| line.starts_with("slab")).unwrap();
    let cells: Vec<&str> = row.split_whitespace().collect();
    assert_eq!(
        cells,
        [
            "slab", "64", "2", "8192", "62", "3968", "48.4", "%", "66", "1"
        ]
    );
    let empty = format!(
        "{}",
        snapshot(0, Vec::from([region(1, 14, RegionUse::Free, 0, 0)]))
    );
    assert!(
        empty.ends_with("Largest free run 56 KiB of 56 KiB free."),
        "{empty}"
    );
}

#[test]
fn where_the_allocator_does_not_tell_nothing_is_made_up() {
    let mut silent = snapshot(0, Vec::new());
    silent.stats.allocator = "Silent";
    assert_eq!(silent.largest_free_run(), None);
    let uses: Vec<RegionUse> = silent.regions.iter().map(|region| region.usage).collect();
    assert_eq!(uses, [RegionUse::Reserved, RegionUse::Opaque]);
    assert!(
        silent.reason().contains("Silent does not tell"),
        "{}",
        silent.reason()
    );
    // Of a class's parts none tells, but all together do.
    let mut part = region(1, 2, RegionUse::Slab(64), 0, 0);
    part.live_blocks = None;
    let mut sums = snapshot(0, Vec::from([part]));
    assert_eq!(sums.uses()[0].live_blocks, Some(0));
    sums.stats.usage.classes = Vec::from([ClassUsage {
        block: BlockSize::Bytes(64),
        live_blocks: 28,
        used_bytes: 28 * 64,
        committed_bytes: 2 * CHUNK,
    }]);
    let slab = sums.uses()[0];
    assert_eq!((slab.live_blocks, slab.free_places), (Some(28), Some(100)));
    assert!(sums.pinned().regions == 0);
}

#[test]
fn rounding_is_known_where_requests_are_counted() {
    let mut snapshot = several();
    assert_eq!(snapshot.rounding_bytes(), None);
    let used = snapshot.stats.usage.used_bytes;
    (snapshot.stats.mallocs, snapshot.stats.malloc_bytes) = (9, used - 100);
    assert_eq!(snapshot.rounding_bytes(), Some(100));
}

#[test]
fn changes_are_later_less_earlier() {
    let before = snapshot(
        1,
        Vec::from([
            region(1, 1, RegionUse::Slab(64), 4, 256),
            region(2, 13, RegionUse::Free, 0, 0),
        ]),
    );
    let after = snapshot(
        2,
        Vec::from([
            region(1, 1, RegionUse::Slab(64), 1, 64),
            region(2, 2, RegionUse::Free, 0, 0),
            region(4, 3, RegionUse::Run(CHUNK), 1, 3 * CHUNK),
            region(7, 8, RegionUse::Free, 0, 0),
        ]),
    );
    let changes = after.changes_since(&before).unwrap();
    assert_eq!((changes.between, changes.moved_bytes), ((1, 2), 3 * CHUNK));
    assert_eq!(changes.used_bytes, 3 * CHUNK as i64 - 192);
    assert_eq!(changes.largest_free_run, Some(-5 * CHUNK as i64));
    let of = |usage| {
        changes
            .uses
            .iter()
            .find(|change| change.usage == usage)
            .copied()
    };
    assert_eq!(of(RegionUse::Slab(64)).unwrap().live_blocks, Some(-3));
    assert_eq!(of(RegionUse::Run(CHUNK)).unwrap().units, 3);
    assert_eq!(of(RegionUse::Free).unwrap().bytes, -3 * CHUNK as i64);
    assert_eq!(of(RegionUse::Reserved), None, "nothing became different");
    assert!(
        format!("{changes}").contains("+12096 bytes in use"),
        "{changes}"
    );
    assert_eq!(after.changes_since(&after).unwrap().uses, []);
    let mut other = before;
    other.stats.pool_bytes += 16;
    assert_eq!(after.changes_since(&other), None);
}

#[test]
fn ages_count_snapshots_with_the_same_use() {
    let slab = |bytes| region(1, 1, RegionUse::Slab(bytes), 1, bytes);
    let rest = region(2, 13, RegionUse::Free, 0, 0);
    let mut ages = Ages::new();
    for (sequence, first, age) in [
        (0, slab(64), Some(0)),
        (1, slab(64), Some(1)),
        (4, slab(64), Some(4)),
        (5, slab(32), Some(0)),
        (
            6,
            region(1, 1, RegionUse::Idle(BlockSize::Bytes(32)), 0, 0),
            None,
        ),
        (7, slab(32), Some(0)),
    ] {
        ages.add(&snapshot(sequence, Vec::from([first, rest])));
        assert_eq!(ages.of(&first), age, "at {sequence}");
    }
    assert_eq!(ages.of(&rest), None);
    assert_eq!(ages.of(&slab(64)), None, "another use than it has now");
}
