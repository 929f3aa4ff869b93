//! Waiting: beside other threads, for what is slow, and in vain.

use crate::common;
use crate::work::{
    alone, fill, launch, long, open, queue, setting, streams, try_launch, try_queue, wait,
};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, Mark, Work};
use warpheap_kernels::load;
use warpheap_vulkan::{VulkanConfig, open_unchecked};

/// Waits until another thread says so.
fn until(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        thread::yield_now();
    }
}

#[test]
fn other_threads_go_on_while_one_waits() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [busy, other] = open(&device);
    let slow = long(&device, &kernels);
    let buffer = device.alloc(64).unwrap();
    for full in [false, true] {
        let [waiting, over] = [(); 2].map(|()| AtomicBool::new(false));
        let calls = thread::scope(|scope| {
            scope.spawn(|| {
                let go = || launch(&device, busy, &[], std::slice::from_ref(&slow));
                // As many as a stream has under way.
                let mut last = go();
                for _ in 1..32 {
                    last = go();
                }
                waiting.store(true, Ordering::Release);
                if full {
                    for _ in 0..8 {
                        go();
                    }
                } else {
                    wait(&device, last);
                }
                over.store(true, Ordering::Release);
            });
            // Before that they would fill their stream, with the launches between them, and then wait for these.
            until(&waiting);
            let mut calls = 0;
            while !over.load(Ordering::Acquire) {
                streams(&device).reached(other).unwrap();
                if calls < 8 {
                    queue(&device, other, &[], fill(buffer.id(), 16, calls));
                }
                calls += 1;
            }
            calls
        });
        // A thread that waited with the lock would let none in.
        assert!(calls > 100, "{calls} calls while another thread waited");
    }
    let last = queue(&device, busy, &[], Work::Stamp);
    wait(&device, last);
}

#[test]
fn other_threads_go_on_while_one_runs_launches() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [other] = open(&device);
    let slow = vec![long(&device, &kernels); 32];
    device.run_all(&slow[..1]).unwrap();
    let (buffer, small) = (device.alloc(64).unwrap(), device.alloc(64).unwrap());
    let [running, over] = [(); 2].map(|()| AtomicBool::new(false));
    let calls = thread::scope(|scope| {
        scope.spawn(|| {
            running.store(true, Ordering::Release);
            assert_eq!(device.run_all(&slow).unwrap().len(), slow.len());
            over.store(true, Ordering::Release);
        });
        scope.spawn(|| {
            // Behind the launches, where the device has one queue: but nobody else has to wait for that.
            while !over.load(Ordering::Acquire) {
                small.read(0, &mut [0; 64]).unwrap();
            }
        });
        until(&running);
        let mut calls = 0;
        while !over.load(Ordering::Acquire) {
            streams(&device).reached(other).unwrap();
            if calls < 8 {
                queue(&device, other, &[], fill(buffer.id(), 16, calls));
                drop(device.alloc(64).unwrap());
            }
            calls += 1;
        }
        calls
    });
    // A thread that waited with the lock would let none in.
    assert!(
        calls > 1000,
        "{calls} calls while another thread ran launches"
    );
    let last = queue(&device, other, &[], Work::Stamp);
    wait(&device, last);
}

#[test]
fn memory_that_calls_use_outlives_whoever_gives_it_back() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let slow = vec![long(&device, &kernels); 8];
    let (used, ..) = slow[0].launch().unwrap().args[0].binding().unwrap();
    thread::scope(|scope| {
        let run = scope.spawn(|| device.run_all(&slow));
        thread::sleep(Duration::from_millis(5));
        // Against all rules, but no reason to hand the device memory that is gone.
        device.backend().dealloc(used);
        match run.join().unwrap() {
            Ok(reports) => assert_eq!(reports.len(), slow.len()),
            Err(error) => assert!(matches!(error, DeviceError::BadLaunch { .. }), "{error}"),
        }
    });
    let gone = device.run_all(&slow).unwrap_err();
    assert!(matches!(gone, DeviceError::BadLaunch { .. }), "{gone}");
}

