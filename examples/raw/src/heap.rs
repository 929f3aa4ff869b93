//! Memory with a heap in it.

use crate::Outcome;
use crate::device::Device;
use cust::memory::{DeviceBuffer, DeviceCopy};
use cust::sys;
use warpheap_raw::host::{Layout, Usage};
use warpheap_raw::{RawHeap, WarpHeap};

/// A heap as an argument of a kernel.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Argument(pub RawHeap);

// SAFETY: plain words, the same on host and device.
unsafe impl DeviceCopy for Argument {}

/// Memory with a heap in it.
pub struct Memory {
    layout: Layout<WarpHeap>,
    address: u64,
    /// What kernels take.
    pub heap: Argument,
    _buffer: DeviceBuffer<u8>,
}

impl Memory {
    /// A fresh heap.
    pub fn new(device: &Device, bytes: u64) -> Outcome<Self> {
        let layout = Layout::<WarpHeap>::of(bytes)?;
        let room = layout.bytes() + Layout::<WarpHeap>::ALIGN - 1;
        // SAFETY: nobody reads what was not written.
        let buffer = unsafe { DeviceBuffer::uninitialized(room as usize) };
        let buffer = buffer.map_err(|error| {
            format!("{room} bytes for a heap: {error}; give a smaller --heap-mib")
        })?;
        let address = buffer
            .as_device_ptr()
            .as_raw()
            .next_multiple_of(Layout::<WarpHeap>::ALIGN);
        let heap = Argument(layout.heap(address)?);
        let memory = Memory {
            layout,
            address,
            heap,
            _buffer: buffer,
        };
        memory.reset(device)?;
        Ok(memory)
    }

    /// Makes the heap fresh; behind what is queued.
    pub fn reset(&self, device: &Device) -> Outcome<()> {
        for range in self.layout.ranges() {
            let (at, words) = (self.address + range.offset, range.words as usize);
            // SAFETY: ranges lie in the heap, which lies in the buffer.
            let code =
                unsafe { sys::cuMemsetD32Async(at, range.value, words, device.stream.as_inner()) };
            done("cuMemsetD32Async", code)?;
        }
        Ok(())
    }

    /// How much is in use. Waits for the kernels.
    pub fn usage(&self, device: &Device) -> Outcome<Usage> {
        device.stream.synchronize()?;
        let read = |offset: u64, words: &mut [u32]| -> Result<(), String> {
            let bytes = size_of_val(words);
            // SAFETY: what is read lies in the heap, and the slice has so many bytes.
            let code = unsafe {
                sys::cuMemcpyDtoH_v2(words.as_mut_ptr().cast(), self.address + offset, bytes)
            };
            done("cuMemcpyDtoH", code)
        };
        Ok(self.layout.usage(read)?)
    }

    /// An error unless everything was given back.
    pub fn is_empty(&self, device: &Device, after: &str) -> Outcome<()> {
        match self.usage(device)?.used_bytes {
            0 => Ok(()),
            bytes => Err(format!("{after}: {bytes} bytes of the heap are still in use").into()),
        }
    }
}

/// What the driver answered to a call that `cust` has no method for.
fn done(call: &str, code: sys::CUresult) -> Result<(), String> {
    match code {
        sys::CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(format!("{call}: {code:?}")),
    }
}
