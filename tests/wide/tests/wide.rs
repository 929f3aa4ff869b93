//! Heaps of larger granules: blocks are whole and apart, sizes are told as they are, and what is known of 16-byte granules holds.

use warpheap_api::host::{BackendKind, DeviceError, HeapPlan, HostAlloc, PlanError, Pool};
use warpheap_api::layout;
use warpheap_rt::adaptor::{Checked, Counted, Limited, Traced};
use warpheap_rt::alloc::{FdgMalloc, WarpHeap, WarpHeap32, WarpHeap64};
use warpheap_rt::host::WarpHeapConfig;
use warpheap_wide_tests::{Blocks, Site, Subject, everywhere};

const POOL: u64 = 16 << 20;

everywhere! { mixed, full, held_containers, grown }

fn each(site: &Site, tests: [fn(&Site); 3]) {
    tests.into_iter().for_each(|test| test(site));
}

fn lanes(site: &Site) -> u32 {
    if site.is_slow() { 70 } else { 20_000 }
}

fn reserve<A: Subject>(site: &Site, bytes: u64) -> Pool<A> {
    site.device.reserve(bytes).expect("the heap is made")
}

/// A size from a few words to some hundred, and now and then one of units or of more than a chunk.
fn size(lane: u32, salt: u32) -> u32 {
    let dice = (lane * 2 + salt).wrapping_mul(0x9e37_79b9) >> 7;
    match lane % 64 {
        7 => 20_000 + dice % 8 * 4,
        _ => 4 + dice % 180 * 4,
    }
}

/// Blocks of any sizes are whole, apart and aligned, also when they get another size, and so are those of zeros; nothing is left.
fn mixed(site: &Site) {
    fn of<A: Subject>(site: &Site) {
        let pool = reserve::<A>(site, if site.is_slow() { POOL } else { 256 << 20 });
        let fresh = pool.stats().expect("stats");
        let mut blocks = Blocks::new(site, pool, lanes(site)).expect("blocks");
        for round in 0..3 {
            let failed = blocks.take(1, |lane| size(lane, round));
            assert_eq!(failed.expect("a launch"), [0; 3]);
            let failed = blocks.resize(|lane| size(lane, round + 7));
            assert_eq!(failed.expect("a launch"), [0; 3]);
            let failed = blocks.zeros(|lane| size(lane, round + 11));
            assert_eq!(failed.expect("a launch"), [0; 3]);
            assert_eq!(blocks.wrong(1).expect("a count"), 0);
            apart(&blocks);
            blocks.give().expect("a launch");
        }
        let stats = blocks.pool.stats().expect("stats");
        assert_eq!(stats.usage.used_bytes, 0);
        assert_eq!(stats.usage.live_blocks, Some(0));
        assert_eq!(stats.metadata_bytes, fresh.metadata_bytes);
        assert!(blocks.pool.audit().expect("an audit").is_clean());
    }
    each(site, [of::<WarpHeap>, of::<WarpHeap32>, of::<WarpHeap64>]);
}

/// Blocks lie in the pool, apart and at multiples of a granule, and the heap says of them what they are.
fn apart<A: Subject>(blocks: &Blocks<'_, A>) {
    let granule = 16u64 << A::GRANULE_SHIFT;
    let mut places = blocks.places().expect("places");
    places.sort_unstable();
    for pair in places.windows(2) {
        assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
    }
    assert!(places.iter().all(|place| place.0 % granule == 0));
    let last = places.last().expect("a block");
    assert!(last.0 + last.1 <= blocks.pool.bytes());
    let stats = blocks.pool.stats().expect("stats");
    assert_eq!(stats.usage.live_blocks, Some(places.len() as u64));
    let asked: u64 = places.iter().map(|place| place.1).sum();
    let least: u64 = places.iter().map(|p| p.1.next_multiple_of(granule)).sum();
    let used = stats.usage.used_bytes;
    assert!(used >= least && used < least + least / 2, "{asked} {used}");
    let snapshot = blocks.pool.snapshot().expect("a snapshot");
    for &(offset, bytes) in &places {
        let holds = |r: &&_| region_holds(r, offset, bytes);
        assert!(snapshot.regions.iter().any(|r| holds(&r)), "{offset}");
    }
}

/// Whether a block begins in a part of the heap that says it has blocks.
fn region_holds(region: &warpheap_api::host::Region, offset: u64, _bytes: u64) -> bool {
    (region.offset..region.offset + region.bytes).contains(&offset) && !region.usage.is_free()
}

