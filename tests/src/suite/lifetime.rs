//! Blocks live until they are freed, by whichever lane, and their memory is used again.

use super::{ROOMY, Subject, roomy, thousandth, tight, usable};
use crate::heap::{Failures, free, malloc, realloc};
use crate::{Site, TestHeap};
use warpheap_api::host::{DeviceVec, LaunchConfig, Pool, Prepared};
use warpheap_test_kernels::handover::{COUNTS, DAMAGED, EMPTY, FAILED, Plan, RECEIVED, rounds_of};
use warpheap_test_kernels::program::Op;

/// What a launch leaves is there in the next ones, whatever else they do.
pub fn outlive_launches<A: Subject>(site: &Site) {
    let lanes = 200;
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * 3);
    for round in 0..3 {
        let program: Vec<Vec<Op>> = (0..lanes)
            .map(|lane| vec![malloc(lane * 3 + round, (lane % 50 * 7) as u64)])
            .collect();
        heap.run(&program, Failures::None);
        heap.check_all();
    }
    // Other blocks come, change and go.
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| match lane % 3 {
            0 => vec![free(lane * 3 + 1), malloc(lane * 3 + 1, 333)],
            1 => vec![realloc(lane * 3 + 2, 500)],
            _ => vec![],
        })
        .collect();
    heap.run(&program, Failures::None);
    heap.check_all();
}

/// A block may be freed by any lane of any launch.
pub fn freed_elsewhere<A: Subject>(site: &Site) {
    let (lanes, each) = (256, 3);
    let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * each);
    for round in 0..3 {
        let program: Vec<Vec<Op>> = (0..lanes)
            .map(|lane| {
                let size = |i| ((lane + i * 50) % 300) as u64;
                (0..each)
                    .map(|i| malloc(lane * each + i, size(i)))
                    .collect()
            })
            .collect();
        // A shape of blocks is compiled for itself.
        let one_shape = site.compiles_slowly();
        if !one_shape {
            heap.block_dim = 64 + round * 20;
        }
        heap.run(&program, Failures::None);
        // In another order, by fewer lanes, in blocks of another shape.
        let mut slots = heap.taken();
        slots.sort_by_key(|slot| slot * 7919 % 1009);
        if !one_shape {
            heap.block_dim = 33;
        }
        heap.free_all(&slots, 101);
        if A::CAPS.frees {
            let usage = heap.pool.stats().expect("stats").usage;
            assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
        }
    }
}

/// Lanes pass blocks to each other while all of them allocate, and free each other's.
pub fn handed_over<A: Subject>(site: &Site) {
    let lanes = site.many_lanes() as u32;
    let bytes = roomy::<A>(2 * lanes as usize);
    let pool = site.device.reserve::<A>(bytes).expect("the heap is made");
    let failed = hand_over(site, &pool, lanes, 12, 0x1234, 300);
    let causes = pool.stats().expect("stats").failures;
    assert_eq!(
        failed, 0,
        "the heap has room for all of it; exhausted, contended, unsupported: {causes:?}"
    );
}

/// Runs [`handed_over`]'s kernels with checks of all that may not happen; the number of mallocs that
/// failed.
pub fn hand_over<A: Subject>(
    site: &Site,
    pool: &Pool<A>,
    lanes: u32,
    rounds: u32,
    seed: u32,
    range: u32,
) -> u32 {
    let hand_over = HandOver::new(site, pool, lanes, rounds, seed, range);
    if let Err(error) = site.device.run_all(&hand_over.launches) {
        panic!("{} on {}: {error}", A::NAME, site.device.info().name);
    }
    judge(pool, &[hand_over])
}

/// Launches of [`handed_over`]'s kernels, and what they count.
pub struct HandOver {
    /// The launches, in order.
    pub launches: Vec<Prepared>,
    counts: DeviceVec<u32>,
    /// Blocks that go round.
    all: u32,
}

