//! Streams: work that the host does not wait for.

use super::lifetime::{HandOver, judge};
use super::{Subject, roomy};
use crate::Site;
use std::panic::{AssertUnwindSafe, catch_unwind};
use warpheap_api::host::{DeviceError, DeviceVec, LaunchConfig, Prepared, Stream};

/// Makes tests of this module's functions that are of no allocator; `fn site() -> Option<Site>` must be in scope.
#[macro_export]
macro_rules! stream_tests {
    () => {
        $crate::stream_tests! { in_order, memory_orders, copies, failures, events, scopes, dropped_early, other_devices,
            from_threads }
    };
    ($($test:ident),*) => {
        mod streams {
            $(
                #[test]
                fn $test() {
                    if let Some(site) = super::site() {
                        $crate::suite::streams::$test(&site);
                    }
                }
            )*
        }
    };
}

/// Two streams allocate, hand over and free in one heap at the same time.
pub fn one_heap<A: Subject>(site: &Site) {
    let lanes = site.many_lanes() as u32 / 2;
    let bytes = roomy::<A>(4 * lanes as usize);
    let pool = site.device.reserve::<A>(bytes).expect("the heap is made");
    let parts = [0x77, 0x99].map(|seed| HandOver::new(site, &pool, lanes, 8, seed, 300));
    let done = site.device.scope(|scope| {
        let streams = [scope.stream()?, scope.stream()?];
        for (part, stream) in parts.iter().zip(&streams) {
            stream.launch_all(part.launches.clone())?;
        }
        Ok(())
    });
    if let Err(error) = done {
        panic!("{} on {}: {error}", A::NAME, site.device.info().name);
    }
    assert_eq!(judge(&pool, &parts), 0, "the heap has room for all of it");
}

/// Elements of vectors that take a while to change.
fn many(site: &Site) -> usize {
    site.many_lanes() * 16
}

fn zeros(site: &Site, len: usize) -> DeviceVec<u32> {
    DeviceVec::zeroed(&site.device, len).expect("a vector")
}

fn increment(site: &Site, vec: &DeviceVec<u32>) -> Prepared {
    let config = LaunchConfig::for_num_elems(vec.len() as u32);
    site.kernels.increment_launch(config, vec)
}

fn stream(site: &Site) -> Stream {
    site.device.stream().expect("a stream")
}

/// Launches of a stream run one after the other, and more of them than any queue holds.
pub fn in_order(site: &Site) {
    let stream = stream(site);
    let vec = zeros(site, 300);
    let launches = if site.compiles_slowly() { 200 } else { 1500 };
    for _ in 0..launches {
        increment(site, &vec).on(&stream).expect("it is queued");
    }
    stream.wait().expect("all run");
    assert!(stream.is_idle().expect("the device answers"));
    assert_eq!(vec.to_vec().expect("the vector"), vec![launches; 300]);
    stream.launch_all(Vec::new()).expect("nothing");
    stream.wait().expect("nothing");
}

/// Work that changes a vector comes one after the other, also of several streams and of the host, without a wait.
pub fn memory_orders(site: &Site) {
    let (left, right) = (stream(site), stream(site));
    let mut vec = zeros(site, many(site));
    for round in 0..10 {
        for stream in [&left, &right, &right, &left] {
            increment(site, &vec).on(stream).expect("it is queued");
        }
        // A launch that is waited for, and a copy by the host.
        if round % 3 == 1 {
            increment(site, &vec).run().expect("it runs");
            vec.fill_zero().expect("zeros");
            increment(site, &vec).on(&right).expect("it is queued");
        }
    }
    let expected = vec![9; vec.len()];
    assert_eq!(vec.to_vec().expect("the vector"), expected);
    let five = vec![5; vec.len()];
    increment(site, &vec).on(&left).expect("it is queued");
    vec.copy_from(&five).expect("a copy");
    increment(site, &vec).on(&right).expect("it is queued");
    let read = left.read(&vec).expect("it is queued");
    increment(site, &vec).on(&right).expect("it is queued");
    assert_eq!(read.wait().expect("the elements"), vec![6; vec.len()]);
    assert_eq!(vec.to_vec().expect("the vector"), vec![7; vec.len()]);
}

