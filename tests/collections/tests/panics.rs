//! Panics of kernels reach the host with message, place and lane.

use warpheap_api::host::{DeviceError, DeviceVec, KernelPanic, LaunchConfig};
use warpheap_collection_kernels::panics::STRIKE_LINE;
use warpheap_collection_tests::Site;

const SOURCE: &str = "tests/collections/kernels/src/panics.rs";

/// The panic that a launch ended with.
fn panic_of<T: std::fmt::Debug>(result: Result<T, DeviceError>) -> KernelPanic {
    match result {
        Err(DeviceError::Panic(panic)) => *panic,
        other => panic!("a panic was expected: {other:?}"),
    }
}

fn config(grid_dim: u32, block_dim: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim,
        block_dim,
    }
}

/// One lane panics: lane 0 of a launch of `every` lanes in blocks of 50.
fn one_strikes(site: &Site) {
    let rest = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
    let panic = panic_of(site.kernels.strike(config(4, 50), 200, &rest));
    assert_eq!(panic.message, "lane 0 strikes, 0 odd");
    assert_eq!((panic.file.as_str(), panic.line), (SOURCE, STRIKE_LINE));
    assert!(panic.column > 1, "{panic}");
    assert_eq!((panic.block, panic.lane, panic.lanes), (0, 0, 1));
    assert_eq!(panic.kernel, "strike_l1");
    let text = panic.to_string();
    let start = "kernel strike_l1, block 0, lane 0: panic in device code: lane 0 strikes, 0 odd (";
    assert!(text.starts_with(start), "{text}");
}

/// The compiler's own checks.
fn beyond_the_end(site: &Site) {
    let out = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
    let panic = panic_of(site.kernels.beyond(config(1, 32), 5, &out));
    assert_eq!(
        panic.message,
        "index out of bounds: the len is 5 but the index is 5"
    );
    assert_eq!(panic.file, SOURCE);
}

/// A launch that does not panic, on a device where others did.
fn works(site: &Site) {
    let out = DeviceVec::<u32>::zeroed(&site.device, 100).expect("room");
    site.kernels.count(config(1, 100), &out).expect("no panic");
    assert_eq!(out.to_vec().expect("readable"), [1; 100]);
}

#[test]
fn host_panics() {
    for width in [1, 4, 8, 32, 64] {
        let site = Site::host(width);
        one_strikes(&site);
        beyond_the_end(&site);
        works(&site);
    }
}

#[test]
fn an_explored_panic_says_how_to_see_it_again() {
    let site = Site::explored(4, 7);
    let rest = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
    let panic = panic_of(site.kernels.strike(config(1, 8), 5, &rest));
    assert_eq!(
        panic.message,
        format!("lane {} strikes, {} odd", panic.lane, panic.lane % 2)
    );
    assert!(panic.to_string().contains("WARPHEAP_SEED=7"), "{panic}");
}

#[cfg(feature = "cuda")]
mod cuda {
    use super::*;
    use std::sync::MutexGuard;
    use warpheap_api::host::Pool;
    use warpheap_collection_tests::assert_empty;
    use warpheap_rt::alloc::WarpHeap;

    /// A device whose module has a heap of `bytes`.
    fn bound(bytes: u64) -> Option<(MutexGuard<'static, Site>, Pool<WarpHeap>)> {
        let site = Site::cuda()?;
        let pool = site.heap::<WarpHeap>(bytes);
        site.kernels.bind_heap(&pool).expect("bound");
        Some((site, pool))
    }

    #[test]
    fn panics() {
        let Some((site, _pool)) = bound(16 << 20) else {
            return;
        };
        one_strikes(&site);
        beyond_the_end(&site);
        works(&site);
    }

    #[test]
    fn lanes_that_do_not_panic_go_on() {
        let Some((site, pool)) = bound(16 << 20) else {
            return;
        };
        let rest = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
        let panic = panic_of(site.kernels.strike(config(100, 256), 7, &rest));
        let strikes = 25_600u32.div_ceil(7);
        let lane = panic.block * 256 + panic.lane;
        assert_eq!(lane % 7, 0, "{panic}");
        assert_eq!(
            panic.message,
            format!("lane {lane} strikes, {} odd", lane % 2)
        );
        assert_eq!(panic.lanes, strikes);
        assert_eq!(rest.to_vec().expect("readable"), [25_600 - strikes]);
        works(&site);
        assert_empty(&pool);
    }

    #[test]
    fn of_a_batch_the_kernels_that_may_have_panicked_are_named() {
        let Some((site, _pool)) = bound(16 << 20) else {
            return;
        };
        let rest = DeviceVec::<u32>::zeroed(&site.device, 1).expect("room");
        let out = DeviceVec::<u32>::zeroed(&site.device, 4).expect("room");
        let launches = [
            site.kernels.count_launch(config(1, 4), &out),
            site.kernels.strike_launch(config(1, 4), 4, &rest),
            site.kernels.count_launch(config(1, 4), &out),
        ];
        let panic = panic_of(site.device.run_all(&launches));
        assert_eq!(panic.kernel, "count_l1 or strike_l1");
        assert_eq!(out.to_vec().expect("readable"), [2; 4]);
    }

    #[test]
    fn without_a_heap_the_error_says_what_to_call() {
        let Some(site) = Site::cuda() else { return };
        // What needs no heap works.
        works(&site);
        let sums = DeviceVec::<u32>::zeroed(&site.device, 64).expect("room");
        let unbound = |when: &str| {
            let panic = panic_of(site.kernels.push(config(1, 64), &sums, 3));
            assert!(
                panic.message.contains("bind_heap(&pool)"),
                "{when}: {panic}"
            );
            assert_eq!(panic.lanes, 64);
        };
        unbound("before");
        let pool = site.heap::<WarpHeap>(16 << 20);
        site.kernels.bind_heap(&pool).expect("bound");
        site.kernels.push(config(1, 64), &sums, 3).expect("bound");
        drop(pool);
        unbound("after the pool is gone");
    }

    #[test]
    fn a_full_heap_is_a_panic_or_an_error_as_the_kernel_likes() {
        let Some((site, pool)) = bound(4 << 20) else {
            return;
        };
        let out = DeviceVec::<u32>::zeroed(&site.device, 64).expect("room");
        site.kernels
            .ask(config(1, 64), 4 << 20, &out)
            .expect("asks politely");
        assert_eq!(out.to_vec().expect("readable"), [1; 64]);
        assert_empty(&pool);
        let panic = panic_of(site.kernels.want(config(1, 64), 4 << 20, &out));
        let bytes = 16 << 20;
        assert_eq!(
            panic.message,
            format!("memory allocation of {bytes} bytes failed")
        );
        assert_eq!(panic.lanes, 64);
        assert_empty(&pool);
        site.kernels
            .want(config(1, 64), 10, &out)
            .expect("there is room");
        assert_eq!(out.to_vec().expect("readable"), [7; 64]);
        assert_empty(&pool);
    }
}
