//! Order: within a stream, between streams, from several threads.

use crate::common::streams::Stream;
use crate::common::{kernels, launch, sleep};
use crate::{MS, empty, id, increment, open, words};
use std::time::{Duration, Instant};
use warpheap_api::host::{Device, DeviceVec, HeapArg, IntoArg, KernelImage, Mark, Work};

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

#[test]
fn a_stream_runs_its_work_in_order() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
fn threads_use_streams_at_the_same_time() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
fn heaps_are_bound_between_launches() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let (module, sleeps) = (device.load(&HEAPS).unwrap(), kernels(&device));
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

/// A launch that fills the device many times over, and one behind it that does nothing: how long each takes.
fn beside_long_work(device: &Device, short: &Stream<'_>) -> [Duration; 2] {
    let module = kernels(device);
    let long = Stream::open(device);
    // Blocks as large as there are, more than fit, 5 ms each.
    let naps = launch(&module, "sleep_l1", 6000, 1024, vec![5u32.into_arg()]);
    short.wait(short.launch(&empty(&module)));
    let begin = Instant::now();
    let last = long.launch(&naps);
    std::thread::sleep(2 * MS);
    short.wait(short.launch(&empty(&module)));
    let waited = begin.elapsed();
    long.wait(last);
    [waited, begin.elapsed()]
}

#[test]
fn an_urgent_stream_goes_before_blocks_that_wait() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let [waited, all] = beside_long_work(&device, &Stream::open_urgent(&device));
    assert!(waited * 3 < all, "{waited:?} of {all:?}");
    // Closed and opened again, it is one of its kind.
    let [waited, all] = beside_long_work(&device, &Stream::open(&device));
    assert!(
        waited * 3 > all,
        "{waited:?} of {all:?}: does this device have so much room?"
    );
    let [waited, all] = beside_long_work(&device, &Stream::open_urgent(&device));
    assert!(waited * 3 < all, "{waited:?} of {all:?}");
}
