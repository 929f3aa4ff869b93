//! One malloc and one free for each lane, in a fresh heap each time.

use crate::Outcome;
use crate::arguments::Arguments;
use crate::device::{BLOCK, Device};
use crate::heap::Memory;
use cust::event::{Event, EventFlags};
use cust::launch;
use cust::memory::DeviceBuffer;

/// Bytes that each lane asks for.
const SIZES: [u32; 4] = [16, 64, 256, 4096];
/// Repeats before those that count.
const WARM_UP: u32 = 2;
/// Steps of the kernel that keeps the device busy while the others are queued.
const DELAY_STEPS: u32 = 12_000;

/// How a lane asks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By handle, the heap an argument of the kernel.
    Handle,
    /// The same by pointer.
    Pointer,
    /// Through Rust's global allocator.
    Global,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Handle => "handle",
            Way::Pointer => "pointer",
            Way::Global => "global",
        }
    }
}

/// What the requests of one way and size need.
struct Requests<'a> {
    device: &'a Device,
    memory: &'a Memory,
    /// A word for each lane's handle or two for its pointer.
    blocks: DeviceBuffer<u64>,
    scratch: DeviceBuffer<u32>,
    lanes: u32,
    way: Way,
    size: u32,
}

/// Prints the table.
pub fn run(device: &Device, arguments: &Arguments) -> Outcome<()> {
    let memory = Memory::new(device, arguments.heap_bytes)?;
    device.bind(memory.heap)?;
    let lanes = arguments.lanes;
    println!(
        "{lanes} lanes, one malloc and one free each, fresh heap of {} MiB:",
        arguments.heap_bytes >> 20
    );
    println!("| request | bytes | malloc ms | free ms | contents |");
    println!("|---|---|---|---|---|");
    let mut failed = 0;
    for way in [Way::Handle, Way::Pointer, Way::Global] {
        for size in SIZES {
            let requests = Requests {
                device,
                memory: &memory,
                blocks: DeviceBuffer::from_slice(&vec![0u64; lanes as usize])?,
                scratch: DeviceBuffer::from_slice(&[0u32; 2])?,
                lanes,
                way,
                size,
            };
            let contents = requests.contents()?;
            let (malloc, free) = requests.times(arguments.repeats)?;
            let after = requests.contents()?;
            let verdict = match (&*contents, &*after) {
                ("ok", "ok") => "ok".to_owned(),
                ("ok", wrong) | (wrong, _) => {
                    failed += 1;
                    wrong.to_owned()
                }
            };
            println!(
                "| {} | {size} | {malloc:.4} | {free:.4} | {verdict} |",
                way.name()
            );
        }
    }
    match failed {
        0 => Ok(()),
        lines => Err(format!("{lines} of the lines above failed").into()),
    }
}

impl Requests<'_> {
    /// Queues the mallocs.
    fn malloc(&self) -> Outcome<()> {
        self.queue("malloc")
    }

    /// Queues the frees.
    fn free(&self) -> Outcome<()> {
        self.queue("free")
    }

    fn queue(&self, what: &str) -> Outcome<()> {
        let (stream, grid) = (&self.device.stream, Device::blocks(self.lanes));
        let (blocks, lanes, size) = (self.blocks.as_device_ptr(), self.lanes, self.size);
        let heap = self.memory.heap;
        match self.way {
            Way::Handle | Way::Pointer => {
                let kernel = self
                    .device
                    .kernel(&format!("{what}_{}s", self.way.name()))?;
                // SAFETY: the kernel takes these, and there is a place for each lane.
                unsafe { launch!(kernel<<<grid, BLOCK, 0, stream>>>(heap, blocks, lanes, size))? };
            }
            Way::Global => {
                let kernel = self.device.kernel(&format!("{what}_global"))?;
                // SAFETY: as above.
                unsafe { launch!(kernel<<<grid, BLOCK, 0, stream>>>(blocks, lanes, size))? };
            }
        }
        Ok(())
    }

    /// Allocates, writes, looks and frees in a fresh heap: `ok`, or what is wrong.
    fn contents(&self) -> Outcome<String> {
        let (stream, grid) = (&self.device.stream, Device::blocks(self.lanes));
        let counts = DeviceBuffer::from_slice(&[0u32; 2])?;
        let (blocks, words) = (self.blocks.as_device_ptr(), counts.as_device_ptr());
        let (heap, lanes, size) = (self.memory.heap, self.lanes, self.size);
        self.memory.reset(self.device)?;
        self.malloc()?;
        for look in [0u32, 1] {
            match self.way {
                Way::Handle => {
                    let pass = self.device.kernel("pass_handles")?;
                    // SAFETY: the kernel takes these: blocks of this heap and size, and two counts.
                    unsafe {
                        launch!(pass<<<grid, BLOCK, 0, stream>>>(heap, blocks, lanes, size, words, look))?
                    };
                }
                Way::Pointer | Way::Global => {
                    let pass = self.device.kernel("pass_pointers")?;
                    // SAFETY: as above.
                    unsafe {
                        launch!(pass<<<grid, BLOCK, 0, stream>>>(blocks, lanes, size, words, look))?
                    };
                }
            }
        }
        self.free()?;
        stream.synchronize()?;
        let used = self.memory.usage(self.device)?.used_bytes;
        Ok(match counts.as_host_vec()?[..] {
            [0, 0] if used == 0 => "ok".to_owned(),
            [0, 0] => format!("{used} bytes never came back"),
            // Both passes count lanes without a block.
            [missing, 0] => format!("{} lanes got no block", missing / 2),
            [_, wrong] => format!("{wrong} words are wrong"),
            _ => "no counts".to_owned(),
        })
    }

    /// Median times of the mallocs and of the frees in milliseconds.
    fn times(&self, repeats: u32) -> Outcome<(f32, f32)> {
        let stream = &self.device.stream;
        let delay = self.device.kernel("delay")?;
        let scratch = self.scratch.as_device_ptr();
        let event = || Event::new(EventFlags::DEFAULT);
        let [a, b, c, d] = [event()?, event()?, event()?, event()?];
        let (mut mallocs, mut frees) = (Vec::new(), Vec::new());
        for repeat in 0..WARM_UP + repeats {
            self.memory.reset(self.device)?;
            // SAFETY: the kernel takes a word.
            unsafe { launch!(delay<<<1, 1, 0, stream>>>(scratch, DELAY_STEPS))? };
            a.record(stream)?;
            self.malloc()?;
            b.record(stream)?;
            // SAFETY: as above.
            unsafe { launch!(delay<<<1, 1, 0, stream>>>(scratch, DELAY_STEPS))? };
            c.record(stream)?;
            self.free()?;
            d.record(stream)?;
            stream.synchronize()?;
            if repeat >= WARM_UP {
                mallocs.push(b.elapsed_time_f32(&a)?);
                frees.push(d.elapsed_time_f32(&c)?);
            }
        }
        Ok((median(mallocs), median(frees)))
    }
}

/// The one in the middle.
fn median(mut times: Vec<f32>) -> f32 {
    times.sort_by(f32::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f32::NAN)
}
