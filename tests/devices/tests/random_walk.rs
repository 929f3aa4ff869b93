//! What only the random walks promise: steps as the paper expects them, pages and units of the sizes that
//! were set, heaps that serve their last page, units that come back.

use warpheap_api::host::{DeviceError, HostAlloc, Pool};
use warpheap_api::{AllocError, layout};
use warpheap_rt::alloc::{
    ClusteredWalk, CollaborativeWalk, PageWalk, RandomWalk, RandomWalkBitmap, RandomWalkMalloc,
};
use warpheap_rt::host::{CountsSteps, RandomWalkConfig, RandomWalkMallocConfig, WalkSteps};
use warpheap_test_kernels::program::StepMallocsEntry;
use warpheap_tests::blocks::{fill, free_all, used};
use warpheap_tests::heap::{Failures, malloc};
use warpheap_tests::walks::{Case, Measured, PAGES, SHARES, ask, counting_pool, lanes};
use warpheap_tests::{Site, TestHeap};

/// A heap filled to the last page, in which most requests sweep.
const SMALL: u64 = 1 << 20;

fn heap<A: HostAlloc>(bytes: u64, config: &A::Config) -> Pool<A> {
    let site = Site::host(8);
    site.device.reserve_with(bytes, config).expect("a heap")
}

fn pages_of(page_bytes: u32) -> RandomWalkConfig {
    RandomWalkConfig {
        page_bytes,
        ..RandomWalkConfig::default()
    }
}

/// Measures all cases of a kind and hands each to `check`.
fn measure<const KIND: u32>(
    case: impl Fn(u32, f64, u32) -> Case,
    check: impl Fn(Case, Measured, f64),
) where
    PageWalk<KIND>: StepMallocsEntry,
{
    for share in SHARES {
        for lanes in lanes() {
            let case = case(PAGES, share, lanes);
            check(case, case.measure::<KIND>(), share);
        }
    }
}

fn near(what: &str, case: Case, measured: f64, expected: f64) {
    let off = (measured / expected - 1.0).abs();
    assert!(
        off < 0.05,
        "{what}: {measured} instead of {expected}: {case:?}"
    );
}

/// What was measured over few warps scatters: by three deviations of the average of a maximum of 32 numbers
/// of trials, which itself deviates by less than a third of it.
fn below(what: &str, case: Case, measured: Measured, bound: f64) {
    let error = 3.0 * 0.32 / (measured.warps as f64).sqrt();
    let per_warp = measured.per_warp;
    assert!(
        per_warp < bound * (1.0 + error),
        "{what}: {per_warp}, above {bound}: {case:?}"
    );
}

#[test]
fn steps_of_rw_are_those_of_equations_3_and_4() {
    measure::<0>(Case::scattered, |case, measured, _| {
        near("Eq. 3", case, measured.per_thread, case.walk_steps());
        below("Eq. 4", case, measured, case.walk_bound());
    });
}

#[test]
fn steps_of_rw_bm_are_those_of_equations_5_and_6() {
    measure::<1>(Case::scattered, |case, measured, _| {
        near("Eq. 5", case, measured.per_thread, case.bitmap_steps());
        below("Eq. 6", case, measured, case.bitmap_bound());
    });
}

#[test]
fn lanes_of_a_collaborating_warp_take_the_same_steps_and_few() {
    measure::<2>(Case::scattered, |case, measured, _| {
        assert_eq!(measured.per_thread, measured.per_warp, "{case:?}");
        // The first step of a warp is one word, so that a second one is usual.
        let bound = case.bitmap_bound().max(2.1);
        below("Eq. 6", case, measured, bound);
    });
}

#[test]
fn steps_of_crw_are_those_of_equation_9() {
    measure::<3>(Case::clustered, |case, measured, _| {
        let steps = measured.per_thread;
        // The equation has each lane find its cluster as the one before left it. Where many lanes walk at
        // the same time, they take pages that are next for others.
        if case.lanes <= case.free / 16 {
            near("Eq. 9", case, steps, case.clustered_steps());
        }
        assert!(steps > 0.95 * case.clustered_steps(), "{steps}: {case:?}");
        assert!(steps < 1.0 + case.walk_steps(), "{steps}: {case:?}");
        below(
            "Eq. 4 and one step",
            case,
            measured,
            1.0 + case.walk_bound(),
        );
    });
}

