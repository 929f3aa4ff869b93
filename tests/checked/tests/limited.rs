//! Heaps with a budget: it is kept under any schedule, and nothing of it is lost.

use warpheap_api::host::{
    BudgetUse, DeviceError, DeviceVec, HostAlloc, LaunchConfig, PlanError, Pool,
};
use warpheap_checked_kernels::Step;
use warpheap_checked_kernels::asks::{
    AsksEntry, COUNTS, FAILED, FREES, LIVE, MALLOCS, MOST, SpendsEntry,
};
use warpheap_checked_tests::{BLOCK, GRID, LaneStep, SLOTS, Site, everywhere, step};
use warpheap_rt::adaptor::{Counted, Limited};
use warpheap_rt::alloc::{ScatterAlloc, WarpHeap};
use warpheap_rt::arch::Words;
use warpheap_rt::host::LimitedConfig;

const POOL: u64 = 8 << 20;

everywhere! { spent, spent_beside_counts, asked, shared_out, large, reset }

fn reserve<A: HostAlloc<Memory = Words>>(site: &Site, budget: u64) -> Pool<Limited<A>> {
    let config = LimitedConfig {
        budget: Some(budget),
        ..LimitedConfig::default()
    };
    let pool = site.device.reserve_with(POOL, &config);
    pool.expect("the heap is made")
}

fn used<A: HostAlloc<Memory = Words>>(pool: &Pool<Limited<A>>) -> u64 {
    let budget = pool.stats().expect("stats").budget;
    budget.expect("there is a budget").used_bytes
}

/// A launch in which lanes ask; the numbers of those that failed, by cause.
fn ask<A: HostAlloc<Memory = Words>>(
    site: &Site,
    pool: &Pool<Limited<A>>,
    slots: &DeviceVec<u32>,
    steps: &[LaneStep],
) -> [u32; 3]
where
    Limited<A>: AsksEntry,
{
    let (steps, config) = site.steps(steps);
    // SAFETY: the slots hold the blocks of the steps.
    match unsafe { site.kernels.asks(pool, config, &steps, slots) } {
        Ok(_) => [0; 3],
        Err(DeviceError::Kernel(failure)) => failure.by_cause,
        Err(other) => panic!("{other}"),
    }
}

/// Lanes ask for more than there is, all at the same time, and give all back.
fn spends<A: HostAlloc<Memory = Words>>(site: &Site) -> Pool<Limited<A>>
where
    Limited<A>: SpendsEntry + AsksEntry,
{
    // One block of the largest size, or several small ones.
    let budget = 1610;
    let pool = reserve::<A>(site, budget);
    let budget = budget & !15;
    let config = match site.is_slow() {
        true => LaunchConfig {
            grid_dim: 3,
            block_dim: 24,
        },
        false => LaunchConfig {
            grid_dim: 256,
            block_dim: 256,
        },
    };
    let mut failed = 0;
    for _ in 0..2 {
        let counts = DeviceVec::<u32>::zeroed(&site.device, COUNTS).expect("counts");
        let ran = site.kernels.spends(&pool, config, &counts, 12);
        ran.expect("the kernel has no errors");
        let counts = counts.to_vec().expect("counts");
        assert!(u64::from(counts[MOST]) * 16 <= budget, "{counts:?}");
        assert_eq!(counts[LIVE], 0);
        assert!(counts[MALLOCS] > 0 && counts[FAILED] > 0, "{counts:?}");
        failed += counts[FAILED];
        let stats = pool.stats().expect("stats");
        let kept = BudgetUse {
            bytes: budget,
            used_bytes: 0,
        };
        assert_eq!(stats.budget, Some(kept));
        assert_eq!(stats.usage.used_bytes, 0);
        assert_eq!(stats.failures.iter().sum::<u32>(), failed);
        assert_eq!(stats.failures[2], 0);
    }
    // Nothing of it is lost: one block takes nearly all.
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let all = [(0, step(0, 700, 0))];
    assert_eq!(ask(site, &pool, &slots, &all), [0; 3]);
    pool
}

fn spent(site: &Site) {
    spends::<WarpHeap>(site);
}

/// The adaptor around another one.
fn spent_beside_counts(site: &Site) {
    let pool = spends::<Counted<ScatterAlloc>>(site);
    let stats = pool.stats().expect("stats");
    assert_eq!(stats.mallocs, stats.frees + 1);
    assert!(stats.to_string().contains("of a budget of 1600 bytes"));
}

