//! Streams on a GPU: order, what comes back, and what is refused.

mod common;

use common::streams::Stream;
use common::{IMAGE, launch, sleep};
use std::time::{Duration, Instant};
use warpheap_api::host::{
    BufferId, Device, DeviceError, DeviceVec, HeapArg, KernelImage, Mark, Module, Prepared,
    StreamId, Work,
};
use warpheap_cuda::CudaConfig;

/// A kernel that counts a panic of each of its lanes, as the runtime's panic handler does, and one that does not.
const PANICS: KernelImage = KernelImage {
    name: "cuda-test-panics",
    ptx: Some(
        r#"
.version 6.3
.target sm_70
.address_size 64

.visible .global .align 4 .b8 warpheap_panic_report[672];

.visible .entry panic_l1(.param .align 4 .b8 args[128])
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<2>;
    mov.u64 %rd1, warpheap_panic_report;
    atom.global.add.u32 %r1, [%rd1], 1;
    ret;
}

.visible .entry calm_l1(.param .align 4 .b8 args[128])
{
    ret;
}
"#,
    ),
    spirv: None,
};

/// A kernel that tells where the heap of its module's collections is: slice[0] = low word of the address.
const HEAPS: KernelImage = KernelImage {
    name: "cuda-test-heaps",
    ptx: Some(
        r#"
.version 6.3
.target sm_70
.address_size 64

.visible .global .align 4 .b8 warpheap_global_heap[128];

.visible .entry heap_l1(.param .align 4 .b8 args[128])
{
    .reg .b32 %r<4>;
    .reg .b64 %rd<3>;
    ld.param.u32 %r1, [args+16];
    ld.param.u32 %r2, [args+20];
    mov.b64 %rd1, {%r1, %r2};
    mov.u64 %rd2, warpheap_global_heap;
    ld.global.u32 %r3, [%rd2];
    st.global.u32 [%rd1], %r3;
    ret;
}
"#,
    ),
    spirv: None,
};

const MS: Duration = Duration::from_millis(1);

fn open() -> Option<Device> {
    common::open(&CudaConfig::default())
}

fn increment(module: &Module, count: &DeviceVec<u32>) -> Prepared {
    launch(module, "increment_l1", 1, 1, vec![count.arg_mut()])
}

fn report(module: &Module, lanes: u32) -> Prepared {
    launch(module, "report_l1", 1, lanes, Vec::new())
}

fn empty(module: &Module) -> Prepared {
    launch(module, "empty_l1", 1, 1, Vec::new())
}

/// The buffer of a vector.
fn id(vec: &DeviceVec<u32>) -> BufferId {
    let (buffer, ..) = vec.arg().binding().unwrap();
    buffer
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let words = bytes.chunks_exact(4);
    words
        .map(|b| u32::from_ne_bytes(b.try_into().unwrap()))
        .collect()
}

#[test]
fn a_stream_runs_its_work_in_order() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let copies = device.alloc(400).unwrap();
    let stream = Stream::open(&device);
    let one = increment(&module, &count);
    for i in 0..100 {
        stream.launch(&one);
        stream.queue(Work::Copy {
            from: (id(&count), 0),
            to: (copies.id(), i * 4),
            bytes: 4,
        });
    }
    let got = words(&stream.read(copies.id(), 0, 400));
    assert_eq!(got, (1..=100).collect::<Vec<_>>());
    assert!(stream.failure().is_none());
}

#[test]
fn numbers_count_from_1_and_are_reached_some_time() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    stream.wait(Mark {
        stream: stream.id,
        at: 0,
    });
    let nap = sleep(&module, 30);
    for at in 1..=3 {
        assert_eq!(stream.launch(&nap).at, at);
    }
    assert_eq!(stream.queue(Work::Launches(&[])).at, 4);
    let start = Instant::now();
    let mut last = 0;
    loop {
        let reached = stream.streams.reached(stream.id).unwrap();
        assert!(reached >= last && reached <= 4, "{reached} after {last}");
        last = reached;
        if reached == 4 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(10), "{reached}");
    }
    assert!(start.elapsed() > 60 * MS, "{:?}", start.elapsed());
}

