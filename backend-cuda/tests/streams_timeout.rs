//! Streams whose launches take long, or do not end in time: in a program of its own, since the context is shared by the whole process.

mod common;

use common::check_that_it_works;
use common::streams::{Stream, timed};
use std::time::Duration;
use warpheap_api::host::{DeviceError, DeviceVec, Mark, Work};
use warpheap_cuda::CudaConfig;

#[test]
fn a_stream_whose_kernel_does_not_end_is_noticed() {
    let Some((device, module)) = common::open_impatient() else {
        return;
    };
    let sleep = |ms| common::sleep(&module, ms);
    let (first, second) = (Stream::open(&device), Stream::open(&device));

    // Long together, but none alone: in one stream, in two behind each other, and in front of a call that is waited for.
    for _ in 0..20 {
        first.launch(&sleep(50));
    }
    let mut mark = first.launch(&sleep(50));
    first.wait(mark);
    for _ in 0..5 {
        mark = first.launch_after(&[mark], &sleep(100));
        mark = second.launch_after(&[mark], &sleep(100));
    }
    second.wait(mark);
    first.launch(&sleep(150));
    let vec = DeviceVec::<u32>::filled(&device, 10, 3).unwrap();
    assert_eq!(vec.to_vec().unwrap(), [3; 10]);
    drop(vec);

    let end = first.launch(&sleep(1));
    first.wait(end);
    let hung = first.launch(&sleep(5000));
    let behind = second.launch_after(&[hung], &sleep(1));
    let (lost, took) = timed(|| second.streams.wait(behind));
    let text = lost.unwrap_err().to_string();
    assert!(
        text.contains("sleep_l1") && text.contains("WARPHEAP_TIMEOUT_S"),
        "{text}"
    );
    assert!(took < Duration::from_secs(3), "{took:?}");

    let streams = first.streams;
    let (start, mut bytes) = (Mark { at: 0, ..hung }, [0; 4]);
    for result in [
        streams.open().map(drop),
        first.try_queue(&[], Work::Stamp).map(drop),
        streams.reached(first.id).map(drop),
        streams.wait(start),
        streams.take(hung, &mut bytes),
        streams.elapsed(hung, hung).map(drop),
        first.failure().map_or(Ok(()), Err),
    ] {
        let error = result.unwrap_err();
        assert!(matches!(error, DeviceError::Lost { .. }), "{error:?}");
        assert!(error.to_string().contains("sleep_l1"), "{error}");
    }
    streams.forget(hung);
    common::assert_lost(&device, "sleep_l1");
    drop((first, second));
    drop((module, device));

    // What is left of it does not disturb a device that is opened afterwards.
    let device = common::open(&CudaConfig::default()).expect("it was there before");
    check_that_it_works(&device);
}
