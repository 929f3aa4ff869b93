//! Shorter words for what the tests do with streams, and kernels of several of them.

use crate::common::words;
use std::thread;
use std::time::{Duration, Instant};
use warpheap_api::AllocError;
use warpheap_api::abi::ArgBlock;
use warpheap_api::host::{
    BufferId, Device, DeviceError, DeviceVec, Mark, Prepared, StreamId, Streams, Work,
};
use warpheap_rt::arch::{self};
use warpheap_rt::{entry, thread as lane};

pub fn streams(device: &Device) -> &dyn Streams {
    let streams = device.backend().streams();
    streams.expect("the emulator has streams")
}

pub fn open<const N: usize>(device: &Device) -> [StreamId; N] {
    [(); N].map(|()| streams(device).open().expect("a thread"))
}

pub fn try_queue(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    work: Work<'_>,
) -> Result<Mark, DeviceError> {
    // SAFETY: the tests keep their buffers until work has ended.
    let at = unsafe { streams(device).queue(stream, after, work) };
    at.map(|at| Mark { stream, at })
}

pub fn queue(device: &Device, stream: StreamId, after: &[Mark], work: Work<'_>) -> Mark {
    try_queue(device, stream, after, work).expect("it can be queued")
}

pub fn try_launches(
    device: &Device,
    stream: StreamId,
    after: &[Mark],
    launches: &[Prepared],
) -> Result<Mark, DeviceError> {
    let ready = launches.iter().map(Prepared::launch);
    let ready: Vec<_> = ready.collect::<Result<_, _>>().expect("it is loaded");
    try_queue(device, stream, after, Work::Launches(&ready))
}

pub fn launches(device: &Device, stream: StreamId, after: &[Mark], launches: &[Prepared]) -> Mark {
    try_launches(device, stream, after, launches).expect("it can be queued")
}

pub fn wait(device: &Device, mark: Mark) {
    streams(device).wait(mark).expect("the emulator stays");
}

pub fn ok(device: &Device, stream: StreamId) {
    let failure = streams(device).failure(stream);
    assert!(failure.is_none(), "{failure:?}");
}

/// Reads the words of a vector behind all that is in the stream.
pub fn read(device: &Device, stream: StreamId, after: &[Mark], vec: &DeviceVec<u32>) -> Vec<u32> {
    let mark = queue(device, stream, after, whole(vec));
    wait(device, mark);
    take(device, mark, vec.len()).expect("it was read")
}

pub fn take(device: &Device, read: Mark, words: usize) -> Result<Vec<u32>, DeviceError> {
    let mut data = vec![0; words * 4];
    streams(device).take(read, &mut data)?;
    let words = data.chunks_exact(4);
    let words = words.map(|word| u32::from_ne_bytes(word.try_into().expect("4 bytes")));
    Ok(words.collect())
}

/// The read of a vector.
pub fn whole<'a>(vec: &DeviceVec<u32>) -> Work<'a> {
    Work::Read {
        buffer: id(vec),
        offset: 0,
        bytes: vec.len() as u64 * 4,
    }
}

pub fn id(vec: &DeviceVec<u32>) -> BufferId {
    vec.arg().binding().expect("a buffer").0
}

pub fn zeroed(device: &Device, words: usize) -> DeviceVec<u32> {
    DeviceVec::zeroed(device, words).expect("room")
}

pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

/// Ends a lane as kernels do.
pub fn finish(args: &ArgBlock, outcome: Result<(), AllocError>) {
    // SAFETY: the emulator passes the report.
    entry::finish(unsafe { arch::report(args) }, outcome);
}

/// Waits for something that happens beside the calling lane, within bounds.
pub fn comes(is: impl Fn() -> bool) -> Result<(), AllocError> {
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
pub unsafe fn step(args: &ArgBlock) {
    let word = &words(args, 0)[lane::index() as usize];
    word.store(word.load() * 10 + 1);
}

/// Takes its time before it sets a word.
pub unsafe fn slow(args: &ArgBlock) {
    thread::sleep(Duration::from_millis(60));
    words(args, 0)[0].store(7);
}
