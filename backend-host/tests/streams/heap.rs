//! One heap for several streams.

use crate::common::{args, assert_tells, device, exploring, heap, prepare, words_after_heap};
use crate::work::*;
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{Device, DeviceError, Work};
use warpheap_api::{DevicePtr, HeapMemory, Layout};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::{Bump, ScatterAlloc};
use warpheap_rt::arch;
use warpheap_rt::{entry, thread as lane};

/// Every lane takes blocks, looks whether they are its own, and gives them back.
unsafe fn churn(args: &ArgBlock) {
    // SAFETY: the tests pass a heap of that kind there.
    let heap =
        unsafe { entry::heap::<ScatterAlloc>(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) };
    let wrong = &words_after_heap(args)[0];
    let layouts = [
        Layout::new::<[u32; 4]>(),
        Layout::new::<[u32; 24]>(),
        Layout::new::<[u32; 400]>(),
    ];
    let mut outcome = Ok(());
    for (round, layout) in (0..).zip(layouts) {
        match heap.malloc(layout) {
            Ok(ptr) => {
                let value = lane::index() << 8 | round;
                // SAFETY: the emulator tells of lanes that do not come.
                unsafe { heap.words() }.write(heap.word_of(ptr), value);
                // SAFETY: the emulator tells of lanes that do not come.
                if unsafe { heap.words() }.read(heap.word_of(ptr)) != value {
                    wrong.fetch_add(1);
                }
                // SAFETY: the block is the lane's, and is not used any more.
                unsafe { heap.free(ptr, layout) };
            }
            Err(error) => outcome = Err(error),
        }
    }
    finish(args, outcome);
}

/// Two streams and the host allocate and free in one heap.
fn churns(device: &Device, shape: (u32, u32), rounds: u32) {
    let all: [_; 2] = open(device);
    let pool = device.reserve::<ScatterAlloc>(4 << 20).expect("a pool");
    let wrong = zeroed(device, 1);
    let both = args([pool.arg(), wrong.arg()]);
    let churn = || prepare(device, "churn", churn, shape, both.clone());
    for _ in 0..rounds {
        for stream in all {
            launches(device, stream, &[], &[churn(), churn()]);
        }
        churn().run().expect("it works beside the streams");
        // The heap's own figures may be read meanwhile.
        pool.stats().expect("a heap");
    }
    for stream in all {
        assert_eq!(read(device, stream, &[], &wrong), [0]);
        ok(device, stream);
    }
    assert_eq!(pool.stats().expect("a heap").usage.used_bytes, 0);
}

#[test]
fn streams_share_a_heap() {
    let device = device(HostConfig {
        warp_width: 8,
        threads: 2,
        check_blocks: Some(true),
        ..HostConfig::default()
    });
    churns(&device, (16, 32), 8);
}

#[test]
fn explored_streams_share_a_heap_without_races() {
    for seed in 0..10 {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            races: true,
            ..HostConfig::default()
        });
        churns(&device, (2, 8), 2);
    }
}

/// Takes a block and leaves its handle.
unsafe fn leave(args: &ArgBlock) {
    let taken = heap(args).malloc(Layout::new::<[u32; 4]>());
    let taken = taken.map(|ptr| words_after_heap(args)[0].store(ptr.granule()));
    finish(args, taken);
}

/// Frees the block.
unsafe fn pick_up(args: &ArgBlock) {
    let ptr = DevicePtr::from_granule(words_after_heap(args)[0].load());
    // SAFETY: that it is freed twice is what is tested, and a bump allocator does not mind.
    unsafe { heap(args).free(ptr, Layout::new::<[u32; 4]>()) };
}

#[test]
fn a_block_that_another_stream_has_freed_is_not_live() {
    let checked = device(HostConfig {
        warp_width: 4,
        check_blocks: Some(true),
        ..HostConfig::default()
    });
    for device in [checked, exploring(4, 4)] {
        let [first, second] = open(&device);
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let (left, image) = (zeroed(&device, 1), zeroed(&device, 1 << 14));
        let both = args([pool.arg(), left.arg()]);
        let leave = || prepare(&device, "leave", leave, (1, 1), both.clone());
        let pick_up = || prepare(&device, "pick_up", pick_up, (1, 1), both.clone());
        let (heap, image) = (pool.raw().buffer.id(), id(&image));
        let copy = |from, to| Work::Copy {
            from: (from, 0),
            to: (to, 0),
            bytes: 64 << 10,
        };
        queue(&device, first, &[], copy(heap, image));
        let mark = launches(&device, first, &[], &[leave()]);
        let mark = launches(&device, second, &[mark], &[pick_up()]);
        wait(&device, mark);
        ok(&device, second);
        let mark = launches(&device, first, &[mark], &[pick_up()]);
        wait(&device, mark);
        let failure = streams(&device).failure(first).expect("it was freed");
        let what = "block 0, warp 0, lane 0: free of a block of 16 bytes";
        match failure {
            DeviceError::Emulator(message) => {
                assert_tells(&message, "pick_up", what, &["which is not live"]);
            }
            other => panic!("{other}"),
        }
        // A heap that a stream formats has no live blocks: the bump allocator begins again.
        launches(&device, first, &[], &[leave()]);
        queue(&device, first, &[], copy(image, heap));
        let mark = launches(&device, first, &[], &[leave(), leave()]);
        wait(&device, mark);
        ok(&device, first);
        pick_up().run().expect("it is live");
    }
}
