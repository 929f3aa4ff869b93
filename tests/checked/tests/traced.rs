//! Traces: every request is in them once, in order; what finds no room is counted.

use std::collections::HashMap;
use warpheap_api::AllocError;
use warpheap_api::host::{
    BackendKind, DeviceError, DeviceVec, HostAlloc, LaunchConfig, PlanError, Pool,
};
use warpheap_checked_kernels::asks::{COUNTS, FAILED, FREES, MALLOCS, RESIZED, SpendsEntry};
use warpheap_checked_tests::{BLOCK, LaneStep, SLOTS, Site, everywhere, step};
use warpheap_rt::adaptor::{Checked, Limited, Traced};
use warpheap_rt::alloc::{ScatterAlloc, WarpHeap};
use warpheap_rt::arch::Words;
use warpheap_rt::host::{
    CheckedConfig, LimitedConfig, Trace, TraceCall, TraceEvent, TracedConfig, WarpHeapConfig,
    trace_of,
};

const POOL: u64 = 8 << 20;

everywhere! { spent, spent_of_a_budget, asked, full, too_little, reset }

fn reserve<A: HostAlloc<Memory = Words>>(
    site: &Site,
    inner: A::Config,
    events: Option<u64>,
) -> Pool<Traced<A>> {
    let config = TracedConfig { inner, events };
    let pool = site.device.reserve_with(POOL, &config);
    pool.expect("the heap is made")
}

fn take<A: HostAlloc<Memory = Words>>(pool: &Pool<Traced<A>>) -> Trace {
    Traced::take(pool).expect("the events are taken")
}

/// Counts of a launch in which lanes have blocks.
fn spend<A: HostAlloc<Memory = Words>>(site: &Site, pool: &Pool<Traced<A>>) -> (Vec<u32>, u32)
where
    Traced<A>: SpendsEntry,
{
    let config = match site.is_slow() {
        true => LaunchConfig {
            grid_dim: 3,
            block_dim: 24,
        },
        false => LaunchConfig {
            grid_dim: 16,
            block_dim: 64,
        },
    };
    let counts = DeviceVec::<u32>::zeroed(&site.device, COUNTS).expect("counts");
    let ran = site.kernels.spends(pool, config, &counts, 12);
    ran.expect("the kernel has no errors");
    let lanes = config.grid_dim * config.block_dim;
    (counts.to_vec().expect("counts"), lanes)
}

/// How many events are of a kind.
fn count(trace: &Trace, is: impl Fn(TraceCall) -> bool) -> u32 {
    trace.events.iter().filter(|event| is(event.call)).count() as u32
}

/// Follows the blocks of a trace: each is handed out before it is freed, with the same size. Those that are left.
fn follow(trace: &Trace) -> HashMap<u32, u64> {
    let mut live = HashMap::new();
    for event in &trace.events {
        if event.call.begins() {
            let before = live.insert(event.granule, event.bytes);
            assert_eq!(before, None, "{event:?}");
        } else if event.call.ends() {
            let block = live.remove(&event.granule);
            assert_eq!(block, Some(event.bytes), "{event:?}");
        }
    }
    live
}

/// All that lanes asked for is there, of two launches.
fn spends<A: HostAlloc<Memory = Words>>(site: &Site, inner: A::Config, refuses: bool)
where
    Traced<A>: SpendsEntry,
{
    let pool = reserve::<A>(site, inner, Some(1 << 17));
    let (first, lanes) = spend(site, &pool);
    let (second, _) = spend(site, &pool);
    let trace = take(&pool);
    assert_eq!(
        (trace.lost, trace.launches.as_slice()),
        (0, &["spends".to_string(), "spends".to_string()][..])
    );
    let both = |which: usize| first[which] + second[which];
    assert_eq!(
        count(&trace, |call| call == TraceCall::Malloc),
        both(MALLOCS)
    );
    assert_eq!(count(&trace, |call| call == TraceCall::Free), both(MALLOCS));
    for call in [TraceCall::ResizedFrom, TraceCall::ResizedTo] {
        assert_eq!(count(&trace, |other| other == call), both(RESIZED));
    }
    assert_eq!(count(&trace, TraceCall::failed), both(FAILED));
    assert_eq!(both(FAILED) > 0, refuses);
    // Without a clock, which warp's request was first is a guess.
    if trace.clock {
        assert_eq!(follow(&trace), HashMap::new());
    }
    let in_order = |event: &&TraceEvent| (event.launch, event.lane);
    let seen: Vec<_> = trace.events.iter().map(|event| in_order(&event)).collect();
    assert!(seen.is_sorted_by_key(|one| one.0));
    assert!((0..lanes).all(|lane| seen.contains(&(1, lane))));
    assert!(trace.events.iter().all(|event| event.bytes < 1500));
    // They are taken once.
    let (third, _) = spend(site, &pool);
    let trace = take(&pool);
    assert_eq!(trace.launches, ["spends"]);
    assert_eq!(
        count(&trace, |call| call == TraceCall::Malloc),
        third[MALLOCS]
    );
    assert_eq!(take(&pool).events, []);
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, 0);
}

