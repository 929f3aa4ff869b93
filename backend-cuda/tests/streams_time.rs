//! Streams on a GPU: what runs at the same time, and how long it takes. One test at a time.

mod common;

use common::streams::{Stream, timed};
use common::{kernels, launch};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
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

/// A time is that between two events of the stream, so it has in it what the GPU does for others meanwhile. Beside nine tests
/// that open devices of their own, 3 of 40 runs on an H200 had 40 to 90 ms more in one launch; alone none of 40.
#[test]
fn each_launch_has_its_own_time() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    sleep(&module, 1).run().unwrap();
    let naps = [sleep(&module, 40), sleep(&module, 1), sleep(&module, 20)];
    let reports = device.run_all(&naps).unwrap();
    let times: Vec<_> = reports.iter().map(|report| report.device_time).collect();
    assert!(times[0] >= 39 * MS && times[0] < 59 * MS, "{times:?}");
    assert!(times[1] >= MS && times[1] < 19 * MS, "{times:?}");
    assert!(times[2] >= 19 * MS && times[2] < 39 * MS, "{times:?}");
}

#[test]
fn streams_run_beside_each_other_and_beside_calls() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let module = kernels(&device);
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
    let module = kernels(&device);
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

#[test]
fn other_threads_go_on_while_one_runs_a_long_launch() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    let stream = device.stream().unwrap();
    let mut vec = DeviceVec::<u32>::filled(&device, 1000, 7).unwrap();
    let (long, short) = (sleep(&module, 400), sleep(&module, 1));
    short.clone().run().unwrap();
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let reports = device.run_all(&[long.clone(), short.clone()]).unwrap();
            over.store(true, Ordering::Release);
            assert!(reports[0].device_time > 399 * MS, "{reports:?}");
        });
        // By now it waits.
        thread::sleep(50 * MS);
        let ((), took) = timed(|| {
            stream.launch(short.clone()).unwrap();
            stream.write(&mut vec, &[3; 1000]).unwrap();
            let read = stream.read(&vec).unwrap();
            stream.is_idle().unwrap();
            stream.wait().unwrap();
            assert_eq!(read.wait().unwrap(), [3; 1000]);
            vec.copy_from(&[4; 1000]).unwrap();
            assert_eq!(vec.to_vec().unwrap(), [4; 1000]);
            drop(DeviceVec::<u32>::filled(&device, 1000, 5).unwrap());
            drop(device.stream().unwrap());
        });
        assert!(!over.load(Ordering::Acquire), "{took:?}");
        assert!(took < 200 * MS, "{took:?}");
    });
}

#[test]
fn long_batches_are_timed_launch_by_launch() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    // More than the driver's queue and the reports of a stream have room for, with a failure here and there.
    let (fails, empty) = (
        launch(&module, "report_l1", 1, 3, Vec::new()),
        empty(&module),
    );
    let nap = sleep(&module, 20);
    let batch: Vec<_> = (0..5000)
        .map(|at| match at % 1000 {
            0 => nap.clone(),
            7 => fails.clone(),
            _ => empty.clone(),
        })
        .collect();
    for _ in 0..2 {
        let reports = device.run_all(&batch).unwrap();
        assert_eq!(reports.len(), batch.len());
        for (at, report) in reports.iter().enumerate() {
            let slept = report.device_time > 19 * MS;
            assert_eq!(slept, at % 1000 == 0, "{at}: {report:?}");
            let lanes = if at % 1000 == 7 { 3 } else { 0 };
            assert_eq!(report.words[0], lanes, "{at}: {report:?}");
        }
    }
}
