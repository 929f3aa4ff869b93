//! What goes wrong in a stream, and what is refused.

use crate::common::{args, assert_tells, exploring, prepare, running};
use crate::work::*;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{DeviceError, HostEntry, Work};
use warpheap_api::{AllocError, LaneMask};
use warpheap_rt::arch::simt;
use warpheap_rt::thread as lane;

/// Lane 2 gives up.
unsafe fn give_up(args: &ArgBlock) {
    let gives_up = lane::lane() == 2;
    let outcome = (!gives_up).then_some(()).ok_or(AllocError::Exhausted);
    finish(args, outcome);
}

/// Lane 1 panics.
unsafe fn panics(_: &ArgBlock) {
    assert!(lane::lane() != 1, "lane 1 is wrong");
}

/// Half of the lanes do not come to the ballot of all.
unsafe fn half_votes(_: &ArgBlock) {
    if lane::lane() % 2 == 0 {
        simt::ballot(LaneMask::full(lane::warp_width()), true);
    }
}

#[test]
fn failures_are_told_once_in_order_and_the_work_behind_runs() {
    for device in [running(4), exploring(4, 5)] {
        let [stream, other] = open(&device);
        let vec = zeroed(&device, 4);
        let step = || prepare(&device, "step", step, (1, 4), args([vec.arg()]));
        let bad = |name, entry: HostEntry| prepare(&device, name, entry, (1, 4), args([]));
        launches(
            &device,
            stream,
            &[],
            &[bad("give_up", give_up), step(), bad("panics", panics)],
        );
        launches(&device, stream, &[], &[bad("half", half_votes), step()]);
        assert_eq!(read(&device, stream, &[], &vec), [11; 4]);
        ok(&device, other);
        let failure = || streams(&device).failure(stream).expect("a failure");
        match failure() {
            DeviceError::Kernel(failure) => {
                assert_eq!((failure.lanes, failure.lane), (1, 2));
                assert_eq!(failure.kernel, "give_up");
            }
            other => panic!("lanes returned errors first: {other}"),
        }
        match failure() {
            DeviceError::Panic(panic) => {
                let place = "block 0, lane 1: panic in device code: lane 1 is wrong";
                assert_tells(&panic.to_string(), "panics", place, &["failures.rs"]);
            }
            other => panic!("then one panicked: {other}"),
        }
        match failure() {
            DeviceError::Emulator(message) => {
                let place = "block 0, warp 0: divergent collective";
                assert_tells(&message, "half", place, &["at ballot over lanes 0-3"]);
            }
            other => panic!("then some did not come: {other}"),
        }
        ok(&device, stream);
    }
}

#[test]
fn what_cannot_work_is_refused_and_not_queued() {
    let device = running(4);
    let [stream, gone] = open(&device);
    streams(&device).close(gone);
    let (vec, elsewhere) = (zeroed(&device, 4), zeroed(&running(4), 4));
    let good = || prepare(&device, "step", step, (1, 4), args([vec.arg()]));
    let bad = |shape, arg| prepare(&device, "bad", step, shape, args([arg]));
    for (bad, why) in [
        (bad((0, 4), vec.arg()), "both must be at least 1"),
        (
            bad((1, 4), elsewhere.arg()),
            "its argument 1 is not a buffer of this device",
        ),
    ] {
        let error = try_launches(&device, stream, &[], &[good(), bad]).expect_err(why);
        assert!(matches!(error, DeviceError::BadLaunch { .. }), "{error}");
        assert!(error.to_string().contains(why), "{error}");
    }
    for (id, offset, is_here) in [(id(&elsewhere), 0, false), (id(&vec), 8, true)] {
        let (data, to) = ([0; 12], (id, offset));
        let write = Work::Write {
            buffer: id,
            offset,
            data: &data,
        };
        let read = Work::Read {
            buffer: id,
            offset,
            bytes: 12,
        };
        let fill = Work::Fill {
            buffer: id,
            offset,
            words: 3,
            value: 0,
        };
        let copy = |from, to| Work::Copy {
            from,
            to,
            bytes: 12,
        };
        let own = (self::id(&vec), 0);
        for work in [write, read, fill, copy(own, to), copy(to, own)] {
            let error = try_queue(&device, stream, &[], work).expect_err("it cannot work");
            let expected = match error {
                DeviceError::OutOfRange { .. } => is_here,
                DeviceError::Driver { .. } => !is_here,
                _ => false,
            };
            assert!(expected, "{work:?}: {error}");
        }
    }
    let error = try_queue(&device, gone, &[], Work::Stamp).expect_err("it is closed");
    assert!(error.to_string().contains("it was closed"), "{error}");
    assert_eq!(queue(&device, stream, &[], Work::Stamp).at, 1);
    assert_eq!(read(&device, stream, &[], &vec), [0; 4], "nothing ran");
}
