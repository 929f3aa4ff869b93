//! How fast a hash map takes and finds keys with each allocator: into roots of few slots, from which it grows, and into
//! one with a slot for every key. `map_rate [log2 of the number of keys [allocator]]`.

use std::process::ExitCode;
use warpheap::device::*;
use warpheap::{Device, DeviceError, DeviceHashMap, DeviceVec, LaunchConfig, MapAlloc};
use warpheap_applications::map::{MapFindEntry, MapInsertEntry};

/// Fresh maps, of which the fastest counts.
const RUNS: usize = 5;
/// Bytes of the largest block of a trie but for its root: a node. What serves a root with slots serves its branches.
const NODE: u32 = 64;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let bits = arguments.next().map_or(Ok(24), |text| text.parse());
    let Some(bits) = bits.ok().filter(|bits| (4..=24).contains(bits)) else {
        eprintln!("error: give the log2 of the number of keys, 4 to 24");
        return ExitCode::FAILURE;
    };
    match run(bits, arguments.next().as_deref()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// An allocator with the kernels.
trait Subject: MapAlloc + MapInsertEntry + MapFindEntry {}

impl<A: MapAlloc + MapInsertEntry + MapFindEntry> Subject for A {}

/// The same keys for all.
struct Table {
    device: Device,
    kernels: warpheap_applications::Kernels,
    keys: DeviceVec<u32>,
    results: DeviceVec<u32>,
    bits: u32,
}

fn run(bits: u32, only: Option<&str>) -> Result<(), DeviceError> {
    let device = Device::open()?;
    device.keep_pace(true);
    println!("{}: 2^{bits} keys, Mops/s", device.info().name);
    println!("allocator            root    insert      find");
    // An odd factor keeps them distinct.
    let keys: Vec<u32> = (0..1u32 << bits)
        .map(|i| i.wrapping_mul(0x9e37_79b1))
        .collect();
    let table = Table {
        kernels: warpheap_applications::load(&device)?,
        keys: DeviceVec::from_slice(&device, &keys)?,
        results: DeviceVec::zeroed(&device, keys.len())?,
        device,
        bits,
    };
    macro_rules! rates {
        ($($allocator:ident),* $(,)?) => {$(
            if only.is_none_or(|name| name == $allocator::NAME) {
                rates::<$allocator>(&table);
            }
        )*};
    }
    warpheap::rt::for_each_allocator!(rates);
    Ok(())
}

/// Roots of 16 slots, of more, and of one for each key or as many as there can be.
fn rates<A: Subject>(table: &Table) {
    let largest = A::largest_block(&A::config_for(NODE));
    let most = table.bits.min((largest / 4).ilog2());
    let smaller = [4, 10, 16].into_iter().filter(|bits| *bits < most);
    for root_bits in smaller.chain([most]) {
        match rate::<A>(table, root_bits) {
            Ok([insert, find]) => {
                println!("{:<20} 2^{root_bits:<3} {insert:>9.1} {find:>9.1}", A::NAME);
            }
            Err(error) => println!("{:<20} 2^{root_bits:<3} {error}", A::NAME),
        }
    }
}

/// Millions of keys that are inserted and found in a second.
fn rate<A: Subject>(table: &Table, root_bits: u32) -> Result<[f64; 2], DeviceError> {
    let Table { keys, results, .. } = table;
    let count = 1u32 << table.bits;
    // Branches, or leaves and nodes, are 40 bytes at most for each key; walks want free places to find.
    let bytes = (count as u64 * 256).max(64 << 20);
    // Vulkan's buffers end a little below 4 GiB.
    let bytes = bytes.min(table.device.info().max_buffer_bytes);
    let config = LaunchConfig::for_num_elems(count);
    let mut best = [f64::MAX; 2];
    for _ in 0..RUNS {
        let pool = table
            .device
            .reserve_with::<A>(bytes, &A::config_for(NODE))?;
        let map = DeviceHashMap::<u32, u32, A>::new(&pool, root_bits)?;
        let kernels = &table.kernels;
        let inserted = kernels.map_insert(&pool, config, map.map(), keys, keys, results)?;
        let fresh = results.to_vec()?.iter().filter(|&&new| new == 1).count();
        let found = kernels.map_find(&pool, config, map.map(), keys, results)?;
        if fresh != count as usize || results.to_vec()? != keys.to_vec()? {
            println!(
                "{}: {fresh} of {count} keys inserted, or others found",
                A::NAME
            );
        }
        for (best, report) in best.iter_mut().zip([inserted, found]) {
            *best = best.min(report.device_time.as_secs_f64());
        }
    }
    Ok(best.map(|seconds| f64::from(count) / seconds / 1e6))
}