fn spent(site: &Site) {
    spends::<WarpHeap>(site, WarpHeapConfig::default(), false);
}

/// Around another adaptor, which refuses.
fn spent_of_a_budget(site: &Site) {
    let config = LimitedConfig {
        budget: Some(1600),
        ..LimitedConfig::default()
    };
    spends::<Limited<ScatterAlloc>>(site, config, true);
}

/// A launch in which lanes ask.
fn ask(site: &Site, pool: &Pool<Traced<WarpHeap>>, slots: &DeviceVec<u32>, steps: &[LaneStep]) {
    let (steps, config) = site.steps(steps);
    // SAFETY: the slots hold the blocks of the steps.
    match unsafe { site.kernels.asks(pool, config, &steps, slots) } {
        Ok(_) | Err(DeviceError::Kernel(_)) => {}
        Err(other) => panic!("{other}"),
    }
}

/// What an event tells.
fn asked(site: &Site) {
    let pool = reserve::<WarpHeap>(site, WarpHeapConfig::default(), None);
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let handle = |slot: usize| slots.to_vec().expect("slots")[slot];
    ask(
        site,
        &pool,
        &slots,
        &[(3, step(0, 100, 0)), (9, step(1, 1 << 30, 0))],
    );
    let first = handle(0);
    ask(site, &pool, &slots, &[(31, step(0, 100, 5000))]);
    let second = handle(0);
    ask(site, &pool, &slots, &[(31, step(0, 5000, 1 << 30))]);
    ask(site, &pool, &slots, &[(2, step(0, 5000, FREES))]);
    // A launch without a request is none.
    ask(site, &pool, &slots, &[]);
    let trace = trace_of(pool.raw()).expect("the events").expect("a trace");
    assert_eq!(trace.launches, ["asks"; 4]);
    assert_eq!(
        trace.clock,
        site.device.info().backend != BackendKind::Vulkan
    );
    assert_eq!(trace.allocator, "WarpHeap");
    let mut found: Vec<_> = trace
        .events
        .iter()
        .map(|event| {
            (
                event.launch,
                event.lane,
                event.call,
                event.granule,
                event.bytes,
            )
        })
        .collect();
    // Those of one launch come in the order of their times.
    found[..2].sort_by_key(|event| event.1);
    let full = AllocError::Exhausted;
    let expected = [
        (0, 3, TraceCall::Malloc, first, 100),
        (0, 9, TraceCall::Failed(full), 0, 1 << 30),
        (1, 31, TraceCall::ResizedFrom, first, 100),
        (1, 31, TraceCall::ResizedTo, second, 5000),
        (2, 31, TraceCall::NotResized(full), 0, 1 << 30),
        (3, 2, TraceCall::Free, second, 5000),
    ];
    assert_eq!(found, expected);
    assert!(trace.events.is_sorted_by_key(|event| event.time));
    let (first, last) = (trace.events[0].time, trace.events[5].time);
    assert_eq!(first, 0);
    // Launches take some microseconds at least, and a test less than a minute.
    assert!(
        !trace.clock || (1000..60_000_000_000).contains(&last),
        "{last}"
    );
}

/// Events beyond what is kept are counted, and those that are there stay.
fn full(site: &Site) {
    let pool = reserve::<WarpHeap>(site, WarpHeapConfig::default(), Some(64));
    let mut calls = 0;
    let mut traces = Vec::new();
    for _ in 0..2 {
        for _ in 0..2 {
            let (counts, _) = spend(site, &pool);
            calls += u64::from(2 * counts[MALLOCS] + 2 * counts[RESIZED] + counts[FAILED]);
        }
        let trace = take(&pool);
        // A ring may have a place that was too little for a resized block's two events.
        assert!(
            (33..=64).contains(&trace.events.len()),
            "{}",
            trace.events.len()
        );
        assert_eq!(trace.events.len() as u64 + trace.lost, calls);
        assert_eq!(trace.launches, ["spends"]);
        calls = 0;
        traces.push(trace);
    }
    assert_eq!(pool.stats().expect("stats").usage.used_bytes, 0);
}