/// Streams write, fill, copy and read.
pub fn copies(site: &Site) {
    let stream = stream(site);
    let data: Vec<u32> = (0..many(site) as u32).collect();
    let (mut one, mut two) = (zeros(site, data.len()), zeros(site, data.len()));
    stream.write(&mut one, &data).expect("it is queued");
    increment(site, &one).on(&stream).expect("it is queued");
    stream.copy(&one, &mut two).expect("it is queued");
    stream.fill_zero(&mut one).expect("it is queued");
    let (zeros_read, copy_read) = (stream.read(&one), stream.read(&two));
    // One is forgotten.
    drop(stream.read(&two).expect("it is queued"));
    let copied: Vec<u32> = data.iter().map(|value| value + 1).collect();
    let copy_read = copy_read.expect("it is queued").wait();
    assert_eq!(copy_read.expect("the copy"), copied);
    let zeros_read = zeros_read.expect("it is queued").wait();
    assert_eq!(zeros_read.expect("zeros"), vec![0; data.len()]);
    assert_eq!(two.to_vec().expect("the copy"), copied);
    for wrong in [0, 1, data.len() + 1] {
        let mut other = zeros(site, wrong);
        let copied = stream.copy(&one, &mut other);
        assert!(matches!(copied, Err(DeviceError::OutOfRange { .. })));
        let written = stream.write(&mut other, &data);
        assert!(matches!(written, Err(DeviceError::OutOfRange { .. })));
    }
    let mut empty = zeros(site, 0);
    stream.write(&mut empty, &[]).expect("nothing");
    stream.fill_zero(&mut empty).expect("nothing");
    let read = stream.read(&empty).expect("nothing").wait();
    assert!(read.expect("nothing").is_empty());
    stream.wait().expect("all is done");
}

/// A launch whose lanes fail is told of once; what is queued behind it runs all the same.
pub fn failures(site: &Site) {
    let stream = stream(site);
    let vec = zeros(site, 500);
    let codes = DeviceVec::from_slice(&site.device, &[0, 3, 3]).expect("codes");
    let shape = LaunchConfig::for_num_elems(3);
    for launch in 0..40 {
        increment(site, &vec).on(&stream).expect("it is queued");
        if launch == 7 {
            let fails = site.kernels.fail_launch(shape, &codes);
            fails.on(&stream).expect("it is queued");
        }
    }
    match stream.wait() {
        Err(DeviceError::Kernel(failure)) => {
            assert!(failure.kernel.starts_with("fail"), "{failure}");
            assert_eq!((failure.lanes, failure.by_cause), (2, [0, 0, 2]));
            assert_eq!((failure.block, failure.lane), (0, failure.lane.clamp(1, 2)));
        }
        other => panic!("{other:?}"),
    }
    stream.wait().expect("it was told");
    assert_eq!(vec.to_vec().expect("the vector"), [40; 500]);
    increment(site, &vec).on(&stream).expect("it is queued");
    stream
        .wait()
        .expect("the next launch has no error of another");
    let bad = LaunchConfig {
        grid_dim: 0,
        block_dim: 64,
    };
    let bad = vec![
        increment(site, &vec),
        site.kernels.increment_launch(bad, &vec),
    ];
    match stream.launch_all(bad) {
        Err(DeviceError::BadLaunch { why, .. }) => assert!(why.contains("at least 1"), "{why}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(vec.to_vec().expect("nothing was queued"), [41; 500]);
}

/// Events are points in streams: another stream or the host waits for them, and they have a time.
pub fn events(site: &Site) {
    let (slow, other) = (stream(site), stream(site));
    let (vec, small) = (zeros(site, many(site)), zeros(site, 1));
    let before = slow.event().expect("an event");
    for _ in 0..20 {
        increment(site, &vec).on(&slow).expect("it is queued");
    }
    let after = slow.event().expect("an event");
    // Nothing but the event orders the two.
    other.wait_for(&after).expect("it is noted");
    increment(site, &small).on(&other).expect("it is queued");
    let last = other.event().expect("an event");
    // A wait is for events, too, where there is nothing else.
    let idle = stream(site);
    idle.wait_for(&after).expect("it is noted");
    let point = idle.event().expect("an event");
    idle.wait().expect("it comes");
    assert!(point.is_there().expect("the device answers"));
    // Devices tell when each was there: the one that was waited for first.
    assert!(after.since(&last).expect("a time").is_zero(), "{last:?}");
    assert!(last.is_there().expect("the device answers"));
    let took = after.since(&before).expect("a time");
    assert!(!took.is_zero(), "20 launches take time");
    assert!(before.since(&after).expect("a time").is_zero());
    // An event outlives its stream.
    drop(slow);
    assert!(after.since(&before).expect("a time") == took);
    other.wait_for(&after).expect("it is noted");
    increment(site, &small).on(&other).expect("it is queued");
    other.wait().expect("it runs");
    assert_eq!(small.to_vec().expect("the vector"), [2]);
}

/// All that a scope's streams do has ended when it returns, whatever the closure does.
pub fn scopes(site: &Site) {
    let (vec, other) = (zeros(site, many(site)), zeros(site, 64));
    let mut read = vec![0; vec.len()];
    let mut small = vec![7; 64];
    let answer = site.device.scope(|scope| {
        let (left, right) = (scope.stream()?, scope.stream()?);
        increment(site, &vec).on(&left)?;
        increment(site, &other).on(&right)?;
        right.read_into(&vec, &mut read)?;
        increment(site, &vec).on(&left)?;
        left.read_into(&other, &mut small)?;
        Ok(3)
    });
    assert_eq!(answer.expect("all run"), 3);
    assert_eq!((read, small), (vec![1; vec.len()], vec![1; 64]));

    let codes = DeviceVec::from_slice(&site.device, &[2]).expect("codes");
    let fails = || {
        site.kernels
            .fail_launch(LaunchConfig::for_num_elems(1), &codes)
    };
    let failed = site.device.scope(|scope| {
        fails().on(&*scope.stream()?)?;
        increment(site, &other).on(&*scope.stream()?)
    });
    assert!(matches!(failed, Err(DeviceError::Kernel(_))), "{failed:?}");
    let mut short = [0];
    let returned = site.device.scope(|scope| {
        let stream = scope.stream()?;
        increment(site, &other).on(&stream)?;
        stream.read_into(&other, &mut short)
    });
    assert!(matches!(returned, Err(DeviceError::OutOfRange { .. })));
    let mut read = vec![0; 64];
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        site.device.scope(|scope| {
            let stream = scope.stream()?;
            increment(site, &other).on(&stream)?;
            stream.read_into(&other, &mut read)?;
            if other.len() == 64 {
                panic!("on purpose");
            }
            Ok(())
        })
    }));
    let what = panicked.expect_err("the panic goes on");
    assert_eq!(what.downcast_ref(), Some(&"on purpose"));
    assert_eq!(read, [4; 64], "what was queued has ended");
}

