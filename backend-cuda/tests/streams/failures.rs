//! Failures and panics: found wherever they happen, told once.

use crate::common::streams::Stream;
use crate::common::{kernels, launch};
use crate::{empty, id, increment, open, report};
use warpheap_api::host::{DeviceError, DeviceVec, KernelImage, Work};

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

#[test]
fn a_failure_is_told_once_after_the_wait() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = kernels(&device);
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
fn panics_are_told_once() {
    let Some((_alone, device)) = open() else {
        return;
    };
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
fn panics_of_a_stream_are_not_those_of_a_run_of_another_thread() {
    let Some((_alone, device)) = open() else {
        return;
    };
    let module = device.load(&PANICS).unwrap();
    let [panics, calm] =
        ["panic_l1", "calm_l1"].map(|entry| launch(&module, entry, 1, 1, Vec::new()));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let stream = Stream::open(&device);
            for _ in 0..200 {
                let all = [panics.launch().unwrap(), panics.launch().unwrap()];
                stream.wait(stream.queue(Work::Launches(&all)));
                let failure = stream.failure();
                assert!(
                    matches!(failure, Some(DeviceError::Panic(_))),
                    "{failure:?}"
                );
            }
        });
        for _ in 0..200 {
            calm.clone().run().unwrap();
        }
    });
    let panic = panics.run().unwrap_err();
    assert!(panic.to_string().contains("panic_l1"), "{panic}");
    calm.run().unwrap();
}
