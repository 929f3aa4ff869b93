//! Reads, stamps, copies.

use crate::common::{args, prepare, running};
use crate::work::*;
use std::time::Duration;
use warpheap_api::host::{DeviceError, DeviceVec, Mark, Work};

#[test]
fn a_read_is_taken_once_and_may_be_forgotten() {
    let device = running(4);
    let [stream] = open(&device);
    let vec = DeviceVec::from_slice(&device, &[1, 2, 3, 4]).expect("room");
    let part = Work::Read {
        buffer: id(&vec),
        offset: 4,
        bytes: 8,
    };
    let [first, second, third] = [(); 3].map(|()| queue(&device, stream, &[], part));
    wait(&device, third);
    let error = take(&device, first, 3).expect_err("other length");
    assert!(matches!(error, DeviceError::OutOfRange { .. }), "{error}");
    assert_eq!(take(&device, first, 2).expect("it was read"), [2, 3]);
    streams(&device).forget(second);
    for gone in [first, second, Mark { at: 99, ..first }] {
        let error = take(&device, gone, 2).expect_err("it is gone");
        assert!(error.to_string().contains("nothing to give"), "{error}");
    }
    // What a stream brought does not go with it.
    streams(&device).close(stream);
    assert_eq!(take(&device, third, 2).expect("it was read"), [2, 3]);
}

#[test]
fn stamps_tell_how_long_work_took() {
    let device = running(4);
    let [first, second] = open(&device);
    let vec = zeroed(&device, 1);
    let slow = prepare(&device, "slow", slow, (1, 1), args([vec.arg()]));
    let start = queue(&device, first, &[], Work::Stamp);
    let forgotten = queue(&device, first, &[], Work::Stamp);
    launches(&device, first, &[], &[slow]);
    let end = queue(&device, first, &[], Work::Stamp);
    let far = queue(&device, second, &[end], Work::Stamp);
    streams(&device).forget(forgotten);
    let early = streams(&device).elapsed(start, far);
    assert!(early.is_err(), "{early:?}");
    wait(&device, far);
    let elapsed = |from, to| streams(&device).elapsed(from, to);
    let took = elapsed(start, end).expect("both are reached");
    let range = Duration::from_millis(60)..Duration::from_secs(20);
    assert!(range.contains(&took), "{took:?}");
    assert!(elapsed(start, far).expect("both are reached") >= took);
    assert_eq!(
        elapsed(far, start).expect("both are reached"),
        Duration::ZERO
    );
    for pair in [(start, forgotten), (forgotten, end)] {
        let error = elapsed(pair.0, pair.1).expect_err("forgotten");
        assert!(error.to_string().contains("it is no stamp"), "{error}");
    }
}

#[test]
fn buffers_are_copied_by_the_host_too() {
    let device = running(4);
    let (from, to) = (
        DeviceVec::from_slice(&device, &[1, 2, 3, 4]).expect("room"),
        zeroed(&device, 4),
    );
    let copy = |from, to, bytes| device.backend().copy(from, to, bytes);
    copy((id(&from), 4), (id(&to), 0), 12).expect("it is inside");
    copy((id(&to), 0), (id(&to), 8), 8).expect("ranges of one buffer");
    assert_eq!(to.to_vec().expect("readable"), [2, 3, 2, 3]);
    let error = copy((id(&to), 0), (id(&to), 4), 8).expect_err("they overlap");
    assert!(error.to_string().contains("overlap"), "{error}");
    assert_eq!(to.to_vec().expect("readable"), [2, 3, 2, 3]);
}