#[test]
fn a_device_that_takes_too_long_on_a_stream_is_lost() {
    let hasty = VulkanConfig {
        timeout: Duration::from_nanos(1),
        ..common::config()
    };
    alone();
    let Some(device) = common::unless_absent(open_unchecked(&hasty)) else {
        return;
    };
    let kernels = load(&device).unwrap();
    let buffer = device.alloc(64).unwrap();
    let [stream, other] = open(&device);
    let slow = long(&device, &kernels);
    let mut last = Mark { stream, at: 0 };
    // A GPU may be done before it is asked.
    let lost = (0..1000).find_map(|_| {
        for _ in 0..8 {
            last = launch(&device, stream, &[], std::slice::from_ref(&slow));
        }
        streams(&device).wait(last).err()
    });
    let lost = lost.expect("a nanosecond is too short");
    assert!(matches!(lost, DeviceError::Lost { .. }), "{lost}");
    assert!(lost.to_string().contains("WARPHEAP_TIMEOUT_S"), "{lost}");
    assert!(lost.to_string().contains("selftest_rounds"), "{lost}");
    // From now on every call says so, at once.
    let start = Instant::now();
    let all = streams(&device);
    for error in [
        all.open().map(drop),
        try_queue(&device, other, &[], Work::Stamp).map(drop),
        all.reached(other).map(drop),
        all.wait(last),
        all.take(last, &mut []),
        all.elapsed(last, last).map(drop),
        all.failure(other).map_or(Ok(()), Err),
        // SAFETY: nobody else has this memory.
        unsafe { buffer.write(0, &[0; 4]) },
    ] {
        assert_eq!(error.unwrap_err().to_string(), lost.to_string());
    }
    all.forget(last);
    all.close(stream);
    // The device may be at work on the buffer: neither this nor the end of the device waits.
    drop((buffer, slow, kernels));
    drop(device);
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_queue_that_is_full_for_too_long_is_lost() {
    let hasty = VulkanConfig {
        timeout: Duration::from_nanos(1),
        ..common::config()
    };
    alone();
    let Some(device) = common::unless_absent(open_unchecked(&hasty)) else {
        return;
    };
    let kernels = load(&device).unwrap();
    let [stream] = open(&device);
    let slow = long(&device, &kernels);
    let mut launches =
        (0..10_000).map(|_| try_launch(&device, stream, &[], std::slice::from_ref(&slow)));
    let lost = launches.find_map(Result::err).expect("it waits for room");
    assert!(matches!(lost, DeviceError::Lost { .. }), "{lost}");
}

#[test]
fn slow_work_ahead_is_no_loss() {
    // Each piece of work takes less than that, all together take more.
    let Some((device, kernels)) = setting() else {
        return;
    };
    let slow = long(&device, &kernels);
    let [stream] = open(&device);
    let start = Instant::now();
    wait(
        &device,
        launch(&device, stream, &[], std::slice::from_ref(&slow)),
    );
    let once = start.elapsed().max(Duration::from_millis(1));
    drop((slow, kernels, device));

    let config = VulkanConfig {
        timeout: once * 12,
        ..common::config()
    };
    alone();
    let Some(device) = common::unless_absent(open_unchecked(&config)) else {
        return;
    };
    let kernels = load(&device).unwrap();
    let slow = long(&device, &kernels);
    let [front, back] = open(&device);
    let mut last = Mark {
        stream: front,
        at: 0,
    };
    for _ in 0..36 {
        last = launch(&device, front, &[], std::slice::from_ref(&slow));
    }
    // Stands still for as long as the other one needs.
    let behind = queue(&device, back, &[last], Work::Stamp);
    wait(&device, behind);
    for _ in 0..36 {
        launch(&device, front, &[], std::slice::from_ref(&slow));
    }
    // In the same queue, or not.
    let buffer = device.alloc(64).unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { buffer.fill(0, 16, 1) }.unwrap();
    let last = queue(&device, front, &[], Work::Stamp);
    wait(&device, last);
}
