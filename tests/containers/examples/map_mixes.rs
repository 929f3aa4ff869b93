//! A hash map under the mixtures of operations that databases are compared by (B. F. Cooper and others, *Benchmarking Cloud
//! Serving Systems with YCSB*, SoCC 2010), and keys that come and go for 10^9 operations, with the default allocator.
//! `map_mixes [log2 of the number of keys]`, 24 without; `WARPHEAP_BACKEND` chooses the device.

use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::process::ExitCode;
use std::time::Duration;
use warpheap::device::*;
use warpheap::{Device, DeviceError, DeviceHashMap, DeviceVec, LaunchConfig, Pool};
use warpheap_container_tests::load::{bits_of_keys, zipf};
use warpheap_map_kernels::mixes::{
    ADD, Aged, Mixed, ONE, OWN, READ, WRITE, mark, own_key, own_value,
};
use warpheap_map_kernels::{Kernels, load};

/// Maps, of which the fastest counts.
const RUNS: usize = 3;
/// Operations for each key.
const EACH: usize = 4;
/// Operations that a lane does one after the other.
const IN_TURN: usize = 16;
/// Operations of the keys that come and go, where they are as many as they can be.
const AGING: u64 = 1_000_000_000;
/// Steps of a launch of these.
const STEPS: u32 = 64;

fn main() -> ExitCode {
    match bits_of_keys().and_then(|bits| run(bits).map_err(|error| error.to_string())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("error: the map gave wrong answers");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bits: u32) -> Result<bool, DeviceError> {
    let device = Device::open()?;
    device.keep_pace(true);
    println!("{}: 2^{bits} keys", device.info().name);
    let mut dice = SmallRng::seed_from_u64(1);
    let ranks = (0..EACH << bits).map(|_| zipf(&mut dice, 1 << bits) as u32);
    let mixes = Mixes {
        kernels: load(&device)?,
        device,
        bits,
        ranks: ranks.collect(),
    };
    println!("{:<44} {:>9} {:>10}", "", "M/s", "not found");
    let mut right = true;
    for (name, share, kind) in [
        ("A: half are reads, half write", 128, Kind::Write),
        ("B: 1 of 20 writes", 13, Kind::Write),
        ("C: all are reads", 0, Kind::Write),
        (
            "D: 1 of 20 brings a key, reads are of late ones",
            13,
            Kind::Bring,
        ),
        ("F: half are reads, half add", 128, Kind::Add),
    ] {
        right &= mixes.mix(name, share, kind)?;
    }
    Ok(right & mixes.age()?)
}

/// What operations do that are no reads.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Write,
    Bring,
    Add,
}

struct Mixes {
    device: Device,
    kernels: Kernels,
    bits: u32,
    /// Which key each operation is about.
    ranks: Vec<u32>,
}

impl Mixes {
    fn keys(&self) -> u32 {
        1 << self.bits
    }

    fn pool(&self) -> Result<Pool<WarpHeap>, DeviceError> {
        let bytes = (u64::from(self.keys()) * 128).max(64 << 20);
        self.device.reserve::<WarpHeap>(bytes)
    }

    /// Each operation's key and what it does, of which `share` in 256 are no reads.
    fn ops(&self, share: u32, kind: Kind) -> Vec<[u32; 2]> {
        let mut dice = SmallRng::seed_from_u64(3);
        let mut keys = self.keys();
        let op = |&rank: &u32| {
            let other = dice.random_range(0..256) < share;
            match kind {
                Kind::Write => [key(rank), if other { WRITE } else { READ }],
                Kind::Add => [key(rank), if other { ADD } else { READ }],
                Kind::Bring if other => {
                    keys += 1;
                    [key(keys - 1), WRITE]
                }
                // The latest key most often.
                Kind::Bring => [key(keys - 1 - rank), READ],
            }
        };
        self.ranks.iter().map(op).collect()
    }

