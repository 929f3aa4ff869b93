//! The same kernels with an allocator and a backend that are chosen when the program starts:
//!
//! ```text
//! cargo run --release -p warpheap-swap -- --allocator Gallatin --backend host
//! cargo run --release -p warpheap-swap -- --allocator all
//! ```
//!
//! Without options WarpHeap on the best device that is there; `--features cuda` or `--features vulkan` for
//! a GPU. The kernels are generic; [`ALLOCATORS`] is all that names types.

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;
use warpheap::device::{Gallatin, HeapVec, RandomWalk, ScatterAlloc, SizeList, WarpHeap};
use warpheap::{Device, DeviceVec, LaunchConfig};
use warpheap_swap::{Allocator, Kernels, elements};

/// Lanes, each with a vector.
const LANES: u32 = 1 << 14;
/// Bytes of the heap: enough for an allocator that has pages of 4 KiB only.
const POOL: u64 = 256 << 20;

/// The name of an allocator, and the program compiled for it.
type Choice = (
    &'static str,
    fn(&Device, &Kernels) -> Result<Measured, Box<dyn Error>>,
);

/// Every allocator that the kernels are compiled for.
const ALLOCATORS: [Choice; 5] = [
    ("WarpHeap", run::<WarpHeap>),
    ("ScatterAlloc", run::<ScatterAlloc>),
    ("Gallatin", run::<Gallatin>),
    ("RandomWalk", run::<RandomWalk>),
    ("SizeList", run::<SizeList>),
];

/// What was measured with one allocator.
struct Measured {
    /// Time on the device to grow all vectors.
    grow: Duration,
    /// Time on the device to add them up and to free them.
    free: Duration,
    /// Bytes of the heap that were taken when all had grown, and how many of them are elements.
    taken: u64,
    elements: u64,
}

fn main() -> ExitCode {
    match start() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn start() -> Result<(), Box<dyn Error>> {
    let (chosen, backend) = arguments()?;
    let device = Device::open_named(backend.as_deref(), None)?;
    // Times are compared, so none may be that of a GPU whose clock fell meanwhile.
    device.keep_pace(true);
    println!("device: {} ({})", device.info().name, device.info().backend);
    let kernels = warpheap_swap::load(&device)?;
    println!(
        "{:<14}{:>12}{:>12}{:>14}{:>14}",
        "allocator", "grow", "free", "KiB taken", "utilisation"
    );
    for (name, run) in chosen {
        let measured = run(&device, &kernels).map_err(|error| format!("{name}: {error}"))?;
        println!(
            "{name:<14}{:>12}{:>12}{:>14}{:>12.1} %",
            format!("{:.2?}", measured.grow),
            format!("{:.2?}", measured.free),
            measured.taken / 1024,
            measured.elements as f64 * 100.0 / measured.taken.max(1) as f64
        );
    }
    println!("all sums are right, and all memory was given back");
    Ok(())
}

/// The allocators and the backend that the program was called with.
fn arguments() -> Result<(Vec<Choice>, Option<String>), String> {
    let mut chosen = vec![ALLOCATORS[0]];
    let mut backend = None;
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{option} needs a value"));
        match option.as_str() {
            "--allocator" => chosen = named(&value()?)?,
            "--backend" => backend = Some(value()?),
            _ => {
                return Err(format!(
                    "unknown option `{option}`: --allocator NAME|all, --backend NAME"
                ));
            }
        }
    }
    Ok((chosen, backend))
}

fn named(name: &str) -> Result<Vec<Choice>, String> {
    let known = ALLOCATORS
        .iter()
        .filter(|(known, _)| name == "all" || name == *known);
    let known: Vec<Choice> = known.copied().collect();
    if known.is_empty() {
        let names = ALLOCATORS.map(|(name, _)| name).join(", ");
        return Err(format!(
            "there is no allocator `{name}` here: {names}, or all"
        ));
    }
    Ok(known)
}

/// Works with every allocator that the kernels are compiled for.
fn run<A: Allocator>(device: &Device, kernels: &Kernels) -> Result<Measured, Box<dyn Error>> {
    let pool = device.reserve::<A>(POOL)?;
    let mut vectors = DeviceVec::<HeapVec<u32>>::zeroed(device, LANES as usize)?;
    let mut sums = DeviceVec::<u32>::zeroed(device, LANES as usize)?;
    let shape = LaunchConfig::for_num_elems(LANES);
    let grow = kernels.grow(&pool, shape, &mut vectors)?.device_time;
    let taken = pool.stats()?.usage.committed_bytes;
    let free = kernels
        .sum_and_free(&pool, shape, &mut vectors, &mut sums)?
        .device_time;
    let left = pool.stats()?.usage.used_bytes;
    if left != 0 {
        return Err(format!("{left} bytes are still in use").into());
    }
    let mut all = 0;
    for (i, sum) in (0..LANES).zip(sums.to_vec()?) {
        let n = elements(i);
        let expected = n * i + n * (n - 1) / 2;
        if sum != expected {
            return Err(format!("vector {i} adds up to {sum}, not {expected}").into());
        }
        all += u64::from(n);
    }
    Ok(Measured {
        grow,
        free,
        taken,
        elements: 4 * all,
    })
}
