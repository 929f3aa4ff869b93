//! What is refused, and streams that are gone.

use crate::common::streams::Stream;
use crate::common::{IMAGE, kernels, launch};
use crate::{MS, another, empty, increment, open, report};
use warpheap_api::host::{DeviceError, DeviceVec, Mark, StreamId, Work};

#[test]
fn a_batch_with_a_bad_launch_queues_nothing() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let Some(other) = another() else { return };
    let module = kernels(&device);
    let stream = Stream::open(&device);
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let foreign = DeviceVec::<u32>::zeroed(&other, 1).unwrap();
    let good = increment(&module, &count);
    let there = other.load(&IMAGE).unwrap();
    for bad in [
        launch(&module, "increment_l1", 1, 1025, vec![count.arg_mut()]),
        increment(&module, &foreign),
        increment(&there, &count),
    ] {
        let launches = [good.launch().unwrap(), bad.launch().unwrap()];
        let refused = stream.try_queue(&[], Work::Launches(&launches));
        assert!(
            matches!(refused, Err(DeviceError::BadLaunch { .. })),
            "{refused:?}"
        );
    }
    let stale = launch(&module, "stale_l1", 1, 1, Vec::new());
    let launches = [good.launch().unwrap(), stale.launch().unwrap()];
    let refused = stream.try_queue(&[], Work::Launches(&launches));
    assert!(
        matches!(refused, Err(DeviceError::LayoutMismatch { .. })),
        "{refused:?}"
    );
    let mark = stream.launch(&good);
    assert_eq!(mark.at, 1);
    stream.wait(mark);
    assert_eq!(count.to_vec().unwrap(), [1]);
}

#[test]
fn ranges_outside_their_buffer_and_foreign_streams_are_refused() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let Some(other) = another() else { return };
    let stream = Stream::open(&device);
    let (buffer, foreign) = (device.alloc(16).unwrap(), other.alloc(16).unwrap());
    let (here, there) = (buffer.id(), foreign.id());
    for bad in [
        Work::Write {
            buffer: here,
            offset: 8,
            data: &[0; 12],
        },
        Work::Read {
            buffer: here,
            offset: 2,
            bytes: 4,
        },
        Work::Read {
            buffer: there,
            offset: 0,
            bytes: 4,
        },
        Work::Fill {
            buffer: here,
            offset: 0,
            words: u64::MAX,
            value: 0,
        },
        Work::Copy {
            from: (here, 0),
            to: (there, 0),
            bytes: 16,
        },
    ] {
        let refused = stream.try_queue(&[], bad);
        let right = match bad {
            Work::Read { offset: 2, .. } => matches!(refused, Err(DeviceError::Misaligned { .. })),
            _ => matches!(refused, Err(DeviceError::OutOfRange { .. })),
        };
        assert!(right, "{bad:?}: {refused:?}");
    }
    let elsewhere = Stream {
        streams: other.backend().streams().unwrap(),
        id: stream.id,
    };
    assert!(elsewhere.try_queue(&[], Work::Stamp).is_err());
    let unknown = Mark {
        stream: stream.id,
        at: 1,
    };
    elsewhere.streams.wait(unknown).unwrap();
    assert!(elsewhere.failure().is_none());
    assert_eq!(stream.queue(Work::Stamp).at, 1);
}

#[test]
fn a_stream_that_is_gone_has_reached_everything_and_its_place_is_used_again() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
    let streams = device.backend().streams().unwrap();
    let mut ids = Vec::<StreamId>::new();
    for round in 0..5 {
        let stream = Stream::open(&device);
        assert!(!ids.contains(&stream.id));
        ids.push(stream.id);
        assert_eq!(stream.launch(&empty(&module)).at, 1, "{round}");
        // A failure that nobody asks for is not another stream's.
        let mark = stream.launch(&report(&module, 4));
        stream.launch(&empty(&module));
        if round % 2 == 0 {
            stream.wait(mark);
        } else {
            std::thread::sleep(10 * MS);
        }
    }
    let last = Mark {
        stream: ids[4],
        at: 77,
    };
    streams.wait(last).unwrap();
    let stream = Stream::open(&device);
    let mark = stream.launch_after(&[last], &empty(&module));
    stream.wait(mark);
    assert!(stream.failure().is_none());
}
