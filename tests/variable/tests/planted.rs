//! With `WARPHEAP_CHECK=1` when it was built, a program that names `WarpHeap` alone is told of its mistakes.

use variable::{FREE_LINE, LANE, MALLOC_LINE, WRONG_LINE};
use warpheap::device::*;
use warpheap::rt::host::WarpHeapConfig;
use warpheap::{BackendKind, Device, DeviceError, LaunchConfig, MistakeKind, Pool};

const LANES: LaunchConfig = LaunchConfig {
    grid_dim: 1,
    block_dim: 32,
};

fn device() -> Device {
    Device::open_backend(BackendKind::Host, None).expect("the emulator opens")
}

#[test]
fn a_double_free_is_told() {
    let device = device();
    let kernels = variable::load(&device).expect("the kernels load");
    // Settings as a program gives them that has never heard of the adaptor.
    let config = WarpHeapConfig {
        chunk_bytes: Some(4096),
    };
    let pool: Pool = device
        .reserve_with(1 << 20, &config)
        .expect("the heap is laid out");
    kernels.twice(&pool, LANES, false).expect("no mistake");
    // What waits in the quarantine is free for a program that does not know of it.
    let usage = pool.stats().expect("it is read").usage;
    assert_eq!((usage.used_bytes, usage.live_blocks), (0, Some(0)));
    let error = match kernels.twice(&pool, LANES, true) {
        Err(DeviceError::Mistakes(error)) => error,
        other => panic!("built without WARPHEAP_CHECK=1? {other:?}"),
    };
    println!("{error}");
    let [mistake] = &error.mistakes.first[..] else {
        panic!("{error}");
    };
    assert_eq!(mistake.kind, MistakeKind::DoubleFree);
    let places = [mistake.by, mistake.malloc, mistake.free];
    let places = places.map(|place| place.map(|place| (place.lane, place.line)));
    let lane = |line| Some((LANE, Some(line)));
    assert_eq!(
        places,
        [lane(WRONG_LINE), lane(MALLOC_LINE), lane(FREE_LINE)]
    );
    assert_eq!(error.kernel, "twice_l1");
}

#[test]
fn the_host_allocates_in_such_a_heap() {
    let pool: Pool = device().reserve(1 << 20).expect("the heap is laid out");
    let ptr = pool.malloc(layout::bytes(40)).expect("there is room");
    let live = || pool.stats().expect("it is read").usage.live_blocks;
    assert_eq!(live(), Some(1));
    // SAFETY: the block was just allocated.
    unsafe { pool.free(ptr, layout::bytes(40)) }.expect("it is freed");
    assert_eq!(live(), Some(0));
    // SAFETY: what a block is that was freed is looked up, not used.
    let again = unsafe { pool.free(ptr, layout::bytes(40)) };
    assert!(matches!(again, Err(DeviceError::Mistakes(_))), "{again:?}");
}

#[test]
fn an_adaptor_within_itself_is_refused() {
    let refused = device().reserve::<Checked<WarpHeap>>(1 << 20);
    let text = refused.expect_err("it is checked already").to_string();
    assert!(text.contains("WARPHEAP_CHECK=1"), "{text}");
}