#[test]
fn marks_order_streams() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let (one, nap) = (increment(&module, &count), sleep(&module, 3));
    let streams = [Stream::open(&device), Stream::open(&device)];
    let mut after = Vec::new();
    for i in 0..60 {
        // The increment is not atomic: without order some would be lost.
        let stream = &streams[i % 2];
        stream.launch_after(&after, &nap);
        after = vec![stream.launch(&one)];
    }
    assert_eq!(streams[0].word(id(&count), 0), 60 - 1);
    streams[1].wait(after[0]);
    assert_eq!(count.to_vec().unwrap(), [60]);
}

#[test]
fn a_failure_is_told_once_after_the_wait() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    let other = Stream::open(&device);
    assert!(stream.failure().is_none());
    stream.launch(&empty(&module));
    stream.launch(&report(&module, 5));
    let mark = stream.launch(&report(&module, 9));
    stream.wait(mark);
    assert_eq!(stream.failed(), Some(("report_l1".to_string(), 5)));
    assert!(stream.failure().is_none());
    assert!(other.failure().is_none());

    let mark = stream.launch(&report(&module, 3));
    let end = stream.launch(&empty(&module));
    stream.wait(mark);
    assert_eq!(stream.failed(), Some(("report_l1".to_string(), 3)));
    stream.wait(end);
    assert!(stream.failure().is_none());
    // Launches that are waited for have their own reports.
    let reports = device.run_all(&[report(&module, 2)]).unwrap();
    assert_eq!(reports[0].words[0], 2);
    assert!(stream.failure().is_none());
}

#[test]
fn long_chains_run_whole_and_every_failure_is_found() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let (one, fails) = (increment(&module, &count), report(&module, 2));
    let stream = Stream::open(&device);
    for round in 1..=3 {
        let mut mark = None;
        for i in 0..10_000 {
            let failing = round == 2 && (i == 3_000 || i == 7_000);
            mark = Some(stream.launch(if failing { &fails } else { &one }));
        }
        let mark = mark.unwrap();
        assert_eq!(mark.at, round * 10_000 + round - 1);
        stream.wait(mark);
        let want = (round == 2).then(|| ("report_l1".to_string(), 2));
        assert_eq!(stream.failed(), want, "round {round}");
        assert!(stream.failure().is_none());
        let failed = if round == 1 { 0 } else { 2 };
        assert_eq!(
            stream.word(id(&count), 0),
            round as u32 * 10_000 - failed,
            "round {round}"
        );
    }
}

#[test]
fn a_failure_is_found_wherever_a_wait_ends() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let (none, fails) = (empty(&module), report(&module, 1));
    let stream = Stream::open(&device);
    // Every distance from a post, and over the end of the ring of reports.
    for before in 0..70 {
        for _ in 0..before {
            stream.launch(&none);
        }
        let mark = stream.launch(&fails);
        for _ in 0..before % 40 {
            stream.launch(&none);
        }
        stream.wait(mark);
        assert_eq!(
            stream.failed(),
            Some(("report_l1".to_string(), 1)),
            "{before}"
        );
    }
    let end = stream.launch(&none);
    stream.wait(end);
    assert!(stream.failure().is_none());
}

#[test]
fn a_batch_is_one_piece_of_work_however_long() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let one = increment(&module, &count);
    let mut launches: Vec<_> = (0..5000).map(|_| one.launch().unwrap()).collect();
    let fails = report(&module, 7);
    launches[2345] = fails.launch().unwrap();
    let stream = Stream::open(&device);
    let mark = stream.queue(Work::Launches(&launches));
    assert_eq!(mark.at, 1);
    stream.wait(mark);
    assert_eq!(stream.failed(), Some(("report_l1".to_string(), 7)));
    assert_eq!(count.to_vec().unwrap(), [4999]);
}

