//! Streams under explored schedules.

use crate::common::{args, exploring, prepare, words};
use crate::work::*;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Duration;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{Device, DeviceVec, HostEntry};
use warpheap_rt::sync::Group;
use warpheap_rt::thread as lane;

/// Every lane writes its index at the next place of a log.
unsafe fn log(args: &ArgBlock) {
    let (next, log) = (&words(args, 0)[0], &words(args, 0)[1..]);
    for _ in 0..3 {
        let together = Group::here().count();
        let at = next.fetch_add(1);
        log[at as usize].store(together << 16 | lane::index());
    }
}

#[test]
fn an_explored_launch_has_the_schedule_of_its_seed_on_any_stream() {
    for seed in 0..20 {
        let logs = |device: &Device| [(); 4].map(|()| zeroed(device, 1 + 3 * 20));
        let entry: HostEntry = log;
        let log = |device, log: &DeviceVec<u32>| {
            prepare(device, "log", entry, (1, 20), args([log.arg()]))
        };
        let device = exploring(8, seed);
        let waited = logs(&device);
        let all: Vec<_> = waited.iter().map(|one| log(&device, one)).collect();
        device.run_all(&all).expect("they work");

        let again = exploring(8, seed);
        let [first, second] = open(&again);
        let queued = logs(&again);
        for (one, stream) in queued.iter().zip([first, second, first, second]) {
            launches(&again, stream, &[], &[log(&again, one)]);
        }
        for ((one, other), stream) in queued.iter().zip(&waited).zip([first, second].repeat(2)) {
            let got = read(&again, stream, &[], one);
            assert_eq!(got, other.to_vec().expect("readable"), "seed {seed}");
        }
        ok(&again, first);
        ok(&again, second);
    }
}

static ALIVE: AtomicU32 = AtomicU32::new(0);
static MOST_ALIVE: AtomicU32 = AtomicU32::new(0);

/// Notes how many launches have begun and not ended.
unsafe fn alone(_: &ArgBlock) {
    let alive = ALIVE.fetch_add(1, Ordering::Relaxed) + 1;
    MOST_ALIVE.fetch_max(alive, Ordering::Relaxed);
    thread::sleep(Duration::from_millis(2));
    ALIVE.fetch_sub(1, Ordering::Relaxed);
}

#[test]
fn explored_launches_run_one_at_a_time() {
    let device = exploring(4, 3);
    let all: [_; 3] = open(&device);
    let alone = || prepare(&device, "alone", alone, (1, 1), args([]));
    let queue_all = |_| all.map(|stream| launches(&device, stream, &[], &[alone()]));
    let marks: Vec<_> = (0..8).flat_map(queue_all).collect();
    alone().run().expect("it works");
    marks.into_iter().for_each(|mark| wait(&device, mark));
    assert_eq!(MOST_ALIVE.load(Ordering::Relaxed), 1);
}
