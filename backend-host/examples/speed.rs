//! Times the emulator in run mode: mallocs, and what one lane's part in a collective costs.
//!
//! `cargo run --release -p warpheap-host --example speed`

use std::time::Duration;
use warpheap_api::abi::{ARG_FIRST, ArgBlock};
use warpheap_api::host::{
    Args, Device, DeviceError, HostAlloc, HostEntry, KernelImage, LaunchConfig, Prepared,
};
use warpheap_api::{HeapMemory, LaneMask, Layout};
use warpheap_host::{HostConfig, open};
use warpheap_rt::alloc::{Bump, ScatterAlloc};
use warpheap_rt::arch::Words;
use warpheap_rt::sync::Group;
use warpheap_rt::{arch, entry, thread};

/// Lanes of a launch.
const LANES: u32 = 1 << 20;
/// Rounds of each collective operation.
const ROUNDS: u32 = 16;

unsafe fn empty(_: &ArgBlock) {}

unsafe fn malloc<A: HostAlloc<Memory = Words>>(args: &ArgBlock) {
    // SAFETY: `main` passes a heap of that kind there.
    let heap = unsafe { entry::heap::<A>(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) };
    let taken = heap.malloc(Layout::new::<[u32; 4]>());
    if let Ok(ptr) = taken {
        // SAFETY: the block is the lane's own.
        unsafe { heap.words() }.write(heap.word_of(ptr), thread::index());
    }
    // SAFETY: the emulator passes the report.
    entry::finish(unsafe { arch::report(args) }, taken.map(|_| ()));
}

unsafe fn active(_: &ArgBlock) {
    for _ in 0..ROUNDS {
        std::hint::black_box(Group::here().lanes());
    }
}

fn all() -> Group {
    // SAFETY: launches have whole warps, all lanes of which come to each call.
    unsafe { Group::of(LaneMask::full(arch::warp_width())) }
}

unsafe fn ballot(_: &ArgBlock) {
    for round in 0..ROUNDS {
        std::hint::black_box(all().ballot(round == arch::lane()));
    }
}

unsafe fn shuffle(_: &ArgBlock) {
    for round in 0..ROUNDS {
        let source = (arch::lane() + round) % arch::warp_width();
        std::hint::black_box(all().shuffle(round, source));
    }
}

unsafe fn match_any(_: &ArgBlock) {
    for _ in 0..ROUNDS {
        std::hint::black_box(all().match_any(arch::lane() / 4));
    }
}

fn time(
    device: &Device,
    name: &'static str,
    entry: HostEntry,
    args: &Args,
) -> Result<Duration, DeviceError> {
    let module = device.load(&KernelImage {
        name: "speed",
        ptx: None,
        spirv: None,
    })?;
    let config = LaunchConfig::for_num_elems(LANES);
    // SAFETY: `main` passes what the entries take.
    let launch = unsafe { Prepared::new(module, name, entry, config, args.clone()) };
    Ok(launch.run()?.device_time)
}

fn mallocs<A: HostAlloc<Memory = Words>>(device: &Device) -> Result<(), DeviceError> {
    let pool = device.reserve::<A>(256 << 20)?;
    let took = time(device, "malloc", malloc::<A>, &[pool.arg()].into())?;
    let per_lane = took.as_nanos() as f64 / LANES as f64;
    println!(
        "  {:12} {took:>12.3?} {per_lane:8.1} ns a lane, malloc",
        A::NAME
    );
    Ok(())
}

fn main() -> Result<(), DeviceError> {
    for warp_width in [4, 32, 64] {
        let device = open(HostConfig {
            warp_width,
            threads: 2,
            ..HostConfig::default()
        })?;
        println!("2^20 lanes, warp width {warp_width}, 2 threads");
        let fresh = time(&device, "empty", empty, &Args::new())?;
        let base = time(&device, "empty", empty, &Args::new())?.min(fresh);
        let per_lane = base.as_nanos() as f64 / LANES as f64;
        println!("  {:12} {base:>12.3?} {per_lane:8.1} ns a lane", "empty");
        mallocs::<Bump>(&device)?;
        mallocs::<ScatterAlloc>(&device)?;
        let kinds: [(&str, HostEntry); 4] = [
            ("active", active),
            ("ballot", ballot),
            ("shuffle", shuffle),
            ("match_any", match_any),
        ];
        for (name, entry) in kinds {
            let took = time(&device, name, entry, &Args::new())?;
            let each = took.saturating_sub(base).as_nanos() as f64 / LANES as f64 / ROUNDS as f64;
            println!("  {name:12} {took:>12.3?} {each:8.1} ns a lane and call");
        }
    }
    Ok(())
}
