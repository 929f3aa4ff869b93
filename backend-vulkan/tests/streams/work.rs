//! Shorter words for what the tests do with streams.

use crate::common::device;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};
use warpheap_api::host::{
    BufferId, Device, DeviceError, DeviceVec, LaunchConfig, Mark, Prepared, RawBuffer, StreamId,
    Streams, Work,
};
use warpheap_kernels::{Kernels, load};

pub const MIB: u64 = 1 << 20;

/// From here to its end the calling test is the only one: some count what other threads do while the device is busy.
pub fn alone() {
    static ALONE: Mutex<()> = Mutex::new(());
    thread_local! {
        static HELD: RefCell<Option<MutexGuard<'static, ()>>> = const { RefCell::new(None) };
    }
    HELD.with_borrow_mut(|held| {
        held.get_or_insert_with(|| ALONE.lock().unwrap_or_else(PoisonError::into_inner));
    });
}

pub fn setting() -> Option<(Device, Kernels)> {
    alone();
    let device = device()?;
    let kernels = load(&device).unwrap();
    Some((device, kernels))
}

pub fn streams(device: &Device) -> &dyn Streams {
    device.backend().streams().expect("it has streams")
}

pub fn open<const N: usize>(device: &Device) -> [StreamId; N] {
    [(); N].map(|()| streams(device).open().unwrap())
}

pub fn try_queue(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    work: Work<'_>,
) -> Result<Mark, DeviceError> {
    // SAFETY: the tests keep their buffers until work has ended, and arguments are those of the kernels.
    let at = unsafe { streams(device).queue(stream, after, work) }?;
    Ok(Mark { stream, at })
}

pub fn queue(device: &Device, stream: StreamId, after: &[Mark], work: Work<'_>) -> Mark {
    try_queue(device, stream, after, work).unwrap()
}

pub fn try_launch(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    launches: &[Prepared],
) -> Result<Mark, DeviceError> {
    let ready: Result<Vec<_>, _> = launches.iter().map(Prepared::launch).collect();
    try_queue(device, stream, after, Work::Launches(&ready.unwrap()))
}

pub fn launch(device: &Device, stream: StreamId, after: &[Mark], launches: &[Prepared]) -> Mark {
    try_launch(device, stream, after, launches).unwrap()
}

pub fn wait(device: &Device, mark: Mark) {
    streams(device).wait(mark).unwrap();
    assert!(streams(device).reached(mark.stream).unwrap() >= mark.at);
}

pub fn fill(buffer: BufferId, words: u64, value: u32) -> Work<'static> {
    Work::Fill {
        buffer,
        offset: 0,
        words,
        value,
    }
}

pub fn read(buffer: BufferId, bytes: u64) -> Work<'static> {
    Work::Read {
        buffer,
        offset: 0,
        bytes,
    }
}

pub fn take(device: &Device, read: Mark, bytes: u64) -> Result<Vec<u32>, DeviceError> {
    let mut data = vec![0; bytes as usize];
    streams(device).take(read, &mut data)?;
    let word = |bytes: &[u8]| u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
    Ok(data.chunks_exact(4).map(word).collect())
}

/// Waits for what was read.
pub fn taken(device: &Device, read: Mark, bytes: u64) -> Vec<u32> {
    wait(device, read);
    take(device, read, bytes).unwrap()
}

pub fn shape(grid_dim: u32, block_dim: u32) -> LaunchConfig {
    LaunchConfig {
        grid_dim,
        block_dim,
    }
}

/// Words in a buffer, and the launch that adds its index + 1 to each of them.
pub fn numbers(device: &Device, kernels: &Kernels, len: u32) -> (RawBuffer, Prepared) {
    let vec = DeviceVec::<u32>::zeroed(device, len as usize).unwrap();
    let launch = kernels.selftest_index_launch(LaunchConfig::for_num_elems(len), &vec);
    (vec.into_raw_parts().0, launch)
}

/// A launch that takes a while. Nothing is waited for to make it.
pub fn long(device: &Device, kernels: &Kernels) -> Prepared {
    let out = DeviceVec::<u32>::uninit(device, 64).unwrap();
    kernels.selftest_rounds_launch(shape(1, 64), &out)
}

pub fn failing(kernels: &Kernels, divisor: u32) -> Prepared {
    kernels.selftest_reports_launch(shape(2, 60), divisor, 0)
}

/// Lanes that a failure tells of.
pub fn lanes(failure: Option<DeviceError>) -> Option<u32> {
    match failure? {
        DeviceError::Kernel(failure) => Some(failure.lanes),
        other => panic!("{other}"),
    }
}

pub fn out_of_range(result: Result<impl Sized, DeviceError>) {
    match result {
        Err(DeviceError::OutOfRange { .. } | DeviceError::Misaligned { .. }) => {}
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("was accepted"),
    }
}
