//! Random programs.

use super::{ROOMY, Subject, least};
use crate::heap::{Failures, check, free, malloc, op, realloc};
use crate::{Site, TestHeap};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use warpheap_api::host::BackendKind;
use warpheap_test_kernels::program::{ARRAY, CALLOC, MALLOC, OK, Op};

/// Slots of each lane.
const EACH: usize = 4;

/// One action in one of a lane's slots. Sizes are mostly small, alignments mostly ordinary.
fn action() -> impl Strategy<Value = Op> {
    let size = prop_oneof![
        4 => 0u64..300,
        2 => 300u64..5000,
        1 => 5000u64..70_000,
    ];
    let align = prop_oneof![3 => Just(4u32), 1 => 0u32..=16];
    let make = (
        0..EACH,
        size.clone(),
        align,
        prop_oneof![Just(MALLOC), Just(CALLOC)],
    );
    prop_oneof![
        5 => make.prop_map(|(slot, size, align, kind)| op(kind, slot, size, 1 << align)),
        1 => (0..EACH, 0u64..200).prop_map(|(slot, len)| op(ARRAY, slot, len, 16)),
        3 => (0..EACH).prop_map(free),
        2 => (0..EACH, size).prop_map(|(slot, size)| realloc(slot, size)),
        1 => (0..EACH).prop_map(check),
    ]
}

/// Two launches of lists of actions for each lane.
fn program() -> impl Strategy<Value = [Vec<Vec<Op>>; 2]> {
    let launch = || vec(vec(action(), 0..16), 1..70);
    [launch(), launch()]
}

/// Random programs of up to 70 lanes in two launches: nothing fails, overlaps or is damaged.
pub fn programs<A: Subject>(site: &Site) {
    let cases = match site.device.info().backend {
        BackendKind::Host => 20,
        BackendKind::Vulkan => 12,
        BackendKind::Cuda => 60,
    };
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..Config::default()
    };
    let run = |mut launches: [Vec<Vec<Op>>; 2]| {
        let lanes = launches.iter().map(Vec::len).max().unwrap_or(0);
        let mut heap = TestHeap::<A>::new(site, ROOMY, lanes * EACH);
        // In the second launch every lane has the slots of another lane.
        for (turn, launch) in launches.iter_mut().enumerate() {
            for (lane, ops) in launch.iter_mut().enumerate() {
                let owner = (lane + turn * 3) % lanes;
                for op in ops {
                    op.slot += (owner * EACH) as u32;
                }
            }
            heap.run(launch, Failures::None);
        }
        heap.check_all();
        let slots = heap.taken();
        heap.free_all(&slots, 9);
        if A::CAPS.frees {
            let usage = heap.pool.stats().expect("stats").usage;
            assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
        }
        Ok(())
    };
    if let Err(failure) = TestRunner::new(config).run(&program(), run) {
        panic!("{} on {}: {failure}", A::NAME, site.device.info().name);
    }
}

/// Rounds of each lane in [`churn`], in each launch.
const ROUNDS: usize = 15;

/// Largest block of [`churn`].
const LARGEST: u64 = 3 << 10;

/// Many lanes free and allocate mixed sizes in their slots, in two launches, on a heap that does not have
/// room for all they ask for: some requests fail, nothing overlaps or is damaged, and once
/// everything is freed the heap is empty.
pub fn churn<A: Subject>(site: &Site) {
    let lanes = site.many_lanes().min(2048);
    let slots = lanes * EACH;
    let each = (LARGEST / 8).max(A::LEAST_BLOCK * 3 / 4);
    let bytes = least::<A>() + (128 << 10) + slots as u64 * each;
    let mut heap = TestHeap::<A>::new(site, bytes, slots);
    let mut dice = SmallRng::seed_from_u64(0x5eed);
    let (mut served, mut failed) = (0, 0);
    for turn in 0..2 {
        let program: Vec<Vec<Op>> = (0..lanes)
            .map(|lane| {
                // In the second launch every lane has the slots of another lane.
                let first = (lane + turn * 7) % lanes * EACH;
                let mut ops = Vec::new();
                for _ in 0..ROUNDS {
                    let slot = first + dice.random_range(0..EACH);
                    let most = [64, 512, LARGEST][dice.random_range(0..3)];
                    // An empty slot stays as it is.
                    ops.extend([free(slot), malloc(slot, dice.random_range(0..=most))]);
                }
                ops
            })
            .collect();
        let outcomes = heap.run(&program, Failures::Any);
        let actions = program.iter().flatten().zip(outcomes.iter().flatten());
        for (_, outcome) in actions.filter(|(op, _)| op.kind == MALLOC) {
            served += u32::from(outcome.code == OK);
            failed += u32::from(outcome.code != OK);
        }
        heap.check_all();
    }
    assert!(failed > 0, "the heap is too large for this test");
    if A::CAPS.frees {
        assert!(
            served > failed,
            "{}: {served} requests served, {failed} failed",
            A::NAME
        );
        heap.free_all(&heap.taken(), 90);
        let usage = heap.pool.stats().expect("stats").usage;
        assert_eq!(usage.used_bytes, 0, "all blocks were freed: {usage:?}");
    }
}