    /// One mixture; whether the map was right.
    fn mix(&self, name: &str, share: u32, kind: Kind) -> Result<bool, DeviceError> {
        let ops = self.ops(share, kind);
        let given = DeviceVec::from_slice(&self.device, &ops)?;
        let first: Vec<[u32; 2]> = (0..self.keys()).map(|rank| [key(rank), WRITE]).collect();
        let first = DeviceVec::from_slice(&self.device, &first)?;
        let lanes = (ops.len() / IN_TURN) as u32;
        let config = LaunchConfig::for_num_elems(lanes);
        let mut mixed = DeviceVec::<Mixed>::zeroed(&self.device, lanes as usize)?;
        let (mut best, mut missed, mut wrong) = (Duration::MAX, 0, 0);
        for _ in 0..RUNS {
            let pool = self.pool()?;
            let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, self.bits)?;
            let kernels = &self.kernels;
            kernels.map_mix(&pool, config, map.map(), &first, lanes, &mut mixed)?;
            wrong += mixed.to_vec()?.iter().map(|lane| lane.failed).sum::<u32>();
            let done = kernels.map_mix(&pool, config, map.map(), &given, lanes, &mut mixed)?;
            let each = mixed.to_vec()?;
            missed = each.iter().map(|lane| lane.missed).sum::<u32>();
            wrong += each
                .iter()
                .map(|lane| lane.wrong + lane.failed)
                .sum::<u32>();
            wrong += self.differences(&map, &ops, kind)?;
            best = best.min(done.device_time);
        }
        // Only keys that come in the same launch may not be there yet.
        wrong += if kind == Kind::Bring { 0 } else { missed };
        let rate = ops.len() as f64 / best.as_secs_f64() / 1e6;
        let verdict = if wrong == 0 { "" } else { "  wrong" };
        println!("{name:<44} {rate:>9.0} {missed:>10}{verdict}");
        Ok(wrong == 0)
    }

    /// How many keys of the map have a value that they cannot have.
    fn differences(
        &self,
        map: &DeviceHashMap<u32, u32, WarpHeap>,
        ops: &[[u32; 2]],
        kind: Kind,
    ) -> Result<u32, DeviceError> {
        let mut keys: Vec<u32> = (0..self.keys()).map(key).collect();
        if kind == Kind::Bring {
            keys.extend(ops.iter().filter(|op| op[1] == WRITE).map(|op| op[0]));
        }
        let values = map.get_all(&keys)?;
        let mut added = vec![0u32; keys.len()];
        for (rank, _) in self.ranks.iter().zip(ops).filter(|(_, op)| op[1] == ADD) {
            added[*rank as usize] = added[*rank as usize].wrapping_add(ONE);
        }
        let is_right = |(at, (&key, &value)): (usize, (&u32, &Option<u32>))| {
            let Some(value) = value else { return false };
            // It was brought by the operation of its number.
            let count = ((at as u32) << 16).wrapping_add(added[at]);
            value & (ONE - 1) == mark(key) && (kind != Kind::Add || value & !(ONE - 1) == count)
        };
        let right = keys
            .iter()
            .zip(&values)
            .enumerate()
            .filter(|&pair| is_right(pair));
        Ok((keys.len() - right.count()) as u32)
    }

    /// Lanes bring and remove keys of their own; whether the map was right.
    fn age(&self) -> Result<bool, DeviceError> {
        let lanes = (self.keys() / OWN * 2).max(1);
        let config = LaunchConfig::for_num_elems(lanes);
        let pool = self.pool()?;
        let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, self.bits)?;
        let mut aged = DeviceVec::<Aged>::zeroed(&self.device, lanes as usize)?;
        // A look and a change.
        let of_launch = u64::from(lanes) * u64::from(STEPS) * 2;
        let launches = AGING.min(of_launch * 64).div_ceil(of_launch) as u32;
        let mut times = Vec::new();
        let mut used = Vec::new();
        for launch in 0..launches {
            let done = self
                .kernels
                .map_age(&pool, config, map.map(), launch, STEPS, &mut aged)?;
            times.push(of_launch as f64 / done.device_time.as_secs_f64() / 1e6);
            used.push(pool.stats()?.usage.used_bytes as f64 / 1e6);
        }
        let aged = aged.to_vec()?;
        let keys: Vec<u32> = (0..lanes * OWN)
            .map(|at| own_key(at / OWN, at % OWN))
            .collect();
        let values = map.get_all(&keys)?;
        let different = keys
            .iter()
            .zip(&values)
            .enumerate()
            .filter(|(at, (key, value))| {
                let there = aged[at / OWN as usize].present >> (at % OWN as usize) & 1 != 0;
                **value != there.then(|| own_value(**key))
            });
        let wrong = aged.iter().map(|lane| lane.wrong).sum::<u32>() + different.count() as u32;
        let failed: u32 = aged.iter().map(|lane| lane.failed).sum();
        let last = launches as usize - 1;
        println!(
            "{} operations by {lanes} lanes that bring and remove keys of their own: {:.0} -> {:.0} M/s, {:.1} -> {:.1} MB, {failed} failed, {wrong} wrong",
            of_launch * u64::from(launches),
            times[last.min(1)],
            times[last],
            used[last.min(1)],
            used[last],
        );
        Ok(wrong == 0)
    }
}

/// The key of that number. An odd factor keeps them distinct.
fn key(number: u32) -> u32 {
    number.wrapping_mul(0x9e37_79b1)
}
