//! Counts the k-mers of DNA sequences in a hash map on the best device that is there, and shows the most
//! frequent ones: `cargo run --release -p warpheap-kmer -- K FILE.fa`; without a file, of sequences
//! that are made up, without `K`, of 12 bases. `--features cuda` or `--features vulkan` for a GPU;
//! `WARPHEAP_BACKEND=host` chooses another device.
//!
//! K-mers have 1 to 16 bases, which fit one 32-bit key. `warpheap kmer` counts longer ones.

mod sequences;

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::process::ExitCode;
use std::time::Instant;
use warpheap::{Device, DeviceHashMap, DeviceVec, LaunchConfig, Pool};
use warpheap_kmer::{GAP, LARGEST_K};

/// K-mers that are shown.
const SHOWN: usize = 10;
/// Lanes of the launch, if there are as many bases.
const LANES: usize = 1 << 20;

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
    let (k, bases) = arguments()?;
    let device = Device::open()?;
    println!("device: {} ({})", device.info().name, device.info().backend);

    // Every place may begin another k-mer, and a map that grows takes 24 bytes for a pair at most.
    let pool: Pool = device.reserve((16 << 20) + 64 * bases.len() as u64)?;
    let map = DeviceHashMap::<u32, u32, _>::new(&pool, 12)?; // a root for 4096 k-mers; it grows
    let packed = DeviceVec::from_slice(&device, &packed(&bases))?;
    let kernels = warpheap_kmer::load(&device)?;
    let shape = LaunchConfig::for_num_elems(bases.len().min(LANES) as u32);

    let started = Instant::now();
    kernels.count_kmers(&pool, shape, map.map(), &packed, k)?;
    println!(
        "counted: {} bases in {:.1?}",
        bases.len(),
        started.elapsed()
    );
    println!("{}", pool.stats()?);

    let counts = map.to_map()?;
    drop(map); // frees what it had in the heap
    let left = pool.stats()?.usage.used_bytes;
    if left != 0 {
        return Err(format!("{left} bytes are still in use").into());
    }
    check(&counts, &bases, k)?;
    show(&counts, k);
    Ok(())
}

/// `K` and the sequences that the program was called for.
fn arguments() -> Result<(u32, Vec<u8>), String> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.len() > 2 {
        return Err("too many arguments: warpheap-kmer [K [FILE]]".into());
    }
    let k = match arguments.first() {
        None => 12,
        Some(text) => match text.parse() {
            Ok(k) if (1..=LARGEST_K).contains(&k) => k,
            _ => return Err(format!("`{text}` is no K: a number from 1 to {LARGEST_K}")),
        },
    };
    let bases = match arguments.get(1) {
        None => sequences::made_up(),
        Some(file) => sequences::read(file)?,
    };
    Ok((k, bases))
}

/// Four bits for each base, eight to a word; gaps behind the last.
fn packed(bases: &[u8]) -> Vec<u32> {
    let word = |eight: &[u8]| {
        let base = |i| eight.get(i).map_or(GAP, |&base| u32::from(base));
        (0..8).fold(0, |word, i| word | base(i) << (4 * i))
    };
    bases.chunks(8).map(word).collect()
}

/// Compares with a map of `std` that the CPU fills.
fn check(counts: &HashMap<u32, u32>, bases: &[u8], k: u32) -> Result<(), String> {
    let mut expected = HashMap::new();
    for run in bases.split(|&base| u32::from(base) == GAP) {
        for kmer in run.windows(k as usize) {
            let key = kmer.iter().fold(0, |key, &base| key << 2 | u32::from(base));
            *expected.entry(key).or_insert(0) += 1;
        }
    }
    for (&key, &count) in &expected {
        let got = counts.get(&key).copied().unwrap_or(0);
        if got != count {
            return Err(format!(
                "{} was counted {got} times, not {count}",
                letters(key, k)
            ));
        }
    }
    if counts.len() != expected.len() {
        return Err(format!(
            "{} different k-mers, not {}",
            counts.len(),
            expected.len()
        ));
    }
    let total: u64 = counts.values().map(|&count| u64::from(count)).sum();
    println!(
        "all {total} {k}-mers, {} different ones, are counted right",
        counts.len()
    );
    Ok(())
}

/// Shows the most frequent k-mers, and how many there are of which frequency.
fn show(counts: &HashMap<u32, u32>, k: u32) {
    let mut order: Vec<(u32, u32)> = counts.iter().map(|(&key, &count)| (key, count)).collect();
    order.sort_unstable_by_key(|&(key, count)| (std::cmp::Reverse(count), key));
    for &(key, count) in order.iter().take(SHOWN) {
        println!("{count:>10}  {}", letters(key, k));
    }
    let mut classes = BTreeMap::new();
    for count in counts.values() {
        *classes.entry(count.ilog2()).or_insert(0u64) += 1;
    }
    for (class, kmers) in classes {
        let (from, to) = (1u64 << class, (2u64 << class) - 1);
        println!("{kmers:>10}  come {from} to {to} times");
    }
}

/// A key of the map as letters.
fn letters(key: u32, k: u32) -> String {
    let letter = |i| ['A', 'C', 'G', 'T'][(key >> (2 * i) & 3) as usize];
    (0..k).rev().map(letter).collect()
}
