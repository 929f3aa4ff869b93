//! Streams that are closed, and devices that are dropped.

use crate::common::{args, exploring, prepare, running};
use crate::work::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use warpheap_api::abi::ArgBlock;

#[test]
fn closing_a_stream_waits_for_its_work() {
    let device = running(4);
    let [first, second] = open(&device);
    let vec = zeroed(&device, 1);
    let slow = prepare(&device, "slow", slow, (1, 1), args([vec.arg()]));
    let step = prepare(&device, "step", step, (1, 1), args([vec.arg()]));
    let set = launches(&device, first, &[], &[slow]);
    let stepped = launches(&device, second, &[set], &[step]);
    thread::scope(|scope| {
        scope.spawn(|| {
            streams(&device).close(second);
            assert_eq!(vec.to_vec().expect("readable"), [71]);
        });
        // Its marks hold others until then.
        thread::sleep(Duration::from_millis(20));
        wait(&device, stepped);
        assert_eq!(vec.to_vec().expect("readable"), [71]);
    });
}

static ENDED: AtomicU32 = AtomicU32::new(0);

/// Takes its time before it counts itself.
unsafe fn ends(_: &ArgBlock) {
    thread::sleep(Duration::from_millis(20));
    ENDED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn dropping_a_device_waits_for_its_streams() {
    for device in [running(1), exploring(1, 2)] {
        ENDED.store(0, Ordering::Relaxed);
        let all: [_; 3] = open(&device);
        let ends = || prepare(&device, "ends", ends, (1, 1), args([]));
        let mut after = Vec::new();
        for stream in all.into_iter().chain(all) {
            after = vec![launches(&device, stream, &after, &[ends(), ends()])];
        }
        drop(device);
        assert_eq!(ENDED.load(Ordering::Relaxed), 12);
    }
}
