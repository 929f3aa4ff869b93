//! Fills a pool of so many GiB with blocks of so many bytes, all of them at the same time, and looks whether each is whole.
//! `large GIB BYTES`; `WARPHEAP_BACKEND` chooses the device.

use std::process::ExitCode;
use std::time::Instant;
use warpheap_api::host::DeviceError;
use warpheap_rt::alloc::{WarpHeap32, WarpHeap64};
use warpheap_wide_tests::{Blocks, Site, Subject};

fn main() -> ExitCode {
    let arguments: Vec<u64> = std::env::args()
        .skip(1)
        .flat_map(|text| text.parse())
        .collect();
    let [gib, bytes] = arguments[..] else {
        eprintln!("error: give the GiB of the pool and the bytes of a block");
        return ExitCode::FAILURE;
    };
    let Some(site) = site() else {
        eprintln!("error: there is no such device: WARPHEAP_BACKEND chooses host, cuda or vulkan");
        return ExitCode::FAILURE;
    };
    let both = || {
        // What 32 bits of 32 bytes reach.
        if gib < 128 {
            run::<WarpHeap32>(&site, gib, bytes)?;
        }
        run::<WarpHeap64>(&site, gib, bytes)
    };
    match both() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The device that the environment names, or the emulator.
fn site() -> Option<Site> {
    match std::env::var("WARPHEAP_BACKEND").as_deref() {
        #[cfg(feature = "cuda")]
        Ok("cuda") => Site::cuda(),
        #[cfg(feature = "vulkan")]
        Ok("vulkan") => Site::vulkan(),
        _ => Some(Site::host(32)),
    }
}

fn run<A: Subject>(site: &Site, gib: u64, bytes: u64) -> Result<(), DeviceError> {
    let begin = Instant::now();
    let pool = site.device.reserve::<A>(gib << 30)?;
    let made = begin.elapsed();
    let room = pool.bytes() - pool.metadata_bytes();
    println!(
        "{}: {gib} GiB in {made:.1?}, {:.2} % for itself",
        A::NAME,
        pool.metadata_bytes() as f64 / pool.bytes() as f64 * 100.0
    );
    let lanes = (room / bytes).min(1 << 24) as u32;
    let mut blocks = Blocks::new(site, pool, lanes)?;
    // So many blocks that all of the room is asked for.
    let bytes = (room / u64::from(lanes)) as u32 & !3;
    // A word of each 4 KiB, and the first and the last one.
    let step = 1024;
    for round in 0..2 {
        let begin = Instant::now();
        let failed = blocks.take(step, |_| bytes)?;
        let took = begin.elapsed();
        let stats = blocks.pool.stats()?;
        println!(
            "  {lanes} blocks of {bytes} bytes: {failed:?} failed, {:.1} GiB in use, {took:.1?}; {} words wrong",
            stats.usage.used_bytes as f64 / f64::from(1 << 30),
            blocks.wrong(step)?
        );
        let places = blocks.places()?;
        let last = places.iter().map(|place| place.0 + place.1).max();
        println!(
            "  the last one ends at byte {} of {}",
            last.unwrap_or(0),
            blocks.pool.bytes()
        );
        blocks.give()?;
        let left = blocks.pool.stats()?.usage.live_blocks;
        println!("  round {round}: {left:?} left");
    }
    Ok(())
}
