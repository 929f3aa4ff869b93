//! Kernels are compiled when they are first launched. Other threads go on meanwhile, and each is compiled once.

mod common;

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Level, Metadata, Subscriber};
use warpheap_api::host::{Device, DeviceVec, LaunchConfig};
use warpheap_kernels::{Kernels, load};

/// How long a kernel is about to be compiled at most.
const MOST: Duration = Duration::from_secs(20);

fn setting() -> Option<(Device, Kernels)> {
    let device = common::device()?;
    let kernels = load(&device).unwrap();
    Some((device, kernels))
}

/// A launch of so many lanes: each number of lanes is another pipeline.
fn shape(block_dim: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim: 1,
        block_dim,
    }
}

/// Hears that its thread is about to compile, counts that, and keeps the thread there until it may go on.
struct Compiles {
    count: &'static AtomicU32,
    go_on: &'static AtomicBool,
}

/// Waits until that is so, not for ever; whether it is.
fn until(is_so: impl Fn() -> bool) -> bool {
    let since = Instant::now();
    while !is_so() && since.elapsed() < MOST {
        thread::yield_now();
    }
    is_so()
}

impl Subscriber for Compiles {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::DEBUG && metadata.fields().field("block_dim").is_some()
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {
        self.count.fetch_add(1, Ordering::AcqRel);
        until(|| self.go_on.load(Ordering::Acquire));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

#[test]
fn other_threads_go_on_while_one_compiles() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static GO_ON: AtomicBool = AtomicBool::new(false);
    let Some((device, kernels)) = setting() else {
        return;
    };
    let stream = device.stream().unwrap();
    let numbers = || DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let (own, others, streams) = (numbers(), numbers(), numbers());
    kernels.selftest_index(shape(64), &others).unwrap();
    for in_stream in [false, true] {
        COUNT.store(0, Ordering::Release);
        GO_ON.store(false, Ordering::Release);
        thread::scope(|scope| {
            scope.spawn(|| {
                let (count, go_on) = (&COUNT, &GO_ON);
                with_default(Compiles { count, go_on }, || {
                    let lanes = 48 + in_stream as u32;
                    let launch = kernels.selftest_index_launch(shape(lanes), &own);
                    if in_stream {
                        launch.on(&stream).unwrap();
                        stream.wait().unwrap();
                    } else {
                        launch.run().unwrap();
                    }
                });
            });
            assert!(until(|| COUNT.load(Ordering::Acquire) == 1));
            let since = Instant::now();
            // Launches of what is there, in a stream and waited for, and memory.
            kernels.selftest_index(shape(64), &others).unwrap();
            let queued = kernels.selftest_index_launch(shape(64), &streams);
            let beside = device.stream().unwrap();
            queued.on(&beside).unwrap();
            beside.wait().unwrap();
            drop(numbers());
            let took = since.elapsed();
            GO_ON.store(true, Ordering::Release);
            assert!(took < MOST / 2, "waited for the other thread: {took:?}");
        });
    }
    let times = |vec: &DeviceVec<u32>| vec.to_vec().unwrap()[0];
    assert_eq!([times(&own), times(&others), times(&streams)], [2, 3, 2]);
}

#[test]
fn a_kernel_that_was_loaded_is_not_compiled_by_its_launch() {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static GO_ON: AtomicBool = AtomicBool::new(true);
    let Some((device, kernels)) = setting() else {
        return;
    };
    let words = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let launch = kernels.selftest_index_launch(shape(50), &words);
    let (count, go_on) = (&COUNT, &GO_ON);
    with_default(Compiles { count, go_on }, || {
        launch.load().unwrap();
        assert_eq!(COUNT.load(Ordering::Acquire), 1);
        assert_eq!(words.to_vec().unwrap(), [0; 64], "it ran");
        launch.run().unwrap();
    });
    assert_eq!(COUNT.load(Ordering::Acquire), 1);
    assert_eq!(words.to_vec().unwrap()[0], 1);
}

#[test]
fn a_kernel_that_several_threads_need_at_once_is_compiled_once() {
    const THREADS: u32 = 4;
    static COUNT: AtomicU32 = AtomicU32::new(0);
    static GO_ON: AtomicBool = AtomicBool::new(true);
    let Some((device, kernels)) = setting() else {
        return;
    };
    let together = Barrier::new(THREADS as usize);
    let lanes = 33..41;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let (count, go_on) = (&COUNT, &GO_ON);
                let words = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
                with_default(Compiles { count, go_on }, || {
                    for lanes in lanes.clone() {
                        together.wait();
                        kernels.selftest_index(shape(lanes), &words).unwrap();
                    }
                });
                // Each launch adds its index + 1 to the words that it has lanes for.
                let launches = |word| lanes.clone().filter(|&lanes| word < lanes).count() as u32;
                let expected: Vec<_> = (0..64).map(|word| launches(word) * (word + 1)).collect();
                assert_eq!(words.to_vec().unwrap(), expected);
            });
        }
    });
    assert_eq!(COUNT.load(Ordering::Acquire), lanes.count() as u32);
}