impl HandOver {
    /// So many lanes that hand over blocks so many times.
    pub fn new<A: Subject>(
        site: &Site,
        pool: &Pool<A>,
        lanes: u32,
        rounds: u32,
        seed: u32,
        range: u32,
    ) -> Self {
        let device = &site.device;
        let boxes_number = (lanes / 8).max(3);
        let boxes =
            DeviceVec::from_slice(device, &vec![EMPTY; boxes_number as usize]).expect("boxes");
        let counts = DeviceVec::<u32>::zeroed(device, COUNTS).expect("counts");
        let shape = |lanes: u32| LaunchConfig {
            grid_dim: lanes.div_ceil(96),
            block_dim: lanes.min(96),
        };
        let plan = Plan {
            least: 16,
            range,
            seed,
        };
        let kernels = &site.kernels;
        let config = shape(lanes);
        let mut launches = Vec::new();
        if site.compiles_slowly() {
            launches.extend((0..rounds + 2).map(|round| {
                kernels.hand_over_once_launch(pool, config, &boxes, &counts, plan, rounds, round)
            }));
        } else {
            launches.push(kernels.hand_over_launch(pool, config, &boxes, &counts, plan, rounds));
        }
        launches.push(kernels.empty_boxes_launch(pool, shape(boxes_number), &boxes, &counts, plan));
        // As the kernel counts: whole blocks of lanes, of which every third does one or two rounds more.
        let all = (0..config.grid_dim * config.block_dim)
            .map(|lane| rounds_of(rounds, lane))
            .sum();
        HandOver {
            launches,
            counts,
            all,
        }
    }
}

/// Checks what came of blocks that were handed over in a heap; the number of mallocs that failed.
pub fn judge<A: Subject>(pool: &Pool<A>, done: &[HandOver]) -> u32 {
    let mut failed = 0;
    for one in done {
        let counts = one.counts.to_vec().expect("counts");
        assert_eq!(counts[DAMAGED], 0, "{}: damaged blocks", A::NAME);
        assert_eq!(
            counts[RECEIVED] + counts[FAILED],
            one.all,
            "{}: every block was received by someone",
            A::NAME
        );
        failed += counts[FAILED];
    }
    let stats = pool.stats().expect("the header is intact");
    assert_eq!(stats.failures.iter().sum::<u32>(), failed);
    if A::CAPS.frees {
        let usage = stats.usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
    failed
}

/// A heap that is filled and emptied again and again holds as much each time.
pub fn rounds_without_growth<A: Subject>(site: &Site) {
    if !A::CAPS.frees {
        return;
    }
    let pool_bytes = tight::<A>();
    let mut first = None;
    let mut heap = TestHeap::<A>::new(site, pool_bytes, 4096);
    let size = thousandth(&heap.pool);
    let count = (usable(&heap.pool) / size + 64) as usize;
    let lanes = 64;
    for round in 0..5 {
        let program = fill(count, lanes, size);
        heap.run(&program, Failures::Any);
        let slots = heap.taken();
        let got = slots.len();
        let expected = *first.get_or_insert(got);
        assert!(
            got * 20 >= expected * 19,
            "{}: round {round} got {got} blocks of {size} bytes, the first {expected}",
            A::NAME
        );
        heap.free_all(&slots, lanes);
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}

/// A program that asks for `count` blocks of `size` bytes in all.
pub fn fill(count: usize, lanes: usize, size: u64) -> Vec<Vec<Op>> {
    let mut program = vec![Vec::new(); lanes];
    for slot in 0..count {
        program[slot % lanes].push(malloc(slot, size));
    }
    program
}

/// A heap that was reset is as a fresh one.
pub fn reset_heap<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, tight::<A>(), 4096);
    let fresh = heap.pool.stats().expect("stats");
    let size = thousandth(&heap.pool);
    let program = vec![fill((usable(&heap.pool) / size + 64) as usize, 1, size).remove(0)];
    heap.run(&program, Failures::Exhausted);
    let got = heap.taken().len();
    assert!(got > 0);
    heap.reset();
    assert_eq!(heap.pool.stats().expect("stats"), fresh);
    heap.run(&program, Failures::Exhausted);
    assert_eq!(heap.taken().len(), got);
}
