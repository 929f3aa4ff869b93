//! Streams on a GPU: what runs at the same time, and how long it takes. One test at a time.

mod common;

use common::streams::{Stream, timed};
use common::{IMAGE, launch};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpheap_api::host::{Device, DeviceVec, IntoArg, Module, Prepared, Work};
use warpheap_cuda::CudaConfig;

const MS: Duration = Duration::from_millis(1);

static ALONE: Mutex<()> = Mutex::new(());

fn open() -> Option<(MutexGuard<'static, ()>, Device)> {
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Some((alone, common::open(&CudaConfig::default())?))
}

fn sleep(module: &Module, ms: u32) -> Prepared {
    launch(module, "sleep_l1", 1, 1, vec![ms.into_arg()])
}

fn empty(module: &Module) -> Prepared {
    launch(module, "empty_l1", 1, 1, Vec::new())
}

#[test]
fn streams_run_beside_each_other_and_beside_calls() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let nap = sleep(&module, 100);
    let streams: Vec<_> = (0..2).map(|_| Stream::open(&device)).collect();
    let all = |launch: &Prepared| {
        let marks: Vec<_> = streams.iter().map(|stream| stream.launch(launch)).collect();
        for (stream, mark) in streams.iter().zip(marks) {
            stream.wait(mark);
        }
    };
    all(&sleep(&module, 1));
    let ((), took) = timed(|| all(&nap));
    assert!(took > 99 * MS && took < 180 * MS, "{took:?}");

    let (first, second) = (&streams[0], &streams[1]);
    let (mark, queued) = timed(|| first.launch(&nap));
    let (vec, made) = timed(|| DeviceVec::<u32>::filled(&device, 1000, 7).unwrap());
    let ((), dropped) = timed(|| drop(vec));
    let (_, ran) = timed(|| sleep(&module, 1).run().unwrap());
    let (mark2, other) = timed(|| {
        let mark = second.launch(&sleep(&module, 1));
        second.wait(mark);
        mark
    });
    let total = queued + made + dropped + ran + other;
    assert!(
        total < 80 * MS,
        "{queued:?} {made:?} {dropped:?} {ran:?} {other:?}"
    );
    assert_eq!(second.streams.reached(second.id).unwrap(), mark2.at);
    assert!(first.streams.reached(first.id).unwrap() < mark.at);
    first.wait(mark);
}

#[test]
fn a_wait_ends_at_a_pause_and_not_at_the_end_of_the_stream() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    let (short, long) = (sleep(&module, 10), sleep(&module, 200));
    stream.launch(&short);
    let mark = stream.launch(&short);
    std::thread::sleep(MS);
    let end = stream.launch(&long);
    let ((), took) = timed(|| stream.wait(mark));
    assert!(took < 100 * MS, "{took:?}");
    let ((), took) = timed(|| stream.wait(end));
    assert!(took > 100 * MS, "{took:?}");
    // Behind a stamp too, without a pause.
    stream.launch(&short);
    let stamp = stream.queue(Work::Stamp);
    let end = stream.launch(&long);
    let ((), took) = timed(|| stream.wait(stamp));
    assert!(took < 100 * MS, "{took:?}");
    stream.wait(end);
}

#[test]
fn stamps_tell_the_time_between_them() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = device.load(&IMAGE).unwrap();
    let (first, second) = (Stream::open(&device), Stream::open(&device));
    first.launch(&empty(&module));
    let start = first.queue(Work::Stamp);
    first.launch(&sleep(&module, 40));
    let middle = first.queue(Work::Stamp);
    second.launch_after(&[middle], &sleep(&module, 40));
    let end = second.queue(Work::Stamp);
    second.wait(end);
    let streams = first.streams;
    let elapsed = |from, to| streams.elapsed(from, to).unwrap();
    let (half, whole) = (elapsed(start, middle), elapsed(start, end));
    assert!(half > 39 * MS && half < 60 * MS, "{half:?}");
    assert!(whole > 79 * MS && whole < 120 * MS, "{whole:?}");
    assert_eq!(elapsed(end, start), Duration::ZERO);
    streams.forget(middle);
    assert!(streams.elapsed(start, middle).is_err());
    // The stamp's event is used again, and the other ones stay.
    for _ in 0..3 {
        streams.forget(first.queue(Work::Stamp));
    }
    assert_eq!(elapsed(start, end), whole);
}
