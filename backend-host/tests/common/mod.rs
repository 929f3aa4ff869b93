//! What the tests of the emulator share: launching entries that are written by hand.
#![allow(dead_code, reason = "every test crate uses its own part of this")]

use std::time::Duration;
use warpheap_api::abi::{ARG_FIRST, ArgBlock, HEAP_WORDS};
use warpheap_api::host::{
    Arg, Args, Device, DeviceError, HostEntry, KernelImage, LaunchConfig, LaunchReport, Prepared,
};
use warpheap_host::{HostConfig, Mode, open};
use warpheap_rt::alloc::Bump;
use warpheap_rt::{AtomicWord, Heap, arch, entry};

/// The widths that every test of collective operations runs at.
pub const WIDTHS: [u32; 5] = [1, 4, 8, 32, 64];

const IMAGE: KernelImage = KernelImage {
    name: "tests",
    ptx: None,
    spirv: None,
};

/// A device in run mode with a watchdog that tests can wait for.
pub fn running(width: u32) -> Device {
    device(HostConfig {
        warp_width: width,
        threads: 2,
        watchdog: Duration::from_secs(10),
        ..HostConfig::default()
    })
}

/// A device in explore mode.
pub fn exploring(width: u32, seed: u64) -> Device {
    device(HostConfig {
        warp_width: width,
        mode: Mode::Explore { seed },
        max_steps: 1_000_000,
        ..HostConfig::default()
    })
}

pub fn device(config: HostConfig) -> Device {
    open(config).expect("settings are in range")
}

/// Prepares a launch of `entry` under the name `name`.
pub fn prepare(
    device: &Device,
    name: &'static str,
    entry: HostEntry,
    shape: (u32, u32),
    args: Args,
) -> Prepared {
    let module = device.load(&IMAGE).expect("any image can be loaded");
    let (grid_dim, block_dim) = shape;
    let config = LaunchConfig {
        grid_dim,
        block_dim,
    };
    // SAFETY: the tests below pass what their entries take.
    unsafe { Prepared::new(module, name, entry, config, args) }
}

/// Launches `entry` and waits for its end.
pub fn launch(
    device: &Device,
    name: &'static str,
    entry: HostEntry,
    shape: (u32, u32),
    args: Args,
) -> Result<LaunchReport, DeviceError> {
    prepare(device, name, entry, shape, args).run()
}

/// Launches `entry`, which the emulator is to stop: the message.
pub fn stopped(
    device: &Device,
    name: &'static str,
    entry: HostEntry,
    shape: (u32, u32),
    args: Args,
) -> String {
    match launch(device, name, entry, shape, args) {
        Err(DeviceError::Emulator(message)) => message,
        Err(DeviceError::Panic(panic)) => panic.to_string(),
        other => panic!("the emulator should have stopped {name}: {other:?}"),
    }
}

/// The word arrays of a kernel whose parameters are slices alone: slice number `index`.
pub fn words<'a>(args: &ArgBlock, index: usize) -> &'a [AtomicWord] {
    // SAFETY: the tests pass a slice of words there, and lanes change it through atomic words.
    unsafe { arch::slice(args, ARG_FIRST + 3 * index) }
}

/// The heap that is a kernel's first parameter.
pub fn heap(args: &ArgBlock) -> Heap<Bump> {
    // SAFETY: the tests pass a heap of that kind there.
    unsafe { entry::heap(arch::heap_words(args, ARG_FIRST), args, ARG_FIRST) }
}

/// The word array behind the heap of a kernel.
pub fn words_after_heap<'a>(args: &ArgBlock) -> &'a [AtomicWord] {
    // SAFETY: as in `words`.
    unsafe { arch::slice(args, ARG_FIRST + HEAP_WORDS) }
}

/// Checks that a message names the kernel, the block and the warp, and contains all of `parts`.
#[track_caller]
pub fn assert_tells(message: &str, kernel: &str, place: &str, parts: &[&str]) {
    let start = format!("kernel {kernel}, {place}");
    assert!(message.starts_with(&start), "`{start}` expected: {message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` expected: {message}");
    }
}

/// One argument or several.
pub fn args<const N: usize>(args: [Arg; N]) -> Args {
    args.into()
}
