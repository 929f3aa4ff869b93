//! Requests that get null.

use crate::Outcome;
use crate::device::{BLOCK, Device};
use crate::heap::{Argument, Memory};
use cust::launch;
use cust::memory::DeviceBuffer;
use warpheap_raw::RawHeap;

/// Lanes that ask for more than there is.
const LANES: u32 = 1 << 16;
/// Bytes that each asks for.
const SIZE: u32 = 64;
/// A heap for a quarter of them.
const BYTES: u64 = 1 << 20;

/// Without a heap everything gets null; in a small one what does not fit, and what no heap serves.
pub fn run(device: &Device) -> Outcome<()> {
    never(device, "without a heap")?;
    if let served @ 1.. = crowd(device)? {
        return Err(format!("without a heap {served} lanes got memory").into());
    }
    let memory = Memory::new(device, BYTES)?;
    // By a kernel, for once.
    let bind = device.kernel("bind")?;
    let stream = &device.stream;
    // SAFETY: the kernel takes a heap; nothing else runs.
    unsafe { launch!(bind<<<1, 1, 0, stream>>>(memory.heap))? };
    never(device, "in a small heap")?;
    let served = crowd(device)?;
    let most = BYTES / u64::from(SIZE);
    if !(most / 2..=most).contains(&u64::from(served)) {
        return Err(
            format!("{served} of {LANES} lanes got {SIZE} bytes in a heap of {BYTES}").into(),
        );
    }
    memory.is_empty(device, "after a crowd in a small heap")?;
    device.bind(Argument(RawHeap::NONE))
}

/// Requests that no heap serves.
fn never(device: &Device, wherein: &str) -> Outcome<()> {
    let got = DeviceBuffer::from_slice(&[u64::MAX; 4])?;
    let refusals = device.kernel("refusals")?;
    let stream = &device.stream;
    // SAFETY: the kernel takes four pointers.
    unsafe { launch!(refusals<<<1, 32, 0, stream>>>(got.as_device_ptr()))? };
    stream.synchronize()?;
    match got.as_host_vec()? {
        got if got == [0; 4] => Ok(()),
        got => Err(format!("{wherein}: requests that no heap serves got {got:x?}").into()),
    }
}

/// Lanes that all ask at once, write to what they get, look at it and give it back: how many got something.
fn crowd(device: &Device) -> Outcome<u32> {
    let blocks = DeviceBuffer::from_slice(&vec![0u64; LANES as usize])?;
    let counts = DeviceBuffer::from_slice(&[0u32; 2])?;
    let (blocks, words) = (blocks.as_device_ptr(), counts.as_device_ptr());
    let (malloc, free) = (
        device.kernel("malloc_global")?,
        device.kernel("free_global")?,
    );
    let pass = device.kernel("pass_pointers")?;
    let (stream, grid) = (&device.stream, Device::blocks(LANES));
    // SAFETY: these are what the kernels take: as many blocks as lanes, and two counts.
    unsafe {
        launch!(malloc<<<grid, BLOCK, 0, stream>>>(blocks, LANES, SIZE))?;
        launch!(pass<<<grid, BLOCK, 0, stream>>>(blocks, LANES, SIZE, words, 0u32))?;
        launch!(pass<<<grid, BLOCK, 0, stream>>>(blocks, LANES, SIZE, words, 1u32))?;
        launch!(free<<<grid, BLOCK, 0, stream>>>(blocks, LANES, SIZE))?;
    }
    stream.synchronize()?;
    match counts.as_host_vec()?[..] {
        // Both passes count lanes without a block.
        [missing, 0] => Ok(LANES - missing / 2),
        ref counts => Err(format!("a crowd found other contents than it wrote: {counts:?}").into()),
    }
}