/// All of a heap is handed out, and not more; what was asked for in vain is told in bytes.
fn full(site: &Site) {
    fn of<A: Subject>(site: &Site) {
        let pool = reserve::<A>(site, POOL);
        let room = pool.bytes() - pool.metadata_bytes();
        // More than there is by a half.
        let lanes = lanes(site).min(2000);
        let bytes = (room / u64::from(lanes) * 3 / 2) as u32 & !3;
        let mut blocks = Blocks::new(site, pool, lanes).expect("blocks");
        let failed = blocks.take(64, |_| bytes).expect("a launch");
        let served = blocks.places().expect("places").len() as u32;
        assert_eq!(failed, [lanes - served, 0, 0]);
        let stats = blocks.pool.stats().expect("stats");
        let granule = 16 << A::GRANULE_SHIFT;
        let refused = u64::from(lanes - served) * u64::from(bytes).next_multiple_of(granule);
        assert_eq!(stats.refused_bytes, refused);
        assert!(stats.usage.used_bytes <= room);
        assert!(u64::from(served) * u64::from(bytes) >= room / 2, "{served}");
        assert_eq!(blocks.wrong(64).expect("a count"), 0);
        blocks.give().expect("a launch");
        let failed = blocks.take(64, |_| 4).expect("a launch");
        assert_eq!(failed, [0; 3]);
    }
    each(site, [of::<WarpHeap>, of::<WarpHeap32>, of::<WarpHeap64>]);
}

/// Containers find what they put in.
fn held_containers(site: &Site) {
    fn of<A: Subject>(site: &Site) {
        let pool = reserve::<A>(site, if site.is_slow() { POOL } else { 1 << 30 });
        let mut blocks = Blocks::new(site, pool, lanes(site)).expect("blocks");
        for number in [1, 40] {
            let failed = blocks.containers(number).expect("a launch");
            assert_eq!(failed, [0; 3]);
        }
        assert_eq!(blocks.wrong(1).expect("a count"), 0);
        let usage = blocks.pool.stats().expect("stats").usage;
        assert_eq!(usage.live_blocks, Some(0));
    }
    each(site, [of::<WarpHeap>, of::<WarpHeap32>, of::<WarpHeap64>]);
}

/// A heap that grows keeps its blocks, and gives back what it does not need.
fn grown(site: &Site) {
    fn of<A: Subject>(site: &Site) {
        let Ok(pool) = site.device.reserve_growing::<A>(POOL / 4, 4 * POOL) else {
            // Not all devices can.
            return;
        };
        let mut blocks = Blocks::new(site, pool, 60).expect("blocks");
        let bytes = (POOL / 40) as u32;
        let failed = blocks.take(64, |_| bytes).expect("a launch");
        assert!(failed[0] > 0 && failed[1..] == [0, 0], "{failed:?}");
        blocks.pool.grow_to(4 * POOL).expect("more memory");
        assert_eq!(blocks.take(64, |_| bytes).expect("a launch"), [0; 3]);
        assert_eq!(blocks.wrong(64).expect("a count"), 0);
        blocks.give().expect("a launch");
        let returned = blocks.pool.shrink_to_fit().expect("less memory");
        assert!(returned > 3 * POOL, "{returned}");
    }
    each(site, [of::<WarpHeap>, of::<WarpHeap32>, of::<WarpHeap64>]);
}

#[test]
fn pools_are_as_large_as_handles_reach() {
    fn most<A: HostAlloc<Config = WarpHeapConfig>>() -> u64 {
        match plan::<A>(!15, None) {
            Err(PlanError::TooLarge { most, .. }) => most,
            other => panic!("{other:?}"),
        }
    }
    fn plan<A: HostAlloc<Config = WarpHeapConfig>>(
        bytes: u64,
        chunk_bytes: Option<u32>,
    ) -> Result<u64, PlanError> {
        let config = WarpHeapConfig { chunk_bytes };
        let plan = HeapPlan::of::<A>(bytes, &config, BackendKind::Host)?;
        Ok(plan.metadata_bytes)
    }
    assert_eq!(most::<WarpHeap>(), (64 << 30) - 16);
    assert_eq!(most::<WarpHeap32>(), (128 << 30) - 32);
    assert_eq!(most::<WarpHeap64>(), (256 << 30) - 64);
    // All of an H200, with as small a part for itself as elsewhere.
    let (bytes, whole) = (140u64 << 30, plan::<WarpHeap64>(140 << 30, None));
    assert!(
        whole.as_ref().is_ok_and(|&own| own < bytes / 100),
        "{whole:?}"
    );
    // Chunks are as large as they are said to be.
    assert!(plan::<WarpHeap64>(POOL, Some(16 << 10)).is_ok());
    for wrong in [8 << 10, 48 << 10, 2 << 20] {
        let error = plan::<WarpHeap64>(POOL, Some(wrong)).expect_err("no such chunk");
        let told = matches!(error, PlanError::BadSetting { allocator: "WarpHeap64", value, .. } if value == u64::from(wrong));
        assert!(told, "{wrong}: {error}");
    }
    let small = plan::<WarpHeap64>(4096, None).expect_err("too small");
    let PlanError::TooSmall { least, .. } = small else {
        panic!("{small}");
    };
    assert!(plan::<WarpHeap64>(least, None).is_ok(), "{least}");
}

