//! `Counted` and statistics read in kernels.

use super::{ROOMY, Subject};
use crate::heap::{Failures, MALLOCS, free, op};
use crate::{Site, TestHeap};
use warpheap_api::host::{DeviceVec, LaunchConfig};
use warpheap_test_kernels::program::Op;

/// Counts and bytes are exact, whatever the lanes of a warp do at the same time; what fails and what
/// does nothing is not counted.
pub fn exact_counts<A: Subject>(site: &Site) {
    let (lanes, each) = (500, 5);
    let mut heap = TestHeap::<A::Counted>::new(site, ROOMY, lanes * each);
    let kernels = &site.kernels;
    let run = |heap: &mut TestHeap<'_, A::Counted>, program: &[Vec<Op>]| {
        let outcomes = heap.launch_steps(program, &[MALLOCS], |l, _| {
            let (ops, starts, slots) = (&l.ops, &l.starts, l.slots);
            kernels.step_counted(l.pool, l.config, ops, starts, slots, &l.outcomes, l.clock)
        });
        heap.judge(program, &outcomes, Failures::None);
    };
    let size = |lane: usize, i: usize| ((lane * 13 + i * 300) % 900) as u64;
    let program: Vec<Vec<Op>> = (0..lanes)
        .map(|lane| {
            let mut ops: Vec<Op> = (0..lane % (each + 1))
                .map(|i| op(i as u32 % 2 * 2, lane * each + i, size(lane, i), 16))
                .collect();
            // A refusal.
            if lane % each < each - 1 && lane % 7 == 0 {
                let beyond = A::CAPS.max_align.saturating_mul(2);
                ops.push(op(0, lane * each + each - 1, 16, beyond));
            }
            ops
        })
        .collect();
    run(&mut heap, &program);
    let made: Vec<usize> = heap.taken();
    let bytes = heap.live_bytes();
    let stats = heap.pool.stats().expect("stats");
    assert_eq!(
        (
            stats.mallocs,
            stats.frees,
            stats.malloc_bytes,
            stats.free_bytes
        ),
        (made.len() as u64, 0, bytes, 0)
    );
    let snapshot = heap.pool.snapshot().expect("a snapshot");
    let used = snapshot.stats.usage.used_bytes;
    assert_eq!(snapshot.rounding_bytes(), Some(used.saturating_sub(bytes)));
    let plain = site.device.reserve::<A>(ROOMY).expect("a heap").snapshot();
    let plain = plain.expect("a snapshot");
    assert_eq!((snapshot.unit, plain.rounding_bytes()), (plain.unit, None));

    let gone: Vec<usize> = made.iter().copied().filter(|slot| slot % 3 != 0).collect();
    let mut program = vec![Vec::new(); 77];
    for (i, &slot) in gone.iter().enumerate() {
        program[i % 77].push(free(slot));
    }
    run(&mut heap, &program);
    let stats = heap.pool.stats().expect("stats");
    assert_eq!(
        (stats.mallocs, stats.frees),
        (made.len() as u64, gone.len() as u64)
    );
    assert_eq!(
        (stats.malloc_bytes, stats.live_bytes()),
        (bytes, heap.live_bytes())
    );
    let counts = DeviceVec::<u32>::zeroed(&site.device, 2).expect("counts");
    let shape = LaunchConfig {
        grid_dim: 1,
        block_dim: 64,
    };
    kernels
        .read_counts(&heap.pool, shape, &counts)
        .expect("the counts are read");
    let counts = counts.to_vec().expect("counts");
    assert_eq!(counts, [made.len() as u32, gone.len() as u32]);
}
