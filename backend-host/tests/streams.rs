//! Streams: work that the host does not wait for, in order in each and beside the work of others.

mod common;

use common::{
    args, assert_tells, device, exploring, heap, prepare, running, words, words_after_heap,
};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{
    Arg, BufferId, Device, DeviceError, DeviceVec, HostEntry, Mark, Prepared, StreamId, Streams,
    Work,
};
use warpheap_api::{AllocError, DevicePtr, HeapMemory, LaneMask, Layout};
use warpheap_host::{HostConfig, Mode};
use warpheap_rt::alloc::{Bump, ScatterAlloc};
use warpheap_rt::arch::{self, simt};
use warpheap_rt::sync::Group;
use warpheap_rt::{entry, thread as lane};

fn streams(device: &Device) -> &dyn Streams {
    let streams = device.backend().streams();
    streams.expect("the emulator has streams")
}

fn open<const N: usize>(device: &Device) -> [StreamId; N] {
    [(); N].map(|()| streams(device).open().expect("a thread"))
}

fn try_queue(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    work: Work<'_>,
) -> Result<Mark, DeviceError> {
    // SAFETY: the tests keep their buffers until work has ended.
    let at = unsafe { streams(device).queue(stream, after, work) };
    at.map(|at| Mark { stream, at })
}

fn queue(device: &Device, stream: StreamId, after: &[Mark], work: Work<'_>) -> Mark {
    try_queue(device, stream, after, work).expect("it can be queued")
}

fn try_launches(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    launches: &[Prepared],
) -> Result<Mark, DeviceError> {
    let ready = launches.iter().map(Prepared::launch);
    let ready: Vec<_> = ready.collect::<Result<_, _>>().expect("it is loaded");
    try_queue(device, stream, after, Work::Launches(&ready))
}

fn launches(device: &Device, stream: StreamId, after: &[Mark], launches: &[Prepared]) -> Mark {
    try_launches(device, stream, after, launches).expect("it can be queued")
}

fn wait(device: &Device, mark: Mark) {
    streams(device).wait(mark).expect("the emulator stays");
}

fn ok(device: &Device, stream: StreamId) {
    let failure = streams(device).failure(stream);
    assert!(failure.is_none(), "{failure:?}");
}

/// Reads the words of a vector behind all that is in the stream.
fn read(device: &Device, stream: StreamId, after: &[Mark], vec: &DeviceVec<u32>) -> Vec<u32> {
    let mark = queue(device, stream, after, whole(vec));
    wait(device, mark);
    take(device, mark, vec.len()).expect("it was read")
}

fn take(device: &Device, read: Mark, words: usize) -> Result<Vec<u32>, DeviceError> {
    let mut data = vec![0; words * 4];
    streams(device).take(read, &mut data)?;
    let words = data.chunks_exact(4);
    let words = words.map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes")));
    Ok(words.collect())
}

/// The read of a vector.
fn whole<'a>(vec: &DeviceVec<u32>) -> Work<'a> {
    Work::Read {
        buffer: id(vec),
        offset: 0,
        bytes: vec.len() as u64 * 4,
    }
}

fn id(vec: &DeviceVec<u32>) -> BufferId {
    vec.arg().binding().expect("a buffer").0
}

