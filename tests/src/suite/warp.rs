//! The calls that a warp makes together.

use super::{ROOMY, Subject, tight, usable};
use crate::Site;
use crate::heap::error_of;
use crate::oracle::{self, Lifetime, NEVER};
use std::collections::HashMap;
use warpheap_api::host::{DeviceVec, LaunchConfig, Pool};
use warpheap_api::{AllocError, DevicePtr};
use warpheap_test_kernels::pattern;
use warpheap_test_kernels::program::OK;
use warpheap_test_kernels::warp::{ABSENT, Row};

/// All lanes call, for sizes that are the same and sizes that are not.
pub fn together<A: Subject>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("the heap is made");
    let large = ((A::CAPS.max_size - 2500) / 2).min(1500) as u32;
    for (size, spread) in [(16, 0), (0, 1), (100, 40), (2500, large)] {
        let rows = call(site, &pool, 520, 3, size, spread, ABSENT);
        assert!(rows.iter().all(|row| row.code == OK));
    }
}

/// A quarter of the lanes does not call.
pub fn some_lanes<A: Subject>(site: &Site) {
    let pool = site.device.reserve::<A>(ROOMY).expect("the heap is made");
    for absent in 0..4 {
        let rows = call(site, &pool, 300, 3, 24, 100, absent);
        assert!(rows.iter().all(|row| row.code == OK || row.code == ABSENT));
    }
}

/// A full heap fails some lanes; the others have what they asked for.
pub fn out_of_memory<A: Subject>(site: &Site) {
    let pool = site
        .device
        .reserve::<A>(tight::<A>())
        .expect("the heap is made");
    let size = (usable(&pool) / 300).min(A::CAPS.max_size);
    let (lanes, size) = ((usable(&pool) / size + 100) as usize, size as u32);
    let rows = call(site, &pool, lanes, 0, size, 0, ABSENT);
    let full = rows.iter().filter(|row| row.kept.is_null()).count();
    assert!(full > 0, "more was handed out than there is");
    assert!(full < lanes, "nothing was handed out");
    let failures = pool.stats().expect("stats").failures;
    assert!(failures[0] + failures[1] >= full as u32, "{failures:?}");
    assert_eq!(failures[2], 0);
}

/// Runs the kernel and checks what it left in the heap; the rows.
pub fn call<A: Subject>(
    site: &Site,
    pool: &Pool<A>,
    lanes: usize,
    rounds: u32,
    size: u32,
    spread: u32,
    absent: u32,
) -> Vec<Row> {
    let nothing = Row {
        code: u32::MAX,
        kept: DevicePtr::NULL,
        size: 0,
        stamp: 0,
        shared: DevicePtr::NULL,
        lane: 0,
    };
    let device = &site.device;
    let rows = DeviceVec::from_slice(device, &vec![nothing; lanes]).expect("rows");
    let config = LaunchConfig {
        grid_dim: (lanes as u32).div_ceil(80),
        block_dim: 80,
    };
    let kernels = &site.kernels;
    let calls = |keep| kernels.warp_calls_launch(pool, config, &rows, keep, size, spread, absent);
    let mut launches: Vec<_> = (0..rounds).map(|_| calls(0)).collect();
    launches.extend([calls(1), kernels.warp_shares_launch(pool, config, &rows)]);
    if let Err(error) = site.device.run_all(&launches) {
        panic!("{} on {}: {error}", A::NAME, device.info().name);
    }
    let rows = rows.to_vec().expect("rows");
    check(pool, &rows, device.info().warp_width);
    rows
}

fn check<A: Subject>(pool: &Pool<A>, rows: &[Row], width: u32) {
    let name = A::NAME;
    let mut blocks = Vec::new();
    let mut live = |ptr: DevicePtr<u8>, bytes, slot: usize| {
        blocks.push(Lifetime {
            start: ptr.byte_offset(A::GRANULE_SHIFT),
            bytes,
            born: 0,
            dies: NEVER,
            slot: slot as u32,
        });
    };
    // Which lanes share a block.
    let mut shared: HashMap<u32, Vec<usize>> = HashMap::new();
    for (i, row) in rows.iter().enumerate() {
        let error = error_of(row.code);
        let fine = matches!(error, Some(AllocError::Exhausted | AllocError::Contended));
        assert!(
            row.code == OK || row.code == ABSENT || fine,
            "{name}: lane {i}: {row:?}"
        );
        if !row.kept.is_null() {
            live(row.kept, row.size as u64, i);
            let words = pattern::words_of(row.size);
            let found = read(pool, row.kept, words);
            let step = pattern::step(words) as usize;
            for (w, &word) in found.iter().enumerate().step_by(step) {
                let expected = pattern::word(row.stamp, w as u32);
                assert_eq!(word, expected, "{name}: word {w} of lane {i}'s {row:?}");
            }
        }
        if !row.shared.is_null() {
            shared.entry(row.shared.granule()).or_default().push(i);
        }
    }
    for (granule, lanes) in shared {
        let ptr = DevicePtr::<u8>::from_granule(granule);
        live(ptr, width as u64 * 4, lanes[0]);
        let words = read(pool, ptr, width);
        for &i in &lanes {
            let row = rows[i];
            let first = rows[lanes[0]];
            assert_eq!(
                i as u32 - row.lane,
                lanes[0] as u32 - first.lane,
                "{name}: lanes of different warps share a block"
            );
            assert_eq!(
                words[row.lane as usize], row.stamp,
                "{name}: word of lane {i} in the block that its warp shares: {row:?}"
            );
        }
    }
    if let Some((a, b)) = oracle::overlap(&blocks) {
        panic!("{name}: two blocks overlap: {a:?} and {b:?}");
    }
}

/// Words of a block, as the host sees them.
fn read<A: Subject>(pool: &Pool<A>, ptr: DevicePtr<u8>, words: u32) -> Vec<u32> {
    let mut bytes = vec![0; words as usize * 4];
    let buffer = &pool.raw().buffer;
    buffer
        .read(ptr.byte_offset(A::GRANULE_SHIFT), &mut bytes)
        .expect("the block is inside the heap");
    let word = |b: &[u8]| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(word).collect()
}
