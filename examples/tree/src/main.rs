//! Each lane builds a search tree of `Box`es, takes half of it apart in order and drops the rest:
//! `cargo run --release -p warpheap-tree -- [LANES [NUMBERS]]`, by default 4096 trees of 100 numbers. With
//! `--features cuda` on an NVIDIA GPU, where the boxes lie in a heap of this library; in the emulator they
//! lie in the memory of the process. There is no `Box` on Vulkan.

use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use warpheap::{BackendKind, Device, DeviceVec, LaunchConfig, Pool};
use warpheap_tree::{Found, number};

/// The most lanes and the most numbers of one.
const MOST: u32 = 1 << 20;
/// Bytes of a node as an allocator rounds them, and what it may tie to them.
const NODE: u64 = 64;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    let (lanes, count) = arguments()?;
    let device = open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);

    let pool: Pool = device.reserve((64 << 20) + NODE * u64::from(lanes) * u64::from(count))?;
    let mut found = DeviceVec::<Found>::from_slice(&device, &vec![Found::NONE; lanes as usize])?;
    let kernels = warpheap_tree::load(&device)?;
    kernels.bind_heap(&pool)?; // where `Box::new` allocates
    let report = kernels.build(LaunchConfig::for_num_elems(lanes), &mut found, count)?;
    println!(
        "built and dropped: {lanes} trees of {count} numbers in {:.1?}",
        report.device_time
    );

    let stats = pool.stats()?;
    println!("{stats}");
    if stats.usage.used_bytes != 0 {
        return Err(format!("{} bytes are still in use", stats.usage.used_bytes).into());
    }
    let mut deepest = 0;
    for (lane, found) in (0..lanes).zip(found.to_vec()?) {
        let expected = expected(lane, count);
        if found != expected {
            return Err(format!("lane {lane} found {found:?}, not {expected:?}").into());
        }
        deepest = deepest.max(found.depth);
    }
    println!("all {lanes} trees are right, the deepest has {deepest} levels");
    Ok(())
}

/// How many trees of how many numbers.
fn arguments() -> Result<(u32, u32), String> {
    let mut numbers = [4096, 100];
    for (at, text) in std::env::args().skip(1).enumerate() {
        let place = numbers
            .get_mut(at)
            .ok_or("too many arguments: warpheap-tree [LANES [NUMBERS]]")?;
        *place = match text.parse() {
            Ok(number @ 1..=MOST) => number,
            _ => return Err(format!("`{text}` is no number from 1 to {MOST}")),
        };
    }
    Ok((numbers[0], numbers[1]))
}

/// The best device that is there, if it has a `Box`.
fn open() -> Result<Device, Box<dyn Error>> {
    let device = Device::open()?;
    match device.info().backend {
        BackendKind::Vulkan => {
            Err("there is no `Box` on Vulkan: WARPHEAP_BACKEND=host or cuda".into())
        }
        _ => Ok(device),
    }
}

/// What a lane must find. The depth of a key in a search tree is one more than the larger one of its neighbours'
/// that were there before it.
fn expected(lane: u32, count: u32) -> Found {
    // By key and, as equal keys hang to the right, by the order in which they came.
    let mut depths: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut found = Found::NONE;
    for n in 0..count {
        let key = (number(lane, n), n);
        let below = depths
            .range(..key)
            .next_back()
            .map_or(0, |(_, &depth)| depth);
        let above = depths.range(key..).next().map_or(0, |(_, &depth)| depth);
        let depth = below.max(above) + 1;
        depths.insert(key, depth);
        found.depth = found.depth.max(depth);
    }
    for (key, _) in depths.keys().take(count as usize / 2) {
        found = found.with_key(*key);
    }
    found
}