/// What is said of a heap that is full holds what the trace knows, and a pool as large as its guess is enough.
fn too_little(site: &Site) {
    const EACH: u32 = 1 << 20;
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let lanes: Vec<_> = (0..16)
        .map(|lane| (lane as u32, step(lane, EACH, 0)))
        .collect();
    let (steps, config) = site.steps(&lanes);
    let run = |bytes| {
        let pool = site.device.reserve::<Traced<WarpHeap>>(bytes);
        let pool = pool.expect("the heap is made");
        // SAFETY: no step has a block.
        let ran = unsafe { site.kernels.asks(&pool, config, &steps, &slots) };
        (pool, ran)
    };
    let (pool, ran) = run(POOL);
    let Err(DeviceError::Kernel(failure)) = ran else {
        panic!("16 MiB are in 8");
    };
    let full = pool.stats().expect("stats").when_full(&failure);
    let trace = take(&pool);
    let failed = trace.events.iter().filter(|event| event.call.failed());
    let asked = failed.map(|event| event.bytes).sum();
    assert_eq!(asked, u64::from(EACH) * u64::from(failure.lanes));
    let full = full.expect("a heap that is full");
    assert_eq!(
        full,
        full.clone().asking(asked),
        "the heap counts as its trace"
    );
    let used = (16 - u64::from(failure.lanes)) * u64::from(EACH);
    let text = full.to_string();
    for part in [
        format!("asked for {asked} bytes in vain"),
        format!("`reserve({})`", full.reserve()),
    ] {
        assert!(text.contains(&part), "no `{part}` in: {text}");
    }
    assert!(pool.stats().expect("stats").usage.used_bytes >= used);
    assert!(full.reserve() < 4 * POOL, "{text}");
    run(full.reserve()).1.expect("the guess is enough");
}

/// A kernel that makes the heap fresh is in the trace; by the host the trace is empty, too.
fn reset(site: &Site) {
    let mut pool = reserve::<WarpHeap>(site, WarpHeapConfig::default(), None);
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    let config = LaunchConfig {
        grid_dim: 2,
        block_dim: BLOCK,
    };
    ask(site, &pool, &slots, &[(3, step(0, 100, 0))]);
    let ran = site.kernels.frees_all(&pool, config);
    ran.expect("it has no errors");
    let trace = take(&pool);
    let calls: Vec<_> = trace.events.iter().map(|event| event.call).collect();
    assert_eq!(calls, [TraceCall::Malloc, TraceCall::Reset]);
    assert_eq!(trace.launches, ["asks", "frees_all"]);
    ask(site, &pool, &slots, &[(3, step(0, 100, 0))]);
    pool.reset().expect("reset");
    let trace = take(&pool);
    assert_eq!((trace.events.len(), trace.launches.len()), (0, 0));
}

/// The table of launches has an end.
#[test]
fn many_launches() {
    let site = Site::host(8);
    let pool = reserve::<WarpHeap>(&site, WarpHeapConfig::default(), Some(1 << 12));
    let slots = DeviceVec::zeroed(&site.device, SLOTS).expect("slots");
    for round in 0..520 {
        let other = if round % 2 == 0 { 0 } else { FREES };
        ask(&site, &pool, &slots, &[(0, step(0, 100, other))]);
    }
    let trace = take(&pool);
    assert_eq!((trace.events.len(), trace.launches.len()), (520, 512));
    assert_eq!(
        (&*trace.launches[510], &*trace.launches[511]),
        ("asks", "…")
    );
    let beyond = trace.events.iter().filter(|event| event.launch == 511);
    assert_eq!(beyond.count(), 9);
    assert_eq!(follow(&trace), HashMap::new());
}

/// A pool is refused that is too small, or to grow, or to be checked as well.
#[test]
fn impossible_heaps() {
    let plan = |bytes, events| {
        let config = TracedConfig {
            events,
            ..TracedConfig::default()
        };
        <Traced<WarpHeap> as HostAlloc>::plan(bytes, &config)
    };
    let Err(PlanError::TooSmall { least, .. }) = plan(4096, Some(32)) else {
        panic!("4096 bytes are enough");
    };
    plan(least, Some(32)).expect("the least is enough");
    for events in [0, 31, (1 << 28) + 1] {
        let refused = plan(POOL, Some(events));
        assert!(matches!(refused, Err(PlanError::BadSetting { value, .. }) if value == events));
    }
    let site = Site::host(32);
    let growing = site
        .device
        .reserve_growing::<Traced<WarpHeap>>(1 << 20, 2 << 20);
    let text = growing.map(|_| ()).expect_err("it cannot grow").to_string();
    assert!(text.starts_with("Traced heaps cannot grow"), "{text}");
    let both = <Traced<Checked<WarpHeap>> as HostAlloc>::plan(POOL, &TracedConfig::default());
    assert!(matches!(both, Err(PlanError::BadSetting { .. })));
    let both = <Checked<Traced<WarpHeap>> as HostAlloc>::plan(POOL, &CheckedConfig::default());
    assert!(matches!(both, Err(PlanError::BadSetting { .. })));
}
