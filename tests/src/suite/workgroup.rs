//! The calls that a block of lanes (a workgroup) makes together.

use super::{ROOMY, Subject, least, tight, usable};
use crate::Site;
use crate::heap::error_of;
use crate::oracle::{self, Lifetime, NEVER};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use warpheap_api::host::{DeviceVec, LaunchConfig, Pool};
use warpheap_api::{AllocError, DevicePtr};
use warpheap_test_kernels::program::OK;
use warpheap_test_kernels::workgroup::{Row, by_each};

/// What the blocks of a launch do.
#[derive(Clone, Copy, Debug)]
struct Calls {
    grid_dim: u32,
    block_dim: u32,
    rounds: u32,
    /// Bytes that a block of memory has beyond a word for each lane.
    size: u32,
}

/// Lanes of a block of several warps, the last one in part whatever the width, unless it is 1.
const LANES: u32 = 78;

/// Every block of lanes has one block of memory, all its lanes see what others wrote to it, and what
/// was freed is handed out again.
pub fn one_for_all<A: Subject>(site: &Site) {
    let width = site.device.info().warp_width;
    let pool = site.device.reserve::<A>(ROOMY).expect("the heap is made");
    // One warp, whole and in part; several, the last one in part. A shape is compiled for itself.
    let mut shapes = vec![(width, 100), (LANES, 1000)];
    if !site.compiles_slowly() {
        shapes.extend([(1, 0), (width.div_ceil(2), 0)]);
    }
    for (block_dim, size) in shapes {
        let calls = Calls {
            grid_dim: 7,
            block_dim,
            rounds: 3,
            size,
        };
        let rows = call(site, &pool, calls);
        assert!(
            rows.iter().all(|row| row.code == OK && row.served == 3),
            "{}: {calls:?}: {rows:?}",
            A::NAME
        );
    }
}

/// A full heap fails all lanes of a block, and counts one failure for them.
pub fn out_of_memory<A: Subject>(site: &Site) {
    let pool = site
        .device
        .reserve::<A>(tight::<A>())
        .expect("the heap is made");
    let words = u64::from(LANES) * 4;
    let size = (usable(&pool) / 30).min(A::CAPS.max_size - words);
    let calls = Calls {
        grid_dim: (usable(&pool) / (size + words) + 12) as u32,
        block_dim: LANES,
        rounds: 1,
        size: size as u32,
    };
    let rows = call(site, &pool, calls);
    let failed = rows.iter().filter(|row| row.kept.is_null()).count() as u32 / calls.block_dim;
    assert!(failed > 0, "more was handed out than there is");
    assert!(failed < calls.grid_dim, "nothing was handed out");
    let failures = pool.stats().expect("stats").failures;
    assert_eq!(failures[0] + failures[1], failed, "{failures:?}");
    assert_eq!(failures[2], 0);
}

/// Requests that no heap can serve get that answer in every lane.
pub fn absurd_requests<A: Subject>(site: &Site) {
    let pool = site
        .device
        .reserve::<A>(tight::<A>())
        .expect("the heap is made");
    let calls = Calls {
        grid_dim: 3,
        block_dim: LANES,
        rounds: 2,
        size: 1 << 30,
    };
    let rows = call(site, &pool, calls);
    let unserved = |row: &Row| row.served == 0 && error_of(row.code).is_some();
    assert!(rows.iter().all(unserved), "{}: {rows:?}", A::NAME);
}

/// A few blocks of several warps under `seeds` schedules that the emulator explores.
pub fn schedules<A: Subject>(width: u32, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let run = AssertUnwindSafe(|| one_schedule::<A>(width, seed));
        if let Err(panic) = catch_unwind(run) {
            eprintln!(
                "the failing schedule: {} at width {width}, seed {seed}",
                A::NAME
            );
            resume_unwind(panic);
        }
    }
}

fn one_schedule<A: Subject>(width: u32, seed: u64) {
    let site = Site::explored(width, seed);
    let mut dice = SmallRng::seed_from_u64(seed ^ (width as u64) << 32);
    let bytes = match dice.random() {
        true => least::<A>() + (dice.random_range(0..16 << 10) & !15),
        false => tight::<A>(),
    };
    let pool = site.device.reserve::<A>(bytes).expect("a heap");
    // The last warp is not always full.
    let block_dim = width * dice.random_range(1..=3) - dice.random_range(0..width);
    let calls = Calls {
        grid_dim: dice.random_range(2..=4),
        block_dim,
        rounds: 3,
        size: [0, 500, (usable(&pool) / 3) as u32][dice.random_range(0..3)],
    };
    call(&site, &pool, calls);
}

/// Runs the kernel, which leaves what it has in the last round, and checks that; the rows.
fn call<A: Subject>(site: &Site, pool: &Pool<A>, calls: Calls) -> Vec<Row> {
    let nothing = Row {
        code: u32::MAX,
        kept: DevicePtr::NULL,
        served: 0,
    };
    let device = &site.device;
    let lanes = (calls.grid_dim * calls.block_dim) as usize;
    let rows = DeviceVec::from_slice(device, &vec![nothing; lanes]).expect("rows");
    let config = LaunchConfig {
        grid_dim: calls.grid_dim,
        block_dim: calls.block_dim,
    };
    let kernels = &site.kernels;
    let result = kernels.block_calls(pool, config, &rows, calls.rounds, 1, calls.size);
    if let Err(error) = result {
        panic!("{} on {}: {error}", A::NAME, device.info().name);
    }
    let rows = rows.to_vec().expect("rows");
    check(pool, &rows, calls);
    rows
}

fn check<A: Subject>(pool: &Pool<A>, rows: &[Row], calls: Calls) {
    let name = A::NAME;
    let mut live = Vec::new();
    for (block, lanes) in rows.chunks_exact(calls.block_dim as usize).enumerate() {
        let all = lanes[0];
        for (lane, row) in lanes.iter().enumerate() {
            assert_eq!(*row, all, "{name}: lanes 0 and {lane} of block {block}");
        }
        let fine = match error_of(all.code) {
            None => all.code == OK && all.served == calls.rounds,
            Some(AllocError::Unsupported) => all.served == 0,
            Some(_) => all.served < calls.rounds,
        };
        assert!(fine, "{name}: block {block}: {all:?}");
        if all.kept.is_null() {
            continue;
        }
        live.push(Lifetime {
            start: all.kept.byte_offset(A::GRANULE_SHIFT),
            bytes: (calls.block_dim * 4 + calls.size) as u64,
            born: 0,
            dies: NEVER,
            slot: block as u32,
        });
        let mut bytes = vec![0; lanes.len() * 4];
        let buffer = &pool.raw().buffer;
        buffer
            .read(all.kept.byte_offset(A::GRANULE_SHIFT), &mut bytes)
            .expect("the memory is inside the heap");
        for (lane, word) in bytes.chunks_exact(4).enumerate() {
            let word = u32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
            let index = (block * lanes.len() + lane) as u32;
            let want = by_each(index, calls.rounds - 1);
            assert_eq!(word, want, "{name}: word of lane {lane} of block {block}");
        }
    }
    if let Some((a, b)) = oracle::overlap(&live) {
        panic!("{name}: two blocks overlap: {a:?} and {b:?}");
    }
}