/// What each request takes and gives back.
fn asked(site: &Site) {
    let pool = reserve::<WarpHeap>(site, 4096);
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let ask = |steps: &[Step]| {
        let steps: Vec<_> = (0..).zip(steps.iter().copied()).collect();
        ask(site, &pool, &slots, &steps)
    };
    assert_eq!(ask(&[step(0, 100, 0), step(1, 1000, 0)]), [0; 3]);
    // As the allocator rounds them.
    let both = used(&pool);
    assert!(both >= 1104, "{both}");
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, both);
    // A refusal is one of an exhausted heap, and changes nothing.
    let before = slots.to_vec().expect("slots");
    assert_eq!(ask(&[step(2, 4000, 0)]), [1, 0, 0]);
    assert_eq!(ask(&[step(0, 100, 4000)]), [1, 0, 0]);
    assert_eq!(slots.to_vec().expect("slots"), before);
    assert_eq!(used(&pool), both);
    assert_eq!(pool.stats().expect("stats").failures, [2, 0, 0]);
    // Another size counts by the difference.
    assert_eq!(ask(&[step(1, 1000, 2000)]), [0; 3]);
    let more = used(&pool);
    assert!(more >= both + 976 && more < 4096, "{more}");
    assert_eq!(ask(&[step(1, 2000, 1000)]), [0; 3]);
    assert_eq!(used(&pool), both);
    // A block that need not move is resized where the budget ends.
    let rest = 4096 - both;
    assert_eq!(
        ask(&[step(2, rest as u32 - 512, 0), step(0, 100, 99)]),
        [0; 3]
    );
    assert_eq!(ask(&[step(0, 99, 98)]), [0; 3]);
    let frees = [
        step(0, 98, FREES),
        step(1, 1000, FREES),
        step(2, rest as u32 - 512, FREES),
    ];
    assert_eq!(ask(&frees), [0; 3]);
    assert_eq!(used(&pool), 0);
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, 0);
}

/// Lanes that ask together, for more than there is: some of them get what there is.
fn shared_out(site: &Site) {
    for fit in [1, 3, 7] {
        let pool = reserve::<WarpHeap>(site, fit * 1024 + 512);
        let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
        let steps: Vec<_> = (0..BLOCK)
            .map(|lane| (lane, step(lane as usize, 1024, 0)))
            .collect();
        let failed = ask(site, &pool, &slots, &steps);
        assert_eq!(failed.iter().sum::<u32>(), BLOCK - fit as u32, "{failed:?}");
        assert_eq!(used(&pool), fit * 1024);
    }
}

/// Blocks that are larger than what is added at once.
fn large(site: &Site) {
    let pool = reserve::<WarpHeap>(site, 1 << 20);
    let size = 300_000;
    for _ in 0..2 {
        let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
        let steps: Vec<_> = (0..BLOCK * GRID)
            .map(|lane| (lane, step(lane as usize, size, 0)))
            .collect();
        let failed = ask(site, &pool, &slots, &steps);
        let found = slots.to_vec().expect("slots");
        let blocks = found.iter().enumerate().filter(|(_, at)| **at != 0);
        let frees: Vec<_> = blocks
            .map(|(slot, _)| (slot as u32, step(slot, size, FREES)))
            .collect();
        assert_eq!(frees.len(), 3);
        assert_eq!(failed, [BLOCK * GRID - 3, 0, 0]);
        assert!((900_000..1 << 20).contains(&used(&pool)));
        assert_eq!(ask(site, &pool, &slots, &frees), [0; 3]);
        assert_eq!(used(&pool), 0);
    }
}

/// A heap that was made fresh has its budget, all of it.
fn reset(site: &Site) {
    let mut pool = reserve::<WarpHeap>(site, 4096);
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let config = LaunchConfig {
        grid_dim: 1,
        block_dim: BLOCK,
    };
    for by_kernel in [true, false, true] {
        let all = [(3, step(0, 2500, 0))];
        assert_eq!(ask(site, &pool, &slots, &all), [0; 3]);
        assert_ne!(used(&pool), 0);
        match by_kernel {
            true => {
                let ran = site.kernels.frees_all(&pool, config);
                ran.expect("it has no errors");
            }
            false => pool.reset().expect("reset"),
        }
        let stats = pool.stats().expect("stats");
        let kept = BudgetUse {
            bytes: 4096,
            used_bytes: 0,
        };
        assert_eq!(stats.budget, Some(kept));
        assert_eq!(
            ask(site, &pool, &slots, &[(0, step(0, 5000, 0))]),
            [1, 0, 0]
        );
    }
}

/// A budget that cannot be is refused; without one nothing is counted; a heap with one grows.
#[test]
fn budgets() {
    let site = Site::host(32);
    let config = |budget| LimitedConfig {
        budget,
        ..LimitedConfig::default()
    };
    for bytes in [0, 15, (32 << 30) + 16] {
        let plan = <Limited<WarpHeap> as HostAlloc>::plan(POOL, &config(Some(bytes)));
        assert!(matches!(plan, Err(PlanError::BadSetting { value, .. }) if value == bytes));
    }
    let pool: Pool<Limited<WarpHeap>> = site.device.reserve(POOL).expect("a heap");
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let step = [(0, step(0, 1 << 20, 0))];
    assert_eq!(ask(&site, &pool, &slots, &step), [0; 3]);
    assert_eq!(pool.stats().expect("stats").budget, None);
    let growing = site.device.reserve_growing_with::<Limited<WarpHeap>>(
        1 << 20,
        POOL,
        &config(Some(4 << 20)),
    );
    let mut growing = growing.expect("a heap that grows");
    assert_eq!(ask(&site, &growing, &slots, &step), [1, 0, 0]);
    growing.grow_to(POOL).expect("it grows");
    assert_eq!(ask(&site, &growing, &slots, &step), [0; 3]);
    assert!(used(&growing) >= 1 << 20);
}
