//! What comes after what, and what runs at the same time.

use crate::common::{args, exploring, prepare, running, words};
use crate::work::*;
use std::thread;
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{Arg, Device, DeviceVec, Mark, Prepared, StreamId, Work};

#[test]
fn work_of_a_stream_runs_in_its_order() {
    for device in [running(4), exploring(4, 1)] {
        let streams: [_; 2] = open(&device);
        let vecs = streams.map(|_| (zeroed(&device, 8), zeroed(&device, 8)));
        for (&stream, (vec, copy)) in streams.iter().zip(&vecs) {
            let step = || prepare(&device, "step", step, (2, 4), args([vec.arg()]));
            let start = [2, 3, 4, 5, 6, 7, 8, 9];
            let mut data = bytes(&start);
            let write = Work::Write {
                buffer: id(vec),
                offset: 0,
                data: &data,
            };
            assert_eq!(queue(&device, stream, &[], write).at, 1);
            // They are the caller's again.
            data.fill(0xff);
            assert_eq!(launches(&device, stream, &[], &[step(), step()]).at, 2);
            let copy_half = Work::Copy {
                from: (id(vec), 0),
                to: (id(copy), 16),
                bytes: 16,
            };
            assert_eq!(queue(&device, stream, &[], copy_half).at, 3);
            let fill = Work::Fill {
                buffer: id(vec),
                offset: 8,
                words: 3,
                value: 1,
            };
            assert_eq!(queue(&device, stream, &[], fill).at, 4);
            assert_eq!(launches(&device, stream, &[], &[step()]).at, 5);
        }
        for (&stream, (vec, copy)) in streams.iter().zip(&vecs) {
            let want = [2111, 3111, 11, 11, 11, 7111, 8111, 9111];
            assert_eq!(read(&device, stream, &[], vec), want);
            let want = [0, 0, 0, 0, 211, 311, 411, 511];
            assert_eq!(read(&device, stream, &[], copy), want);
            ok(&device, stream);
        }
    }
}

#[test]
fn a_mark_orders_streams() {
    let device = running(4);
    let [first, second, third] = open(&device);
    let vec = zeroed(&device, 1);
    let slow = prepare(&device, "slow", slow, (1, 1), args([vec.arg()]));
    let step = || prepare(&device, "step", step, (1, 1), args([vec.arg()]));
    let set = launches(&device, first, &[], &[slow]);
    assert_eq!(streams(&device).reached(first).expect("it is there"), 0);
    let stepped = launches(&device, second, &[set], &[step()]);
    // Through another stream, and with a mark that is reached before.
    assert_eq!(read(&device, third, &[stepped, set], &vec), [71]);
    for mark in [set, stepped] {
        let reached = streams(&device).reached(mark.stream);
        assert_eq!(reached.expect("it is there"), 1);
    }
}

#[test]
fn marks_of_streams_that_are_gone_and_of_work_that_is_not_there_do_not_hold_anyone() {
    let device = running(4);
    let [gone, other, stream] = open(&device);
    let vec = zeroed(&device, 1);
    streams(&device).close(gone);
    let of = |stream, at| Mark { stream, at };
    let marks = [of(gone, 9), of(StreamId(0), 1), of(other, 5), of(stream, 5)];
    assert_eq!(read(&device, stream, &marks, &vec), [0]);
    for mark in marks {
        wait(&device, mark);
    }
    let reached = streams(&device).reached(gone);
    assert_eq!(reached.expect("nothing is left"), u64::MAX);
    ok(&device, gone);
    streams(&device).close(gone);
}

/// Sets its own word and waits until the other one is set.
unsafe fn meet(args: &ArgBlock) {
    let (flags, me) = (words(args, 0), args.words[ARG_FIRST + 3] as usize);
    flags[me].store(1);
    finish(args, comes(|| flags[1 - me].load() == 1));
}

fn meets(device: &Device, flags: &DeviceVec<u32>, me: u32) -> Prepared {
    let both = args([flags.arg(), Arg::Words(vec![me])]);
    prepare(device, "meet", meet, (1, 1), both)
}

#[test]
fn launches_of_two_streams_run_at_the_same_time() {
    let device = running(4);
    let [first, second] = open(&device);
    let flags = zeroed(&device, 2);
    let mark = launches(&device, first, &[], &[meets(&device, &flags, 0)]);
    thread::scope(|scope| {
        // Who waits for a stream is in nobody's way.
        scope.spawn(|| wait(&device, mark));
        let mark = launches(&device, second, &[], &[meets(&device, &flags, 1)]);
        wait(&device, mark);
    });
    ok(&device, first);
    ok(&device, second);
}

#[test]
fn a_stream_goes_on_beside_what_the_host_waits_for() {
    let device = running(4);
    let [stream] = open(&device);
    let flags = zeroed(&device, 2);
    let mark = launches(&device, stream, &[], &[meets(&device, &flags, 0)]);
    let other = meets(&device, &flags, 1).run();
    other.expect("the stream's launch runs at the same time");
    wait(&device, mark);
    ok(&device, stream);
    device
        .backend()
        .fill(id(&flags), 0, 2, 0)
        .expect("it can be written");
    // The host may even write what the launch waits for.
    let mark = launches(&device, stream, &[], &[meets(&device, &flags, 1)]);
    device
        .backend()
        .fill(id(&flags), 0, 1, 1)
        .expect("it can be written");
    wait(&device, mark);
    ok(&device, stream);
}

#[test]
fn what_the_host_waits_for_holds_no_stream() {
    let device = running(4);
    let [stream] = open(&device);
    let flags = zeroed(&device, 2);
    let launch = meets(&device, &flags, 0);
    thread::scope(|scope| {
        let waited = scope.spawn(|| launch.run());
        // The launch runs when its word is set.
        while read(&device, stream, &[], &flags)[0] == 0 {
            thread::yield_now();
        }
        let set = Work::Fill {
            buffer: id(&flags),
            offset: 4,
            words: 1,
            value: 1,
        };
        queue(&device, stream, &[], set);
        let report = waited.join().expect("no panic");
        report.expect("the stream wrote meanwhile");
    });
}
