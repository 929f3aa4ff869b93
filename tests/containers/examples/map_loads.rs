//! What a hash map does under the loads of programs, with the default allocator: sums on keys as uneven as words of a text,
//! one key that all lanes bring, keys that come and go, lists of values; and how many bytes a pair takes.
//! `map_loads [log2 of the number of keys]`.

use rand::{Rng, SeedableRng, rngs::SmallRng};
use std::process::ExitCode;
use std::time::Duration;
use warpheap::device::*;
use warpheap::{Device, DeviceError, DeviceHashMap, DeviceMultiMap, DeviceVec, LaunchConfig, Pool};
use warpheap_container_tests::load::{bits_of_keys, zipf};
use warpheap_map_kernels as kernels;
use warpheap_set_kernels as lists;

/// Fresh maps, of which the fastest counts.
const RUNS: usize = 5;
/// Rounds in which half of the keys go and come.
const ROUNDS: usize = 20;

fn main() -> ExitCode {
    match bits_of_keys().and_then(|bits| run(bits).map_err(|error| error.to_string())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

struct Loads {
    device: Device,
    kernels: kernels::Kernels,
    lists: lists::Kernels,
    bits: u32,
    /// Twice as many as a map has at a time.
    keys: Vec<u32>,
}

fn run(bits: u32) -> Result<(), DeviceError> {
    let device = Device::open()?;
    device.keep_pace(true);
    println!("{}: 2^{bits} keys", device.info().name);
    let loads = Loads {
        kernels: kernels::load(&device)?,
        lists: lists::load(&device)?,
        device,
        bits,
        // An odd factor keeps them distinct.
        keys: (0..2u32 << bits)
            .map(|i| i.wrapping_mul(0x9e37_79b1))
            .collect(),
    };
    loads.inserts()?;
    loads.uneven_sums()?;
    loads.one_key()?;
    loads.aging(false)?;
    loads.aging(true)?;
    loads.lists()
}

impl Loads {
    fn pool(&self) -> Result<Pool<WarpHeap>, DeviceError> {
        let bytes = ((1u64 << self.bits) * 128).max(64 << 20);
        self.device.reserve::<WarpHeap>(bytes)
    }

    fn upload(&self, words: &[u32]) -> Result<DeviceVec<u32>, DeviceError> {
        DeviceVec::from_slice(&self.device, words)
    }

    fn live(&self) -> usize {
        1 << self.bits
    }

    /// Sized before, and into a root of 16 words: rates, and bytes in use for each pair.
    fn inserts(&self) -> Result<(), DeviceError> {
        let keys = self.upload(&self.keys[..self.live()])?;
        let results = DeviceVec::zeroed(&self.device, self.live())?;
        let config = LaunchConfig::for_num_elems(1 << self.bits);
        for root_bits in [self.bits, 4] {
            let mut best = [Duration::MAX; 2];
            let mut bytes = 0;
            for _ in 0..RUNS {
                let pool = self.pool()?;
                let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, root_bits)?;
                let insert =
                    self.kernels
                        .map_insert(&pool, config, map.map(), &keys, &keys, &results)?;
                check("insert", &results, |result| result == 1)?;
                let find = self
                    .kernels
                    .map_get(&pool, config, map.map(), &keys, &results)?;
                check("find", &results, |result| result != kernels::maps::NONE)?;
                best = [
                    best[0].min(insert.device_time),
                    best[1].min(find.device_time),
                ];
                bytes = pool.stats()?.usage.used_bytes;
            }
            let [insert, find] = best.map(|time| rate(self.live(), time));
            let pair = bytes as f64 / self.live() as f64;
            println!(
                "root 2^{root_bits}: insert {insert:.0}, find {find:.0} M/s, {pair:.1} bytes a pair"
            );
        }
        Ok(())
    }

    /// Four sums for each key, Zipf with exponent 1.
    fn uneven_sums(&self) -> Result<(), DeviceError> {
        let count = self.live() * 4;
        let mut random = SmallRng::seed_from_u64(1);
        let keys: Vec<u32> = (0..count)
            .map(|_| self.keys[zipf(&mut random, self.live())])
            .collect();
        let keys = self.upload(&keys)?;
        let ones = self.upload(&vec![1; count])?;
        let results = DeviceVec::zeroed(&self.device, count)?;
        let config = LaunchConfig::for_num_elems(count as u32);
        let mut best = [Duration::MAX; 2];
        for _ in 0..RUNS {
            let pool = self.pool()?;
            let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, self.bits)?;
            for best in &mut best {
                let add = self
                    .kernels
                    .map_add(&pool, config, map.map(), &keys, &ones, &results)?;
                check("add", &results, |result| result < 2)?;
                *best = (*best).min(add.device_time);
            }
        }
        let [new, known] = best.map(|time| rate(count, time));
        println!("sums on uneven keys: {new:.0} M/s into an empty map, {known:.0} once more");
        Ok(())
    }

    /// All lanes bring one key, which has no slot but a leaf.
    fn one_key(&self) -> Result<(), DeviceError> {
        let count = self.live().min(1 << 20);
        let keys = self.upload(&vec![7; count])?;
        let results = DeviceVec::zeroed(&self.device, count)?;
        let config = LaunchConfig::for_num_elems(count as u32);
        for root_bits in [10, 4] {
            let pool = self.pool()?;
            let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, root_bits)?;
            let before = pool.stats()?.usage;
            let done = self
                .kernels
                .map_insert(&pool, config, map.map(), &keys, &keys, &results)?;
            check("insert", &results, |result| result < 2)?;
            let new = results.to_vec()?.iter().sum::<u32>();
            let after = pool.stats()?.usage;
            println!(
                "one key by {count} lanes, root 2^{root_bits}: {:.0} us, new for {new}, {} bytes",
                done.device_time.as_secs_f64() * 1e6,
                after.used_bytes - before.used_bytes,
            );
        }
        Ok(())
    }

    /// Half of the keys go and come again, or, with tidying, others come in their place.
    fn aging(&self, others: bool) -> Result<(), DeviceError> {
        let half = self.live() / 2;
        let parts: Vec<DeviceVec<u32>> = self
            .keys
            .chunks(half)
            .map(|part| self.upload(part))
            .collect::<Result<_, _>>()?;
        let results = DeviceVec::zeroed(&self.device, half)?;
        let config = LaunchConfig::for_num_elems(half as u32);
        let pool = self.pool()?;
        let map = DeviceHashMap::<u32, u32, WarpHeap>::new(&pool, self.bits)?;
        let insert = |part: &DeviceVec<u32>| {
            let done = self
                .kernels
                .map_insert(&pool, config, map.map(), part, part, &results)?;
            check("insert", &results, |result| result == 1)?;
            Ok::<_, DeviceError>(done.device_time)
        };
        insert(&parts[0])?;
        insert(&parts[1])?;
        let first = pool.stats()?.usage.used_bytes;
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            let gone = &parts[if others { round % 4 } else { 0 }];
            let come = &parts[if others { (round + 2) % 4 } else { 0 }];
            let remove = self
                .kernels
                .map_remove(&pool, config, map.map(), gone, &results)?;
            check("remove", &results, |result| result == 1)?;
            let mut tidy = Duration::ZERO;
            if others {
                tidy = self.kernels.map_tidy(&pool, config, map.map())?.device_time;
            }
            times.push([remove.device_time, tidy, insert(come)?]);
        }
        let last = pool.stats()?.usage.used_bytes;
        let ms = |times: [Duration; 3]| times.map(|time| time.as_secs_f64() * 1e3);
        let (a, b) = (ms(times[0]), ms(times[ROUNDS - 1]));
        let what = if others {
            "other keys"
        } else {
            "the same keys"
        };
        println!(
            "{ROUNDS} rounds, half of the keys go, {what} come: remove {:.2} -> {:.2}, tidy {:.2} -> {:.2}, insert {:.2} -> {:.2} ms, {:.1} -> {:.1} MB",
            a[0],
            b[0],
            a[1],
            b[1],
            a[2],
            b[2],
            first as f64 / 1e6,
            last as f64 / 1e6,
        );
        Ok(())
    }

    /// Sixteen values for each key.
    fn lists(&self) -> Result<(), DeviceError> {
        let different = (self.live() / 16).max(1);
        let mut random = SmallRng::seed_from_u64(2);
        let keys: Vec<u32> = (0..self.live())
            .map(|_| self.keys[random.random_range(0..different)])
            .collect();
        let keys = self.upload(&keys)?;
        let config = LaunchConfig::for_num_elems(1 << self.bits);
        let mut best = Duration::MAX;
        let mut bytes = 0;
        for _ in 0..RUNS {
            let pool = self.pool()?;
            let root_bits = different.ilog2();
            let map = DeviceMultiMap::<u32, u32, WarpHeap>::new(&pool, root_bits)?;
            let push = self
                .lists
                .multi_push(&pool, config, map.map(), &keys, &keys)?;
            best = best.min(push.device_time);
            bytes = pool.stats()?.usage.used_bytes;
        }
        let pair = bytes as f64 / self.live() as f64;
        println!(
            "lists of 16 values: push {:.0} M/s, {pair:.1} bytes a value",
            rate(self.live(), best)
        );
        Ok(())
    }
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64() / 1e6
}

fn check(
    what: &str,
    results: &DeviceVec<u32>,
    good: impl Fn(u32) -> bool,
) -> Result<(), DeviceError> {
    let bad = results.to_vec()?.iter().filter(|&&r| !good(r)).count();
    if bad > 0 {
        println!("{what}: {bad} lanes had another result");
    }
    Ok(())
}
