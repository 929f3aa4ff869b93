//! Data and times: written, read, copied, noted.

use crate::common;
use crate::common::device;
use crate::work::{
    MIB, fill, launch, long, open, out_of_range, queue, read, setting, streams, take, taken, wait,
};
use std::time::{Duration, Instant};
use warpheap_api::host::{DeviceError, Mark, Work};

#[test]
fn large_data_are_written_and_read() {
    let Some(device) = device() else { return };
    let [stream] = open(&device);
    let most = device.info().max_buffer_bytes.min(64 * MIB);
    let buffer = device.alloc(most).unwrap();
    // More than one staging buffer, and what does not fill one.
    for (offset, bytes) in [(0, 4), (8, 4096), (4, 16 * MIB), (4, 40 * MIB + 4)] {
        let bytes = bytes.min(most - offset);
        let data: Vec<u8> = (0..bytes)
            .map(|i| (i.wrapping_mul(0x9e37_79b9) >> 13) as u8)
            .collect();
        let range = |offset| Work::Read {
            buffer: buffer.id(),
            offset,
            bytes,
        };
        queue(&device, stream, &[], fill(buffer.id(), most / 4, 0));
        let write = Work::Write {
            buffer: buffer.id(),
            offset,
            data: &data,
        };
        queue(&device, stream, &[], write);
        let read = queue(&device, stream, &[], range(offset));
        wait(&device, read);
        let mut back = vec![0; bytes as usize];
        streams(&device).take(read, &mut back).unwrap();
        assert!(data == back, "{bytes} bytes at {offset}");
        // Synchronous calls see it as well.
        back.fill(0);
        buffer.read(offset, &mut back).unwrap();
        assert!(data == back, "{bytes} bytes at {offset}");
    }
}

#[test]
fn data_are_the_callers_again_at_once() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream] = open(&device);
    let buffer = device.alloc(640).unwrap();
    // So that none of it has begun when the last of it is queued.
    launch(&device, stream, &[], &[long(&device, &kernels)]);
    let mut data = [0; 64];
    for value in 0..10 {
        data.fill(value);
        let write = Work::Write {
            buffer: buffer.id(),
            offset: u64::from(value) * 64,
            data: &data,
        };
        queue(&device, stream, &[], write);
    }
    let read = queue(&device, stream, &[], read(buffer.id(), 640));
    let found = taken(&device, read, 640);
    for (value, part) in (0..).zip(found.chunks_exact(16)) {
        assert_eq!(part, [u32::from_ne_bytes([value; 4]); 16]);
    }
}

#[test]
fn nothing_to_do_is_work_as_well() {
    let Some(device) = device() else { return };
    let [stream] = open(&device);
    let buffer = device.alloc(64).unwrap();
    let id = buffer.id();
    queue(&device, stream, &[], fill(id, 0, 1));
    let nothing = Work::Write {
        buffer: id,
        offset: 64,
        data: &[],
    };
    queue(&device, stream, &[], nothing);
    let nothing = Work::Copy {
        from: (id, 64),
        to: (id, 64),
        bytes: 0,
    };
    queue(&device, stream, &[], nothing);
    let read = queue(&device, stream, &[], read(id, 0));
    assert_eq!(read.at, 4);
    assert!(taken(&device, read, 0).is_empty());
}

#[test]
fn what_was_read_is_taken_once() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream] = open(&device);
    let buffer = device.alloc(64).unwrap();
    queue(&device, stream, &[], fill(buffer.id(), 16, 7));
    // Not before it was reached.
    launch(&device, stream, &[], &[long(&device, &kernels)]);
    let mark = queue(&device, stream, &[], read(buffer.id(), 64));
    let early = take(&device, mark, 64);
    if streams(&device).reached(stream).unwrap() < mark.at {
        assert!(matches!(early, Err(DeviceError::Driver { .. })));
    }
    let mark = queue(&device, stream, &[], read(buffer.id(), 64));
    wait(&device, mark);
    out_of_range(take(&device, mark, 60));
    assert_eq!(take(&device, mark, 64).unwrap(), [7; 16]);
    assert!(take(&device, mark, 64).is_err());
    // Forgotten while it is under way: its room is not given to the next data too early.
    for value in 0..100 {
        queue(&device, stream, &[], fill(buffer.id(), 16, 7));
        let forgotten = queue(&device, stream, &[], read(buffer.id(), 64));
        streams(&device).forget(forgotten);
        let write = Work::Write {
            buffer: buffer.id(),
            offset: 0,
            data: &[value; 64],
        };
        queue(&device, stream, &[], write);
        let wanted = queue(&device, stream, &[], read(buffer.id(), 64));
        queue(&device, stream, &[], fill(buffer.id(), 16, 8));
        let value = u32::from_ne_bytes([value; 4]);
        assert_eq!(taken(&device, wanted, 64), [value; 16]);
        assert!(take(&device, forgotten, 64).is_err());
    }
    // Unknown by now: ignored.
    streams(&device).forget(mark);
    // The last of the fills may be under way, and the buffer has to stay until it has ended.
    let last = queue(&device, stream, &[], Work::Stamp);
    wait(&device, last);
}

