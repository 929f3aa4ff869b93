//! Places, and what a heap says.

use super::*;
use crate::soak::plan::Plan;
use crate::soak::table::NOWHERE;
use warpheap_api::DevicePtr;
use warpheap_api::host::{BlockSize, PoolStats, Region, Usage};
use warpheap_bench_kernels::replay::{HAD, Place};
use warpheap_bench_kernels::soak::{COUNTS, MALLOC, Step};

/// A table with blocks at these granules, of so many bytes.
fn table(blocks: &[(u32, u32)]) -> Table {
    aligned(blocks, 16)
}

/// The same, each to lie at a multiple of so many bytes.
fn aligned(blocks: &[(u32, u32)], align: u32) -> Table {
    let mut table = Table::new(blocks.len() as u32);
    let mut places = vec![NOWHERE; blocks.len()];
    let mut plan = Plan::default();
    for (block, &(granule, bytes)) in (0..).zip(blocks) {
        places[block as usize] = Place {
            block: DevicePtr::from_granule(granule),
            bytes,
        };
        plan.steps.push(Step {
            what: MALLOC,
            block,
            bytes,
            align,
        });
    }
    let mut counts = [0; COUNTS];
    counts[HAD] = blocks.len() as u32;
    table
        .settle(&plan, &places, &counts)
        .expect("blocks are there");
    table
}

fn placed(first: &[(u32, u32)], second: &[(u32, u32)]) -> Result<Vec<Lies>, String> {
    places(&[table(first), table(second)], 64..1024).map_err(|fault| fault.to_string())
}

#[test]
fn blocks_that_share_memory_are_found_whichever_table_they_are_of() {
    let apart = placed(&[(10, 32), (4, 16)], &[(12, 0), (13, 17)]).expect("they lie apart");
    let order: Vec<_> = apart.iter().map(|one| (one.side, one.block)).collect();
    assert_eq!(order, [(0, 1), (0, 0), (1, 0), (1, 1)]);
    for (first, second) in [
        (&[(10, 33)][..], &[(12, 16)][..]),
        (&[(10, 16), (10, 16)], &[]),
        (&[(10, 0)], &[(10, 0)]),
        (&[(10, 200)], &[(13, 1)]),
    ] {
        let text = placed(first, second).expect_err("they overlap");
        assert!(
            text.contains(" at 160) and block ") && text.ends_with("overlap"),
            "{text}"
        );
    }
}

#[test]
fn blocks_lie_in_the_pool() {
    assert!(placed(&[(4, 16)], &[(63, 16)]).is_ok());
    for blocks in [(3, 16), (63, 17), (64, 0), (u32::MAX - 1, 1)] {
        let text = placed(&[blocks], &[]).expect_err("it lies outside");
        assert!(text.contains("outside of the bytes 64 to 1024"), "{text}");
    }
}

#[test]
fn blocks_lie_at_multiples_of_what_they_asked_for() {
    for (granule, align, right) in [
        (12, 64, true),
        (12, 128, false),
        (4, 64, true),
        (5, 32, false),
        (6, 32, true),
    ] {
        let tables = [table(&[(62, 16)]), aligned(&[(granule, 16)], align)];
        let text = places(&tables, 64..1024).map_err(|fault| fault.to_string());
        let expected = format!(
            "block 0 of table 1 (16 bytes at {}) does not lie at a multiple of {align} bytes",
            granule * 16
        );
        assert_eq!(text.err(), (!right).then_some(expected));
    }
}

fn region(offset: u64, usage: RegionUse, live: Option<u32>) -> Region {
    Region {
        offset,
        bytes: 256,
        usage,
        units: 1,
        places: 4,
        live_blocks: live,
        used_bytes: 0,
    }
}

/// What a heap says that has blocks of 64 bytes at byte 256 and behind, and one of several units from 512 on.
fn told() -> Snapshot {
    let usage = Usage {
        used_bytes: 128 + 300,
        committed_bytes: 768,
        live_blocks: Some(3),
        ..Usage::default()
    };
    let stats = PoolStats {
        allocator: "A",
        pool_bytes: 1280,
        metadata_bytes: 256,
        usage,
        failures: [0; 3],
        refused_bytes: 0,
        mallocs: 0,
        frees: 0,
        malloc_bytes: 0,
        free_bytes: 0,
        budget: None,
    };
    Snapshot {
        sequence: 0,
        stats,
        unit: "unit",
        unit_bytes: 256,
        regions: vec![
            region(0, RegionUse::Reserved, None),
            region(256, RegionUse::Slab(64), Some(2)),
            region(512, RegionUse::Run(256), Some(1)),
            region(768, RegionUse::Run(256), Some(0)),
            region(1024, RegionUse::Idle(BlockSize::Bytes(32)), Some(0)),
        ],
    }
}

fn blocks() -> Vec<Lies> {
    let tables = [table(&[(16, 60), (20, 33)]), table(&[(32, 300)])];
    places(&tables, 0..1280).expect("they lie apart")
}

#[test]
fn a_heap_that_says_what_is_so_is_right() {
    snapshot(&told(), &blocks(), true).expect("all is so");
    // One that does not free has more than there is.
    snapshot(&told(), &blocks()[..1], false).expect("the others were not given back");
    // One that tells nothing says nothing wrong.
    let mut nothing = told();
    nothing.stats.usage = Usage::default();
    nothing.regions = vec![region(0, RegionUse::Opaque, None)];
    snapshot(&nothing, &blocks(), true).expect("it tells nothing");
}

#[test]
fn a_heap_that_says_what_is_not_so_is_found() {
    for (change, part) in [
        (
            (|s| s.stats.usage.used_bytes = 392) as fn(&mut Snapshot),
            "392 bytes are in use, and blocks have 393",
        ),
        (
            |s| s.stats.usage.committed_bytes = 400,
            "428 bytes are in use and 400 tied",
        ),
        (
            |s| s.stats.usage.live_blocks = Some(4),
            "4 blocks are in use, and there are 3",
        ),
        (
            |s| s.regions[1].live_blocks = Some(1),
            "slab 64 with 1 blocks, and 2 begin there",
        ),
        (
            |s| s.regions[3].live_blocks = Some(1),
            "with 1 blocks, and 0 begin there",
        ),
        (
            |s| s.regions[1].usage = RegionUse::Free,
            "are free, and block 0",
        ),
        (
            |s| s.regions[2].usage = RegionUse::Queue(16),
            "are queue 16, and block 0 of table 1",
        ),
    ] {
        let mut heap = told();
        change(&mut heap);
        let text = snapshot(&heap, &blocks(), true)
            .expect_err(part)
            .to_string();
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
    let empty = snapshot(&told(), &[], true)
        .expect_err("it is empty")
        .to_string();
    assert!(
        empty.contains("428 bytes are in use, and there are no blocks"),
        "{empty}"
    );
}
