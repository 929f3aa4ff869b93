//! What kernels do with a whole heap: free everything, see what is in use. Of the allocators that have it.

use super::{tight, usable};
use crate::heap::{Failures, free, malloc};
use crate::{Site, TestHeap};
use warpheap_api::host::{DeviceVec, LaunchConfig, Usage};
use warpheap_rt::adaptor::Counted;
use warpheap_rt::alloc::WarpHeap;
use warpheap_test_kernels::program::Op;

/// Makes tests of this module's functions; `fn site() -> Option<Site>` must be in scope.
#[macro_export]
macro_rules! whole_heap_tests {
    () => {
        $crate::whole_heap_tests! { frees_everything, frees_what_was_counted, usage_in_kernels, usage_while_lanes_run }
    };
    ($($test:ident),*) => {$(
        #[test]
        fn $test() {
            if let Some(site) = site() {
                $crate::suite::whole::$test(&site);
            }
        }
    )*};
}

/// One lane, a block that is no multiple of a warp, and more lanes than there are chunks.
const SHAPES: [(u32, u32); 3] = [(1, 1), (3, 50), (40, 64)];

fn shape((grid_dim, block_dim): (u32, u32)) -> LaunchConfig {
    LaunchConfig {
        grid_dim,
        block_dim,
    }
}

/// Small blocks, blocks of units and of several chunks, until the heap has no more.
fn mixture(room: u64) -> Vec<Vec<Op>> {
    let sizes = [16, 100, room / 400, room / 100, room / 30, room / 10];
    let ops = (0..300).map(|slot| malloc(slot, sizes[slot % sizes.len()]));
    vec![ops.collect()]
}

/// Everything can be allocated again, as in a fresh heap.
pub fn frees_everything(site: &Site) {
    let mut heap = TestHeap::<WarpHeap>::new(site, tight::<WarpHeap>(), 300);
    let fresh = heap.pool.stats().expect("stats");
    let program = mixture(usable(&heap.pool));
    let mut held = None;
    for lanes in SHAPES {
        heap.run(&program, Failures::Exhausted);
        let full = heap.pool.stats().expect("stats");
        assert!(
            full.failures[0] > 0 && full.usage.live_blocks > Some(50),
            "{full}"
        );
        let taken = heap.taken();
        assert_eq!(
            *held.get_or_insert(taken.clone()),
            taken,
            "as much as before"
        );
        let kernels = &site.kernels;
        kernels
            .free_everything(&heap.pool, shape(lanes))
            .expect("it runs");
        heap.forget();
        assert_eq!(heap.pool.stats().expect("stats"), fresh, "{lanes:?}");
    }
}

/// The adaptor's counters are zero as well.
pub fn frees_what_was_counted(site: &Site) {
    let pool = site
        .device
        .reserve::<Counted<WarpHeap>>(tight::<WarpHeap>())
        .expect("a heap");
    let fresh = pool.stats().expect("stats");
    // Words of the counters that a launch would have written.
    let words = [7u8; warpheap_api::header::STRIPE_WORDS * 4];
    let place = warpheap_api::header::WORD_COUNTERS as u64 * 4;
    // SAFETY: nobody else has this memory.
    unsafe { pool.raw().buffer.write(place, &words) }.expect("the header");
    assert_ne!(pool.stats().expect("stats"), fresh);
    site.kernels
        .free_everything(&pool, shape((1, 90)))
        .expect("it runs");
    assert_eq!(pool.stats().expect("stats"), fresh);
}

fn seen(site: &Site, heap: &TestHeap<'_, WarpHeap>, lanes: (u32, u32)) -> [u32; 3] {
    let sums = DeviceVec::<u32>::zeroed(&site.device, 3).expect("sums");
    site.kernels
        .add_usage(&heap.pool, shape(lanes), &sums)
        .expect("it runs");
    let sums = sums.to_vec().expect("sums");
    [sums[0], sums[1], sums[2]]
}

/// Kernels see what the host sees.
pub fn usage_in_kernels(site: &Site) {
    let mut heap = TestHeap::<WarpHeap>::new(site, tight::<WarpHeap>(), 300);
    let room = usable(&heap.pool);
    let in_granules = |usage: &Usage| {
        let free = room - usage.committed_bytes;
        let blocks = usage.live_blocks.expect("it is known");
        [usage.used_bytes / 16, free / 16, blocks].map(|figure| figure as u32)
    };
    for lanes in SHAPES {
        assert_eq!(seen(site, &heap, lanes), [0, (room / 16) as u32, 0]);
    }
    heap.run(&mixture(room), Failures::Exhausted);
    let taken = heap.taken();
    let mut parts = taken.chunks(taken.len() / 3);
    for left in (0..3).rev() {
        let usage = heap.pool.stats().expect("stats").usage;
        assert!(usage.used_bytes >= heap.live_bytes() && heap.live_bytes() > 0);
        for lanes in SHAPES {
            assert_eq!(
                seen(site, &heap, lanes),
                in_granules(&usage),
                "{left}: {usage:?}"
            );
        }
        let part = parts.next().expect("a third").iter();
        heap.run(&[part.map(|&slot| free(slot)).collect()], Failures::None);
    }
}

/// While lanes take and free blocks, nobody sees more than there is.
pub fn usage_while_lanes_run(site: &Site) {
    for size in [16, 900, 3000, 70_000] {
        let heap = TestHeap::<WarpHeap>::new(site, tight::<WarpHeap>(), 1);
        let room = (usable(&heap.pool) / 16) as u32;
        let most = DeviceVec::<u32>::zeroed(&site.device, 3).expect("words");
        let kernels = &site.kernels;
        kernels
            .watch_usage(&heap.pool, shape((3, 70)), &most, size)
            .expect("it runs");
        let most = most.to_vec().expect("words");
        assert!(
            (1..=room).contains(&most[0]),
            "{size} bytes: {most:?} of {room}"
        );
        assert!(most[1] <= room, "{size} bytes: {most:?} of {room}");
        assert!(most[2] >= 1 && most[2] <= room, "{size} bytes: {most:?}");
        let stats = heap.pool.stats().expect("stats");
        assert_eq!(stats.usage.used_bytes, 0, "{stats:#}");
    }
}
