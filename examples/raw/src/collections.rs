//! `Vec` and `Box` in kernels, in branches.

use crate::arguments::Arguments;
use crate::device::{BLOCK, Device};
use crate::heap::{Argument, Memory};
use crate::{Outcome, job};
use cust::event::{Event, EventFlags};
use cust::launch;
use cust::memory::DeviceBuffer;
use warpheap_raw::RawHeap;

/// Launches in one heap, all of which are checked.
const ROUNDS: usize = 10;

/// Every lane's answer against the CPU's, and whether all memory comes back.
pub fn run(device: &Device, arguments: &Arguments) -> Outcome<()> {
    let lanes = arguments.lanes.min(1 << 18);
    let memory = Memory::new(device, arguments.heap_bytes)?;
    device.bind(memory.heap)?;
    let want: Vec<u32> = (0..lanes).map(job::answer).collect();
    let collect = device.kernel("collect")?;
    let stream = &device.stream;
    let (start, stop) = (
        Event::new(EventFlags::DEFAULT)?,
        Event::new(EventFlags::DEFAULT)?,
    );
    let mut times = Vec::new();
    for round in 0..ROUNDS {
        let answers = DeviceBuffer::from_slice(&vec![0u32; lanes as usize])?;
        start.record(stream)?;
        // SAFETY: the kernel takes as many words as lanes.
        unsafe {
            launch!(collect<<<Device::blocks(lanes), BLOCK, 0, stream>>>(answers.as_device_ptr(), lanes))?
        };
        stop.record(stream)?;
        stream.synchronize()?;
        times.push(stop.elapsed_time_f32(&start)?);
        let answers = answers.as_host_vec()?;
        let wrong = answers
            .iter()
            .zip(&want)
            .filter(|(got, want)| got != want)
            .count();
        if wrong != 0 {
            return Err(format!("collections, launch {round}: {wrong} of {lanes} lanes have another answer than the CPU").into());
        }
        memory.is_empty(device, "after collections")?;
    }
    device.bind(Argument(RawHeap::NONE))?;
    times.sort_by(f32::total_cmp);
    println!(
        "Vec and Box in branches: {lanes} lanes, {ROUNDS} launches, ok, {:.3} ms",
        times[ROUNDS / 2]
    );
    Ok(())
}