#[test]
fn warps_that_find_a_heap_full_share_the_look() {
    const WALK: u32 = 64;
    let pages = 1 << 14;
    // A warp of its own takes a step for every 32 pages, as in schedules that let one warp run after the other.
    let alone = (WALK + pages / 32) as f64;
    let mut least = alone;
    for seed in 0..8 {
        let site = Site::explored(32, seed);
        let pool = counting_pool::<0>(&site, pages, WALK);
        PageWalk::set_taken(&pool, &vec![u32::MAX; pages as usize / 32]).expect("a full heap");
        let codes = ask(&site, &pool, 2048);
        let exhausted = AllocError::Exhausted.code();
        assert!(codes.iter().all(|&code| code == exhausted), "{codes:?}");
        let steps = WalkSteps::read(&pool).expect("counters").per_warp();
        println!("seed {seed}: {steps}");
        assert!(steps <= 2.0 * alone, "seed {seed}: {steps} steps");
        least = least.min(steps);
    }
    // Of 64 warps that look at the same time, each looks at a few segments.
    assert!(least < alone / 3.0, "{least} steps instead of {alone}");
}

fn serves_every_page<const KIND: u32>() {
    for page_bytes in [16, 128, 1024, 4096] {
        let pool = heap::<PageWalk<KIND>>(SMALL, &pages_of(page_bytes));
        let layout = layout::bytes(page_bytes as usize);
        for _ in 0..2 {
            let blocks = fill(&pool, layout);
            assert_eq!(blocks.len() as u32, PageWalk::pages(&pool), "{page_bytes}");
            assert!(
                blocks
                    .iter()
                    .all(|b| b.byte_offset(0) % page_bytes as u64 == 0)
            );
            assert_eq!(used(&pool), pool.bytes() - pool.metadata_bytes());
            free_all(&pool, blocks, layout);
            assert_eq!(used(&pool), 0);
        }
        let beyond = layout::bytes(page_bytes as usize + 1);
        match pool.malloc(beyond) {
            Err(DeviceError::Heap { cause, .. }) => assert_eq!(cause, AllocError::Unsupported),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_heap_serves_its_last_page() {
    serves_every_page::<0>();
    serves_every_page::<1>();
    serves_every_page::<2>();
    serves_every_page::<3>();
}

#[test]
fn a_lane_goes_on_behind_its_last_page() {
    let pool = heap::<ClusteredWalk>(SMALL, &pages_of(256));
    let places: Vec<u64> = (0..20)
        .map(|_| {
            pool.malloc(layout::bytes(256))
                .expect("a page")
                .byte_offset(0)
        })
        .collect();
    let behind = places.windows(2).filter(|pair| pair[1] == pair[0] + 256);
    // Except where the heap ends.
    assert!(behind.count() >= 18, "{places:?}");
}

#[test]
fn a_warps_pages_come_from_one_word_of_an_empty_heap() {
    let site = Site::host(32);
    let mut heap = TestHeap::<CollaborativeWalk>::new(&site, 8 << 20, 320);
    heap.block_dim = 64;
    let program: Vec<_> = (0..320).map(|lane| vec![malloc(lane, 100)]).collect();
    let outcomes = heap.run(&program, Failures::None);
    for warp in outcomes.chunks_exact(32) {
        let first = warp[0][0].granule;
        let side_by_side = warp
            .iter()
            .zip(0..)
            .all(|(lane, i)| lane[0].granule == first + 256 * i);
        assert!(side_by_side, "{warp:?}");
    }
}

fn counts<A: CountsSteps>(config: &A::Config, expected: WalkSteps) {
    let pool = heap::<A>(SMALL, config);
    for _ in 0..3 {
        pool.malloc(layout::bytes(16)).expect("a block");
    }
    assert_eq!(WalkSteps::read(&pool).expect("counters"), expected);
    WalkSteps::clear(&pool).expect("counters");
    assert_eq!(
        WalkSteps::read(&pool).expect("counters"),
        WalkSteps::default()
    );
}

#[test]
fn steps_are_counted_only_if_asked_for() {
    let (off, mut on) = (RandomWalkConfig::default(), RandomWalkConfig::default());
    on.count_steps = true;
    counts::<RandomWalkBitmap>(&off, WalkSteps::default());
    // The word at the computed place has room for all three.
    let three = WalkSteps {
        requests: 3,
        steps: 3,
        warps: 3,
        most: 3,
    };
    counts::<RandomWalkBitmap>(&on, three);
    counts::<CollaborativeWalk>(&on, three);
    let units = RandomWalkMallocConfig {
        count_steps: true,
        ..Default::default()
    };
    // The computed place is taken after the first; a random region has room.
    let five = WalkSteps {
        steps: 5,
        most: 5,
        ..three
    };
    counts::<RandomWalkMalloc>(&units, five);
}

#[test]
fn a_walk_that_is_too_short_ends_in_a_sweep() {
    let config = RandomWalkConfig {
        walk_pages: 1,
        ..pages_of(256)
    };
    let pool = heap::<RandomWalk>(SMALL, &config);
    let size = layout::bytes(256);
    let mut blocks = fill(&pool, size);
    assert_eq!(blocks.len() as u32, PageWalk::pages(&pool));
    let last = blocks.remove(1234);
    free_all(&pool, vec![last], size);
    assert_eq!(pool.malloc(size).ok(), Some(last), "the only free page");
}

#[test]
fn sizes_take_as_many_units_as_they_need() {
    let pool = heap::<RandomWalkMalloc>(SMALL, &RandomWalkMallocConfig::default());
    for (bytes, units) in [
        (0, 1),
        (1, 1),
        (256, 1),
        (257, 2),
        (1050, 5),
        (8192, 32),
        (100_000, 391),
    ] {
        let layout = layout::bytes(bytes);
        let block = pool.malloc(layout).expect("there is room");
        assert_eq!(used(&pool), units * 256, "{bytes}");
        free_all(&pool, vec![block], layout);
        assert_eq!(used(&pool), 0, "{bytes}");
    }
}

#[test]
fn every_unit_is_found_whatever_lies_around_it() {
    for (unit_bytes, region_units) in [(16, 64), (256, 2048), (512, 32), (4096, 128)] {
        let config = RandomWalkMallocConfig {
            unit_bytes,
            region_units,
            ..Default::default()
        };
        let pool = heap::<RandomWalkMalloc>(SMALL, &config);
        let unit = layout::bytes(unit_bytes as usize);
        let all = (pool.bytes() - pool.metadata_bytes()) / unit_bytes as u64;
        let mut blocks = fill(&pool, unit);
        assert_eq!(blocks.len() as u64, all);
        blocks.sort_by_key(|block| block.granule());
        // Holes of three units, one across words of the map.
        for at in [200, 94, 62, 0] {
            free_all(&pool, blocks.splice(at..at + 3, []).collect(), unit);
        }
        assert!(pool.malloc(layout::bytes(4 * unit_bytes as usize)).is_err());
        let three = layout::bytes(3 * unit_bytes as usize);
        let held = fill(&pool, three);
        assert_eq!(held.len(), 4, "units of {unit_bytes}");
        free_all(&pool, held, three);
        free_all(&pool, blocks, unit);
        assert_eq!(used(&pool), 0);
    }
}

#[test]
fn small_requests_of_a_warp_share_units() {
    let site = Site::host(32);
    for (size, units) in [(16, 2), (48, 6), (100, 14), (240, 30)] {
        let mut heap = TestHeap::<RandomWalkMalloc>::new(&site, SMALL, 64);
        heap.block_dim = 32;
        let program: Vec<_> = (0..64).map(|lane| vec![malloc(lane, size)]).collect();
        heap.run(&program, Failures::None);
        let used = |heap: &TestHeap<'_, RandomWalkMalloc>| used(&heap.pool) / 256;
        assert_eq!(used(&heap), 2 * units, "{size} bytes");
        // A unit comes back with the last block in it.
        let but_last: Vec<usize> = (0..64).filter(|lane| lane % 32 != 31).collect();
        heap.free_all(&but_last, 5);
        let left = if size > 100 { 2..=4 } else { 2..=2 };
        assert!(left.contains(&used(&heap)), "{size} bytes: {}", used(&heap));
        heap.free_all(&heap.taken(), 2);
        assert_eq!(used(&heap), 0);
    }
}

#[test]
fn alignments_beyond_a_unit_are_kept() {
    let pool = heap::<RandomWalkMalloc>(SMALL, &RandomWalkMallocConfig::default());
    let mut all = Vec::new();
    for shift in 0..=16 {
        for bytes in [1, 100, 300, 20_000] {
            let layout = layout::aligned(bytes, 1 << shift);
            let block = pool.malloc(layout).expect("there is room");
            assert_eq!(block.byte_offset(0) % (1 << shift), 0, "{layout:?}");
            if bytes < 20_000 {
                all.push((block, layout));
            } else {
                free_all(&pool, vec![block], layout);
            }
        }
    }
    for (block, layout) in all {
        free_all(&pool, vec![block], layout);
    }
    assert_eq!(used(&pool), 0);
}