#[test]
fn writes_reads_fills_and_copies_touch_their_range_alone() {
    let Some(device) = open() else { return };
    let stream = Stream::open(&device);
    let (a, b) = (device.alloc(64).unwrap(), device.alloc(64).unwrap());
    stream.fill(&a, 0, 16, 1);
    stream.fill(&a, 8, 2, 2);
    let mut data = [3u8; 8];
    stream.write(&a, 24, &data);
    // The data are the caller's again.
    data.fill(9);
    stream.fill(&b, 0, 16, 4);
    stream.copy((&a, 8), (&b, 12), 24);
    stream.fill(&a, 0, 0, 5);
    stream.write(&a, 0, &[]);
    stream.copy((&a, 0), (&b, 0), 0);
    let three = 0x0303_0303;
    let got = words(&stream.read(a.id(), 0, 64));
    assert_eq!(got[..9], [1, 1, 2, 2, 1, 1, three, three, 1]);
    let got = words(&stream.read(b.id(), 0, 64));
    assert_eq!(got[..10], [4, 4, 4, 2, 2, 1, 1, three, three, 4]);
    assert!(stream.read(a.id(), 64, 0).is_empty());

    let mut bytes = [0; 64];
    // SAFETY: nobody else has this memory.
    unsafe { a.copy(0, &b, 32, 32) }.unwrap();
    b.read(0, &mut bytes).unwrap();
    assert_eq!(words(&bytes)[6..12], [1, three, 1, 1, 2, 2]);
}

#[test]
fn large_copies_go_through_in_parts() {
    let Some(device) = open() else { return };
    let stream = Stream::open(&device);
    const BYTES: u64 = 150 << 20;
    let buffer = device.alloc(BYTES).unwrap();
    let data: Vec<u8> = (0..BYTES / 4)
        .flat_map(|i| (i as u32).wrapping_mul(2_654_435_761).to_ne_bytes())
        .collect();
    for _ in 0..2 {
        stream.write(&buffer, 0, &data);
        assert!(stream.read(buffer.id(), 0, BYTES) == data);
        stream.fill(&buffer, 0, BYTES / 4, 0);
    }
    // More than may be under way at a time.
    for _ in 0..10 {
        stream.write(&buffer, 0, &data);
    }
    assert!(stream.read(buffer.id(), 4, BYTES - 4) == data[4..]);
}

#[test]
fn many_small_copies_keep_their_data_apart() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    let buffer = device.alloc(40_000).unwrap();
    stream.launch(&sleep(&module, 50));
    let mut reads = Vec::new();
    for i in 0..2000u32 {
        stream.write(&buffer, i as u64 * 4, &i.to_ne_bytes());
        reads.push(stream.queue(Work::Read {
            buffer: buffer.id(),
            offset: i as u64 * 4,
            bytes: 4,
        }));
    }
    stream.wait(*reads.last().unwrap());
    for (i, read) in reads.into_iter().enumerate() {
        let mut bytes = [0; 4];
        stream.streams.take(read, &mut bytes).unwrap();
        assert_eq!(u32::from_ne_bytes(bytes), i as u32);
    }
}

#[test]
fn a_read_is_taken_once_and_when_it_has_ended() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    let buffer = device.alloc(16).unwrap();
    stream.fill(&buffer, 0, 4, 6);
    stream.launch(&sleep(&module, 50));
    let read = || {
        stream.queue(Work::Read {
            buffer: buffer.id(),
            offset: 0,
            bytes: 16,
        })
    };
    let (first, second) = (read(), read());
    let mut into = [0; 16];
    assert!(stream.streams.take(first, &mut into).is_err());
    stream.streams.forget(second);
    stream.wait(first);
    assert!(stream.streams.take(first, &mut into[..8]).is_err());
    stream.streams.take(first, &mut into).unwrap();
    assert_eq!(words(&into), [6; 4]);
    for gone in [first, second] {
        assert!(stream.streams.take(gone, &mut into).is_err());
    }
}