#[test]
fn stamps_tell_the_time_between_them() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream, other] = open(&device);
    let stamp = |stream, after: &[Mark]| queue(&device, stream, after, Work::Stamp);
    let elapsed = |from, to| streams(&device).elapsed(from, to);
    let start = Instant::now();
    let before = stamp(stream, &[]);
    launch(&device, stream, &[], &[long(&device, &kernels)]);
    let after = stamp(stream, &[]);
    let across = stamp(other, &[after]);
    wait(&device, across);
    let outside = start.elapsed();
    let inside = elapsed(before, after).unwrap();
    assert!(
        Duration::ZERO < inside && inside <= outside,
        "{inside:?} of {outside:?}"
    );
    let longer = elapsed(before, across).unwrap();
    assert!(
        inside <= longer && longer <= outside,
        "{inside:?}, {longer:?}"
    );
    assert_eq!(elapsed(after, before).unwrap(), Duration::ZERO);
    assert_eq!(elapsed(across, before).unwrap(), Duration::ZERO);
    assert_eq!(elapsed(after, after).unwrap(), Duration::ZERO);
    // More than are kept together, used again while they are under way.
    for round in 0..4 {
        let marks: Vec<_> = (0..100).map(|_| stamp(stream, &[])).collect();
        for (at, mark) in marks.iter().enumerate() {
            if at % 4 != round {
                streams(&device).forget(*mark);
            }
        }
        let kept: Vec<_> = marks.into_iter().skip(round).step_by(4).collect();
        wait(&device, kept[kept.len() - 1]);
        for pair in kept.windows(2) {
            let between = elapsed(pair[0], pair[1]).unwrap();
            assert!(between < Duration::from_secs(60), "{between:?}");
            // As the earlier one is known, so is the time since the first.
            let since = elapsed(before, pair[0]).unwrap();
            assert!(
                since >= inside && since < Duration::from_secs(600),
                "{since:?}"
            );
        }
        kept.into_iter()
            .for_each(|mark| streams(&device).forget(mark));
    }
    streams(&device).forget(before);
    let gone = elapsed(before, after);
    assert!(matches!(gone, Err(DeviceError::Driver { .. })), "{gone:?}");
}

#[test]
fn copies_that_are_waited_for_change_their_range_alone() {
    let Some(device) = device() else { return };
    let backend = device.backend();
    let [from, to] = [(); 2].map(|()| device.alloc(256).unwrap());
    let data: Vec<u8> = (0..=255).collect();
    // SAFETY: nobody else has this memory.
    unsafe { from.write(0, &data) }.unwrap();
    // SAFETY: nobody else has this memory.
    unsafe { to.fill(0, 64, 0) }.unwrap();
    backend.copy((from.id(), 16), (to.id(), 32), 100).unwrap();
    backend.copy((to.id(), 32), (to.id(), 132), 100).unwrap();
    backend.copy((to.id(), 0), (to.id(), 0), 0).unwrap();
    let mut back = vec![0; 256];
    to.read(0, &mut back).unwrap();
    for (i, byte) in back.into_iter().enumerate() {
        let want = match i {
            32..132 => data[i - 16],
            132..232 => data[i - 116],
            _ => 0,
        };
        assert_eq!(byte, want, "byte {i}");
    }
    out_of_range(backend.copy((from.id(), 4), (to.id(), 0), 256));
    out_of_range(backend.copy((from.id(), 0), (to.id(), 4), 256));
    out_of_range(backend.copy((from.id(), 0), (from.id(), 96), 100));
    out_of_range(backend.copy((from.id(), 2), (to.id(), 0), 4));
    let Some(other) = common::device() else {
        return;
    };
    let foreign = other.alloc(256).unwrap();
    out_of_range(backend.copy((foreign.id(), 0), (to.id(), 0), 4));
}
