//! A hash map that grows from a root of 16 slots while a launch fills it, and is asked by another.

use super::Job;
use super::jobs::{footprint, time};
use warpheap::device::*;
use warpheap::{Device, DeviceHashMap, DeviceVec, HostAlloc, LaunchConfig, MapAlloc};
use warpheap_applications::map::{MapFindEntry, MapInsertEntry};
use warpheap_bench::program::Measured;
use warpheap_bench::row::Metric;
use warpheap_bench::scenario::Scenario;
use warpheap_jobs::error::JobError;

/// Fresh maps of which the times are told, after one that is not.
const RUNS: usize = 5;
/// Logarithm of the slots of the root.
const ROOT_BITS: u32 = 4;
/// Bytes of the largest block of a map but for its root: a node.
const NODE: u32 = 64;
/// Bytes of a heap for each key: leaves and nodes take some 40, and walks want free places to find.
const ROOM: u64 = 256;

/// The keys on the device.
pub struct Keys {
    device: Device,
    kernels: warpheap_applications::Kernels,
    keys: DeviceVec<u32>,
    results: DeviceVec<u32>,
}

/// 2^`bits` distinct keys.
pub fn growing(device: &Device, bits: u32) -> Job<Keys> {
    let device = device.clone();
    Job {
        scenario: Scenario::S17,
        case: format!("2^{bits} keys"),
        n: 1 << bits,
        make: Box::new(move || Keys::new(&device, bits)),
        ready: None,
        measure: by_name,
    }
}

impl Keys {
    fn new(device: &Device, bits: u32) -> Result<Self, JobError> {
        // An odd factor keeps them distinct.
        let keys: Vec<u32> = (0..1u32 << bits)
            .map(|i| i.wrapping_mul(0x9e37_79b1))
            .collect();
        Ok(Keys {
            kernels: warpheap_applications::load(device)?,
            keys: DeviceVec::from_slice(device, &keys)?,
            results: DeviceVec::zeroed(device, keys.len())?,
            device: device.clone(),
        })
    }
}

macro_rules! by_name {
    ($($allocator:ident),* $(,)?) => {
        /// The measurement with the allocator of this name.
        fn by_name(keys: &Keys, name: &str) -> Result<Measured, JobError> {
            $(if name == $allocator::NAME {
                return measure::<$allocator>(keys);
            })*
            Err(JobError::Usage(format!("there is no allocator `{name}`")))
        }
    };
}

warpheap::rt::for_each_allocator!(by_name);

fn measure<A>(keys: &Keys) -> Result<Measured, JobError>
where
    A: HostAlloc + MapAlloc + MapInsertEntry + MapFindEntry,
{
    let Keys {
        device,
        kernels,
        keys,
        results,
    } = keys;
    let wrong = |what| JobError::Wrong {
        allocator: A::NAME,
        backend: device.info().backend.to_string(),
        what,
    };
    let config = LaunchConfig::for_num_elems(keys.len() as u32);
    let bytes = (keys.len() as u64 * ROOM).max(64 << 20);
    let (mut inserts, mut finds) = (Vec::new(), Vec::new());
    let mut taken = None;
    for run in 0..=RUNS {
        let pool = device.reserve_with::<A>(bytes, &A::config_for(NODE))?;
        let map = DeviceHashMap::<u32, u32, A>::new(&pool, ROOT_BITS)?;
        let inserted = kernels.map_insert(&pool, config, map.map(), keys, keys, results)?;
        let fresh = results.to_vec()?.iter().filter(|&&new| new == 1).count();
        if fresh != keys.len() {
            let all = keys.len();
            return Err(wrong(format!("{fresh} of {all} keys were new to the map")));
        }
        let found = kernels.map_find(&pool, config, map.map(), keys, results)?;
        if results.to_vec()? != keys.to_vec()? {
            return Err(wrong("keys were not found with their values".to_owned()));
        }
        if run > 0 {
            inserts.push(inserted.device_time);
            finds.push(found.device_time);
        }
        let usage = pool.stats()?.usage;
        taken = Some(footprint(usage.committed_bytes, usage.used_bytes));
    }
    let mut metrics: Vec<Metric> = vec![time("insert", &inserts), time("find", &finds)];
    metrics.extend(taken);
    Ok(Measured {
        pool_bytes: bytes,
        metrics,
    })
}