#[test]
fn a_batch_with_a_bad_launch_queues_nothing() {
    let Some(device) = open() else { return };
    let Some(other) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
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
    let Some(device) = open() else { return };
    let Some(other) = open() else { return };
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
        assert!(
            matches!(refused, Err(DeviceError::OutOfRange { .. })),
            "{bad:?}: {refused:?}"
        );
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
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
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

#[test]
fn panics_are_told_once() {
    let Some(device) = open() else { return };
    let module = device.load(&PANICS).unwrap();
    let kernel = |entry, lanes| launch(&module, entry, 1, lanes, Vec::new());
    let lanes = |failure: Option<DeviceError>| match failure {
        Some(DeviceError::Panic(panic)) => Some((panic.kernel.clone(), panic.lanes)),
        None => None,
        Some(other) => panic!("{other}"),
    };
    let (first, second) = (Stream::open(&device), Stream::open(&device));
    for _ in 0..2 {
        let mark = first.launch(&kernel("panic_l1", 3));
        first.wait(mark);
        assert_eq!(lanes(first.failure()), Some(("panic_l1".to_string(), 3)));
        assert!(first.failure().is_none());
        let mark = second.launch(&kernel("calm_l1", 3));
        second.wait(mark);
        assert!(second.failure().is_none());
    }
    // What a stream left is not told to who launches and waits, and the other way round.
    first.launch(&kernel("panic_l1", 2));
    kernel("calm_l1", 1).run().unwrap();
    assert_eq!(lanes(first.failure()), Some(("panic_l1".to_string(), 2)));
    let panicked = kernel("panic_l1", 1).run();
    assert!(
        matches!(panicked, Err(DeviceError::Panic(_))),
        "{panicked:?}"
    );
    let mark = first.launch(&kernel("calm_l1", 1));
    first.wait(mark);
    assert!(first.failure().is_none());
}

#[test]
fn threads_use_streams_at_the_same_time() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let shared = Stream::open(&device);
    let total = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
    let everybody = increment(&module, &total);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let count = DeviceVec::<u32>::zeroed(&device, 1).unwrap();
                let one = increment(&module, &count);
                let launches: Vec<_> = (0..700).map(|_| one.launch().unwrap()).collect();
                let stream = Stream::open(&device);
                for round in 0..5 {
                    let mark = stream.queue(Work::Launches(&launches));
                    for _ in 0..100 {
                        shared.launch(&everybody);
                    }
                    let vec = DeviceVec::<u32>::filled(&device, 100, round).unwrap();
                    assert_eq!(vec.to_vec().unwrap(), [round; 100]);
                    stream.wait(mark);
                }
                assert_eq!(stream.word(id(&count), 0), 3500);
            });
        }
    });
    assert_eq!(shared.word(id(&total), 0), 2000);
}

#[test]
fn memory_that_is_given_back_while_streams_work_is_there_again() {
    let Some(device) = open() else { return };
    let module = device.load(&IMAGE).unwrap();
    let stream = Stream::open(&device);
    let bytes = device.info().memory_bytes / 4 * 3;
    for _ in 0..3 {
        let Ok(most) = device.alloc(bytes) else {
            eprintln!("SKIPPED: the GPU has no {bytes} bytes free");
            return;
        };
        stream.launch(&sleep(&module, 30));
        drop(most);
    }
}

#[test]
fn heaps_are_bound_between_launches() {
    let Some(device) = open() else { return };
    let (module, sleeps) = (device.load(&HEAPS).unwrap(), device.load(&IMAGE).unwrap());
    let backend = device.backend();
    let stream = Stream::open(&device);
    let out = DeviceVec::<u32>::filled(&device, 1, 1).unwrap();
    let tell = launch(&module, "heap_l1", 1, 1, vec![out.arg_mut()]);
    let nap = sleep(&sleeps, 30);
    let before = || {
        stream.launch(&nap);
        stream.launch(&tell);
        stream.queue(Work::Read {
            buffer: id(&out),
            offset: 0,
            bytes: 4,
        })
    };
    let address = |read| {
        let mut bytes = [0; 4];
        stream.wait(read);
        stream.streams.take(read, &mut bytes).unwrap();
        u32::from_ne_bytes(bytes)
    };
    let heap = HeapArg::new(device.alloc(4096).unwrap(), 1024, Default::default());
    let unbound = before();
    backend.bind_heap(module.id().unwrap(), &heap).unwrap();
    let bound = before();
    drop(heap);
    let gone = before();
    assert_eq!(address(unbound), 0);
    let there = address(bound);
    assert!(there != 0 && there % (64 << 10) == 0, "{there:#x}");
    assert_eq!(address(gone), 0);
}