fn zeroed(device: &Device, words: usize) -> DeviceVec<u32> {
    DeviceVec::zeroed(device, words).expect("room")
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Ends a lane as kernels do.
fn finish(args: &ArgBlock, outcome: Result<(), AllocError>) {
    // SAFETY: the emulator passes the report.
    entry::finish(unsafe { arch::report(args) }, outcome);
}

/// Waits for something that happens beside the calling lane, within bounds.
fn comes(is: impl Fn() -> bool) -> Result<(), AllocError> {
    let start = Instant::now();
    while !is() {
        if start.elapsed() > Duration::from_secs(8) {
            return Err(AllocError::Contended);
        }
        thread::yield_now();
    }
    Ok(())
}

/// Every word becomes itself times ten, and one.
unsafe fn step(args: &ArgBlock) {
    let word = &words(args, 0)[lane::index() as usize];
    word.store(word.load() * 10 + 1);
}

/// Takes its time before it sets a word.
unsafe fn slow(args: &ArgBlock) {
    thread::sleep(Duration::from_millis(60));
    words(args, 0)[0].store(7);
}

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
                assert_tells(&panic.to_string(), "panics", place, &["streams.rs"]);
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
            "argument 0 is not a buffer of this device",
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

#[test]
fn closing_a_stream_waits_for_its_work() {
    let device = running(4);
    let [first, second] = open(&device);
    let vec = zeroed(&device, 1);
    let slow = prepare(&device, "slow", slow, (1, 1), args([vec.arg()]));
    let step = prepare(&device, "step", step, (1, 1), args([vec.arg()]));
    let set = launches(&device, first, &[], &[slow]);
    let stepped = launches(&device, second, &[set], &[step]);
    thread::scope(|scope| {
        scope.spawn(|| {
            streams(&device).close(second);
            assert_eq!(vec.to_vec().expect("readable"), [71]);
        });
        // Its marks hold others until then.
        thread::sleep(Duration::from_millis(20));
        wait(&device, stepped);
        assert_eq!(vec.to_vec().expect("readable"), [71]);
    });
}

static ENDED: AtomicU32 = AtomicU32::new(0);

/// Takes its time before it counts itself.
unsafe fn ends(_: &ArgBlock) {
    thread::sleep(Duration::from_millis(20));
    ENDED.fetch_add(1, Ordering::Relaxed);
}

#[test]
fn dropping_a_device_waits_for_its_streams() {
    for device in [running(1), exploring(1, 2)] {
        ENDED.store(0, Ordering::Relaxed);
        let all: [_; 3] = open(&device);
        let ends = || prepare(&device, "ends", ends, (1, 1), args([]));
        let mut after = Vec::new();
        for stream in all.into_iter().chain(all) {
            after = vec![launches(&device, stream, &after, &[ends(), ends()])];
        }
        drop(device);
        assert_eq!(ENDED.load(Ordering::Relaxed), 12);
    }
}

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

/// Every lane takes blocks, looks whether they are its own, and gives them back.
unsafe fn churn(args: &ArgBlock) {
    // SAFETY: the tests pass a heap of that kind there.
    let heap =
        unsafe { entry::heap::<ScatterAlloc>(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) };
    let wrong = &words_after_heap(args)[0];
    let layouts = [
        Layout::new::<[u32; 4]>(),
        Layout::new::<[u32; 24]>(),
        Layout::new::<[u32; 400]>(),
    ];
    let mut outcome = Ok(());
    for (round, layout) in (0..).zip(layouts) {
        match heap.malloc(layout) {
            Ok(ptr) => {
                let value = lane::index() << 8 | round;
                heap.words().write(ptr.word(), value);
                if heap.words().read(ptr.word()) != value {
                    wrong.fetch_add(1);
                }
                // SAFETY: the block is the lane's, and is not used any more.
                unsafe { heap.free(ptr, layout) };
            }
            Err(error) => outcome = Err(error),
        }
    }
    finish(args, outcome);
}

/// Two streams and the host allocate and free in one heap.
fn churns(device: &Device, shape: (u32, u32), rounds: u32) {
    let all: [_; 2] = open(device);
    let pool = device.reserve::<ScatterAlloc>(4 << 20).expect("a pool");
    let wrong = zeroed(device, 1);
    let both = args([pool.arg(), wrong.arg()]);
    let churn = || prepare(device, "churn", churn, shape, both.clone());
    for _ in 0..rounds {
        for stream in all {
            launches(device, stream, &[], &[churn(), churn()]);
        }
        churn().run().expect("it works beside the streams");
        // The heap's own figures may be read meanwhile.
        pool.stats().expect("a heap");
    }
    for stream in all {
        assert_eq!(read(device, stream, &[], &wrong), [0]);
        ok(device, stream);
    }
    assert_eq!(pool.stats().expect("a heap").usage.used_bytes, 0);
}

#[test]
fn streams_share_a_heap() {
    let device = device(HostConfig {
        warp_width: 8,
        threads: 2,
        check_blocks: Some(true),
        ..HostConfig::default()
    });
    churns(&device, (16, 32), 8);
}

#[test]
fn explored_streams_share_a_heap_without_races() {
    for seed in 0..10 {
        let device = device(HostConfig {
            warp_width: 4,
            mode: Mode::Explore { seed },
            races: true,
            ..HostConfig::default()
        });
        churns(&device, (2, 8), 2);
    }
}

/// Takes a block and leaves its handle.
unsafe fn leave(args: &ArgBlock) {
    let taken = heap(args).malloc(Layout::new::<[u32; 4]>());
    let taken = taken.map(|ptr| words_after_heap(args)[0].store(ptr.granule()));
    finish(args, taken);
}

/// Frees the block.
unsafe fn pick_up(args: &ArgBlock) {
    let ptr = DevicePtr::from_granule(words_after_heap(args)[0].load());
    // SAFETY: that it is freed twice is what is tested, and a bump allocator does not mind.
    unsafe { heap(args).free(ptr, Layout::new::<[u32; 4]>()) };
}

#[test]
fn a_block_that_another_stream_has_freed_is_not_live() {
    let checked = device(HostConfig {
        warp_width: 4,
        check_blocks: Some(true),
        ..HostConfig::default()
    });
    for device in [checked, exploring(4, 4)] {
        let [first, second] = open(&device);
        let pool = device.reserve::<Bump>(64 << 10).expect("a pool");
        let (left, image) = (zeroed(&device, 1), zeroed(&device, 1 << 14));
        let both = args([pool.arg(), left.arg()]);
        let leave = || prepare(&device, "leave", leave, (1, 1), both.clone());
        let pick_up = || prepare(&device, "pick_up", pick_up, (1, 1), both.clone());
        let (heap, image) = (pool.raw().buffer.id(), id(&image));
        let copy = |from, to| Work::Copy {
            from: (from, 0),
            to: (to, 0),
            bytes: 64 << 10,
        };
        queue(&device, first, &[], copy(heap, image));
        let mark = launches(&device, first, &[], &[leave()]);
        let mark = launches(&device, second, &[mark], &[pick_up()]);
        wait(&device, mark);
        ok(&device, second);
        let mark = launches(&device, first, &[mark], &[pick_up()]);
        wait(&device, mark);
        let failure = streams(&device).failure(first).expect("it was freed");
        let what = "block 0, warp 0, lane 0: free of a block of 16 bytes";
        match failure {
            DeviceError::Emulator(message) => {
                assert_tells(&message, "pick_up", what, &["which is not live"]);
            }
            other => panic!("{other}"),
        }
        // A heap that a stream formats has no live blocks: the bump allocator begins again.
        launches(&device, first, &[], &[leave()]);
        queue(&device, first, &[], copy(image, heap));
        let mark = launches(&device, first, &[], &[leave(), leave()]);
        wait(&device, mark);
        ok(&device, first);
        pick_up().run().expect("it is live");
    }
}
