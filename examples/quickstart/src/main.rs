//! Runs the kernels of this crate on the best device that is there: `cargo run`, with
//! `--features cuda` or `--features vulkan` for a GPU. `WARPHEAP_BACKEND=host` chooses another
//! device, `cargo run -- Bump` another allocator.

use std::error::Error;
use warpheap::device::{Bump, HeapVec, ScatterAlloc, WarpHeap};
use warpheap::{Device, DeviceVec, LaunchConfig};
use warpheap_quickstart::{SquaresEntry, SumsEntry};

const LISTS: u32 = 1024;

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        None | Some("WarpHeap") => run::<WarpHeap>(),
        Some("ScatterAlloc") => run::<ScatterAlloc>(),
        Some("Bump") => run::<Bump>(),
        Some(other) => {
            Err(format!("no allocator {other} here: WarpHeap, ScatterAlloc or Bump").into())
        }
    }
}

/// Works with every allocator that both kernels are compiled for.
fn run<A: SquaresEntry + SumsEntry>() -> Result<(), Box<dyn Error>> {
    let device = Device::open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);

    let pool = device.reserve::<A>(64 << 20)?; // a heap on that device
    let mut lists = DeviceVec::<HeapVec<u32>>::zeroed(&device, LISTS as usize)?; // empty lists
    let kernels = warpheap_quickstart::load(&device)?;
    kernels.squares(&pool, LaunchConfig::for_num_elems(LISTS), &mut lists)?;
    println!("grown:  {}", pool.stats()?);

    let mut sums = DeviceVec::<u32>::zeroed(&device, LISTS as usize)?;
    kernels.sums(
        &pool,
        LaunchConfig::for_num_elems(LISTS),
        &mut lists,
        &mut sums,
    )?;
    println!("freed:  {}", pool.stats()?);

    for (i, sum) in (0..LISTS).zip(sums.to_vec()?) {
        let expected = i * (i + 1) * (2 * i + 1) / 6;
        if sum != expected {
            return Err(format!("list {i} adds up to {sum}, not {expected}").into());
        }
    }
    println!("all {LISTS} lists are right");
    Ok(())
}
