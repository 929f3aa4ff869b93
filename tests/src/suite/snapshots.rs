//! Snapshots: the parts of a heap at one moment.

use super::growth::{FIRST, fill_up, grow, growing};
use super::lifetime::{HandOver, judge};
use super::{ROOMY, Subject, roomy, usable};
use crate::heap::{Failures, free, malloc};
use crate::{Site, TestHeap};
use warpheap_api::host::{HostAlloc, Pool, RegionUse, Snapshot};
use warpheap_test_kernels::program::Op;

/// Lanes that hold a block each.
const LANES: usize = 120;

/// The size of a lane's block: small and large ones, as far as the allocator has them.
fn size<A: Subject>(room: u64, lane: usize) -> u64 {
    let most = A::largest_block(&A::Config::default()).min(room / 200);
    [40, 700, 9000, 90_000][lane % 4].min(most)
}

/// Checks that the parts make up the pool, and that sums are those of the statistics.
#[track_caller]
fn checked<A: HostAlloc>(pool: &Pool<A>) -> Snapshot {
    let snapshot = pool.snapshot().expect("a snapshot");
    let stats = pool.stats().expect("stats");
    assert_eq!(snapshot.stats, stats);
    let mut end = 0;
    for region in &snapshot.regions {
        assert!(
            region.offset == end && region.bytes > 0,
            "{region:?} at {end}"
        );
        assert!(
            region.used_bytes <= region.bytes && region.room() <= region.bytes,
            "{region:?}"
        );
        assert_eq!(region.offset % 16, 0, "{region:?}");
        end = region.end();
    }
    assert_eq!(end, pool.bytes());
    let uses = snapshot.uses();
    let sum = |of: fn(&warpheap_api::host::UseTotals) -> u64| uses.iter().map(of).sum::<u64>();
    assert_eq!(sum(|totals| totals.bytes), pool.bytes());
    let reserved = uses
        .iter()
        .filter(|totals| totals.usage == RegionUse::Reserved);
    let reserved: u64 = reserved.map(|totals| totals.bytes).sum();
    assert_eq!(reserved, pool.metadata_bytes());
    if snapshot.unit_bytes == 0 {
        return snapshot;
    }
    let usage = &stats.usage;
    assert_eq!(
        sum(|totals| totals.used_bytes),
        usage.used_bytes,
        "{snapshot}"
    );
    let free = uses.iter().filter(|totals| totals.usage.is_free());
    let free: u64 = free.map(|totals| totals.bytes).sum();
    assert_eq!(free + usage.committed_bytes, usable(pool), "{snapshot}");
    let blocks = uses
        .iter()
        .map(|totals| totals.live_blocks)
        .sum::<Option<u64>>();
    assert!(blocks.is_none() || usage.live_blocks.is_none() || blocks == usage.live_blocks);
    assert!(snapshot.largest_free_run() <= Some(free.max(snapshot.free_bytes())));
    snapshot
}

/// The parts of a heap that is empty, in use, half freed and freed.
pub fn parts_add_up<A: Subject>(site: &Site) {
    let mut heap = TestHeap::<A>::new(site, ROOMY, LANES);
    let fresh = checked(&heap.pool);
    assert_eq!(fresh.sequence, 0);
    assert_eq!(fresh.free_bytes(), usable(&heap.pool));
    assert_eq!(fresh.pinned().regions, 0);
    let room = usable(&heap.pool);
    let program: Vec<Vec<Op>> = (0..LANES)
        .map(|lane| vec![malloc(lane, size::<A>(room, lane))])
        .collect();
    heap.run(&program, Failures::None);
    let full = checked(&heap.pool);
    assert_eq!(full.sequence, 1);
    let changes = full.changes_since(&fresh).expect("of one pool");
    assert_eq!(changes.used_bytes as u64, full.stats.usage.used_bytes);
    assert!(changes.used_bytes as u64 >= heap.live_bytes());
    if !A::CAPS.frees {
        return;
    }
    let half = heap
        .taken()
        .iter()
        .step_by(2)
        .map(|&slot| free(slot))
        .collect();
    heap.run(&[half], Failures::None);
    let halved = checked(&heap.pool);
    assert!(halved.free_bytes() > full.free_bytes(), "{halved}");
    let rest = heap.taken().iter().map(|&slot| free(slot)).collect();
    heap.run(&[rest], Failures::None);
    assert_eq!(checked(&heap.pool).stats.usage.used_bytes, 0);
}

/// What was queued in a stream comes before the snapshot.
pub fn after_streams<A: Subject>(site: &Site) {
    let lanes = 200;
    let pool = site.device.reserve::<A>(roomy::<A>(4 * lanes as usize));
    let pool = pool.expect("a heap");
    let part = HandOver::new(site, &pool, lanes, 8, 0x77, 300);
    let stream = site.device.stream().expect("a stream");
    let queued = stream.launch_all(part.launches.clone());
    queued.expect("it is queued");
    let first = checked(&pool);
    stream.wait().expect("all run");
    assert_eq!(first.regions, checked(&pool).regions, "{first}");
    assert_eq!(judge(&pool, &[part]), 0, "the heap has room for all of it");
}

/// The parts of a heap that grew, and that gave memory back, are those of the pool as it is then.
pub fn grown<A: Subject>(site: &Site) {
    let Some(pool) = growing::<A>(site) else {
        return;
    };
    let mut heap = TestHeap::over(site, pool, 2000);
    fill_up(&mut heap);
    let mut before = checked(&heap.pool);
    for bytes in [2 * FIRST, 5 * FIRST - 100_000] {
        grow(&mut heap.pool, bytes);
        let after = checked(&heap.pool);
        let used = |snapshot: &Snapshot| snapshot.stats.usage.used_bytes;
        assert_eq!(used(&after), used(&before), "{after}");
        let new = after.free_bytes() - before.free_bytes();
        assert!(new > FIRST / 2, "{new} bytes are free that were not there");
        assert_eq!(after.changes_since(&before), None, "of pools of two sizes");
        fill_up(&mut heap);
        before = checked(&heap.pool);
        assert!(used(&before) >= heap.live_bytes(), "{before}");
    }
    heap.reset();
    heap.pool.shrink_to_fit().expect("it shrinks");
    let shrunk = checked(&heap.pool);
    assert_eq!(shrunk.free_bytes(), usable(&heap.pool), "{shrunk}");
}
