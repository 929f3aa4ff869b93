//! Launches that fail and work that is refused.

use crate::work::{
    failing, fill, lanes, launch, numbers, open, out_of_range, queue, read, setting, shape,
    streams, taken, try_launch, try_queue, wait,
};
use warpheap_api::host::{DeviceError, DeviceVec, Work};

#[test]
fn a_failure_is_told_once_and_is_the_first() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream, other] = open(&device);
    let failure = |stream| lanes(streams(&device).failure(stream));
    let fine = launch(&device, stream, &[], &[failing(&kernels, 0)]);
    wait(&device, fine);
    assert_eq!(failure(stream), None);
    launch(
        &device,
        stream,
        &[],
        &[failing(&kernels, 0), failing(&kernels, 3)],
    );
    launch(&device, stream, &[], &[failing(&kernels, 2)]);
    let (buffer, add) = numbers(&device, &kernels, 64);
    launch(&device, stream, &[], &[add]);
    let read = queue(&device, stream, &[], read(buffer.id(), 256));
    // What is behind a failure runs all the same.
    assert!(
        (1..)
            .zip(taken(&device, read, 256))
            .all(|(i, found)| found == i)
    );
    assert_eq!(failure(other), None);
    assert_eq!(failure(stream), Some(40));
    assert_eq!(failure(stream), None);
    wait(
        &device,
        launch(&device, stream, &[], &[failing(&kernels, 5)]),
    );
    match streams(&device).failure(stream) {
        Some(DeviceError::Kernel(failure)) => {
            assert_eq!(failure.lanes, 24);
            assert!(failure.kernel.starts_with("selftest_reports"));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn bad_work_is_refused_and_nothing_is_queued() {
    let Some((device, kernels)) = setting() else {
        return;
    };
    let [stream] = open(&device);
    let (buffer, add) = numbers(&device, &kernels, 64);
    let out = DeviceVec::<u32>::zeroed(&device, 64).unwrap();
    let most = device.info().max_block_dim;
    let bad = kernels.selftest_index_launch(shape(1, most + 1), &out);
    let refused = try_launch(&device, stream, &[], &[add.clone(), bad]);
    assert!(
        matches!(refused, Err(DeviceError::BadLaunch { .. })),
        "{refused:?}"
    );
    let id = buffer.id();
    let go = |work| try_queue(&device, stream, &[], work);
    let copy = |from, to, bytes| Work::Copy { from, to, bytes };
    let write = |offset, data| Work::Write {
        buffer: id,
        offset,
        data,
    };
    out_of_range(go(fill(id, 65, 1)));
    out_of_range(go(fill(id, u64::MAX, 1)));
    out_of_range(go(read(id, 260)));
    out_of_range(go(read(id, 2)));
    out_of_range(go(write(256, &[1; 4])));
    out_of_range(go(write(0, &[1; 3])));
    out_of_range(go(write(2, &[1; 4])));
    out_of_range(go(copy((id, 0), (id, 128), 132)));
    out_of_range(go(copy((id, 132), (id, 0), 128)));
    out_of_range(go(copy((id, 0), (id, 200), 64)));

    // Of another device, or gone.
    let Some((other, other_kernels)) = setting() else {
        return;
    };
    let (foreign, foreign_add) = numbers(&other, &other_kernels, 64);
    out_of_range(go(fill(foreign.id(), 1, 1)));
    out_of_range(go(copy((foreign.id(), 0), (id, 0), 64)));
    out_of_range(go(copy((id, 0), (foreign.id(), 0), 64)));
    let refused = try_launch(&device, stream, &[], &[add.clone(), foreign_add]);
    assert!(
        matches!(refused, Err(DeviceError::BadLaunch { .. })),
        "{refused:?}"
    );
    let gone = device.alloc(64).unwrap().id();
    out_of_range(go(fill(gone, 1, 1)));
    let [strange] = open(&other);
    let refused = try_queue(&device, strange, &[], Work::Stamp);
    assert!(
        matches!(refused, Err(DeviceError::Driver { .. })),
        "{refused:?}"
    );

    let first = launch(&device, stream, &[], &[add]);
    assert_eq!(first.at, 1);
    let read = queue(&device, stream, &[], read(id, 256));
    assert!(
        (1..)
            .zip(taken(&device, read, 256))
            .all(|(i, found)| found == i)
    );
}