/// What a stream works with stays until it is done, whoever lets go of it.
pub fn dropped_early(site: &Site) {
    let sum = zeros(site, many(site));
    for _ in 0..20 {
        let stream = stream(site);
        let mut vec = zeros(site, many(site));
        increment(site, &vec).on(&stream).expect("it is queued");
        increment(site, &sum).on(&stream).expect("it is queued");
        let fives = vec![5; vec.len()];
        stream.write(&mut vec, &fives).expect("it is queued");
        drop(fives);
        let read = stream.read(&vec).expect("it is queued");
        drop((vec, stream));
        assert!(read.wait().expect("elements").iter().all(|&five| five == 5));
    }
    assert_eq!(sum.to_vec().expect("the vector"), vec![20; sum.len()]);
}

/// What belongs to another device is refused, and nothing is queued.
pub fn other_devices(site: &Site) {
    let other = Site::host(3);
    let here = stream(site);
    let vec = zeros(&other, 10);
    match increment(&other, &vec).on(&here) {
        Err(error @ DeviceError::OtherDevice { .. }) => {
            let text = error.to_string();
            assert!(text.starts_with("kernel increment"), "{text}");
            assert!(text.contains("a stream of it"), "{text}");
        }
        other => panic!("{other:?}"),
    }
    let refused = |what: &str, done: Result<(), DeviceError>| match done {
        Err(DeviceError::OtherDevice { what: said, .. }) => assert!(said.contains(what), "{said}"),
        other => panic!("{what}: {other:?}"),
    };
    // A kernel of this device with a vector of another one.
    refused("argument 1 of increment", increment(site, &vec).on(&here));
    refused("a vector", here.read(&vec).map(drop));
    let mut own = zeros(site, 10);
    refused("a vector", here.copy(&vec, &mut own));
    let event = stream(&other).event().expect("an event");
    refused("the event", here.wait_for(&event));
    let mine = here.event().expect("an event");
    refused("the earlier event", mine.since(&event).map(drop));
    here.wait().expect("nothing went wrong on the device");
    assert_eq!(vec.to_vec().expect("the vector"), [0; 10]);
    // The host's own calls copy between any two.
    increment(&other, &vec).run().expect("it runs where it is");
    own.copy_from_vec(&vec).expect("it is copied");
    increment(site, &own).on(&here).expect("it is queued");
    let mut back = zeros(&other, 10);
    back.copy_from_vec(&own).expect("it is copied behind that");
    assert_eq!(back.to_vec().expect("the vector"), [2; 10]);
}

/// Several threads use streams of their own and one that they share.
pub fn from_threads(site: &Site) {
    let shared = stream(site);
    let all = zeros(site, 1000);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let own = stream(site);
                let vec = zeros(site, 1000);
                for _ in 0..25 {
                    increment(site, &vec).on(&own).expect("it is queued");
                    increment(site, &all).on(&own).expect("it is queued");
                    increment(site, &all).on(&shared).expect("it is queued");
                }
                own.wait().expect("all run");
                assert_eq!(vec.to_vec().expect("the vector"), [25; 1000]);
            });
        }
    });
    assert_eq!(all.to_vec().expect("the vector"), [200; 1000]);
}