#[test]
fn adaptors_that_count_granules_of_16_bytes_say_so() {
    fn plan<A: HostAlloc>() -> Result<HeapPlan, PlanError> {
        HeapPlan::of::<A>(POOL, &A::Config::default(), BackendKind::Host)
    }
    assert!(plan::<Counted<WarpHeap64>>().is_ok());
    assert!(plan::<Limited<WarpHeap32>>().is_ok());
    for refused in [
        plan::<Checked<WarpHeap64>>(),
        plan::<Traced<WarpHeap32>>(),
        plan::<FdgMalloc<WarpHeap64>>(),
    ] {
        let text = refused.expect_err("words are found otherwise").to_string();
        assert!(
            text.contains("`WarpHeap`, in a pool of up to 64 GiB"),
            "{text}"
        );
    }
}

#[test]
fn sizes_are_divided_and_multiplied_without_loss() {
    for shift in [1, 2] {
        for size in [0, 1, 15, 16, 17, 63, 64, 65, 1 << 20, (1 << 20) + 1] {
            for align in [1, 16, 32, 64, 4096] {
                let whole = layout::aligned(size, align);
                let less = layout::divided(whole, shift);
                assert_eq!(less.size(), size.div_ceil(1 << shift));
                assert_eq!(less.align(), (align >> shift).max(1));
                let back = layout::multiplied(less, shift, whole);
                assert!(back.size() >= size && back.size() < size + (1 << shift));
                assert_eq!(back.align(), align);
            }
        }
        let absurd = layout::bytes(layout::ABSURD);
        assert_eq!(layout::divided(absurd, shift).size(), layout::ABSURD);
        assert_eq!(
            layout::multiplied(absurd, shift, absurd).size(),
            layout::ABSURD
        );
    }
}

#[test]
fn a_pool_beyond_the_reach_names_what_reaches_further() {
    let site = Site::host(32);
    let error = site.device.reserve::<WarpHeap>(65 << 30).map(drop);
    let text = error.expect_err("too large").to_string();
    assert!(
        text.contains("64 GiB") && text.contains("WarpHeap64"),
        "{text}"
    );
    assert!(matches!(
        site.device.reserve::<WarpHeap64>(65 << 30).map(drop),
        Err(DeviceError::TooLarge { .. } | DeviceError::OutOfMemory { .. }) | Ok(())
    ));
}

/// Heaps of which 32 bits do not reach the last byte, on GPUs whose buffers may be so large.
#[cfg(any(feature = "cuda", feature = "vulkan"))]
mod beyond_4_gib {
    use super::*;

    const BYTES: u64 = 6 << 30;
    /// Lanes that fill the heap with blocks of 64 KiB or so.
    const LANES: u32 = 100_000;
    /// A word of each 4 KiB of a block is written and read, the first and the last one among them.
    const STEP: u32 = 1024;

    fn of<A: Subject>(site: &Site) {
        let pool = reserve::<A>(site, BYTES);
        let room = pool.bytes() - pool.metadata_bytes();
        let bytes = (room / u64::from(LANES)) as u32 & !3;
        let mut blocks = Blocks::new(site, pool, LANES).expect("blocks");
        for _ in 0..2 {
            // Rounding costs the last ones their places.
            let [exhausted, others @ ..] = blocks.take(STEP, |_| bytes).expect("a launch");
            assert_eq!(others, [0; 2]);
            assert!(exhausted < LANES / 8, "{exhausted}");
            apart(&blocks);
            let places = blocks.places().expect("places");
            let far = places.iter().filter(|place| place.0 >= 4 << 30).count();
            assert!(far as u32 > LANES / 4, "{far}");
            assert_eq!(blocks.wrong(STEP).expect("a count"), 0);
            blocks.give().expect("a launch");
        }
        let usage = blocks.pool.stats().expect("stats").usage;
        assert_eq!(usage.live_blocks, Some(0));
    }

    /// Not where the device has no such buffer, as in CI.
    fn everything(site: Option<Site>) {
        let Some(site) = site else { return };
        let info = site.device.info();
        if info.max_buffer_bytes < BYTES || site.is_slow() {
            eprintln!(
                "SKIPPED: heaps beyond 4 GiB on {}, whose largest buffer has {} bytes",
                info.name, info.max_buffer_bytes
            );
            return;
        }
        each(&site, [of::<WarpHeap>, of::<WarpHeap32>, of::<WarpHeap64>]);
    }

    #[cfg(feature = "vulkan")]
    #[test]
    fn vulkan() {
        everything(Site::vulkan());
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn cuda() {
        everything(Site::cuda());
    }
}
