//! One run: one allocator on one device.

use super::pool::{self, Demand, NODE_BYTES};
use super::reference::Counts;
use super::report::{Phases, Run};
use super::sequences::{Sequences, letters};
use crate::error::JobError;
use crate::pool::{Failed, Failure};
use crate::progress::{Progress, kept};
use std::time::Instant;
use warpheap::api::AllocError;
use warpheap::{
    Device, DeviceError, DeviceHashMap, DeviceVec, HostAlloc, KernelFailure, LaunchConfig,
    MapAlloc, Pool,
};
use warpheap_applications::Kernels;
use warpheap_applications::kmer::{Kmer, KmerCountEntry};

/// What a run works with.
pub struct Context<'a> {
    /// The device.
    pub device: &'a Device,
    /// The kernels, loaded on it.
    pub kernels: &'a Kernels,
    /// What is counted.
    pub sequences: &'a Sequences,
    /// What comes out.
    pub counts: &'a Counts,
    /// Whether a k-mer and its reverse complement are one.
    pub canonical: bool,
    /// Bytes of the pool, if the user named them.
    pub pool: Option<u64>,
    /// Places of a launch.
    pub batch: u32,
    /// Where progress is shown, and where snapshots of the heap go.
    pub progress: &'a dyn Progress,
}

/// What became of the map, by what was said of a block that it could not have.
fn failed(error: DeviceError) -> Failed {
    // Lanes contend for longer than they may where there is little left: more memory serves them too.
    let full = |failure: &KernelFailure| failure.by_cause[0] != 0 || failure.by_cause[1] != 0;
    let unsupported = |failure: &KernelFailure| failure.by_cause[2] != 0;
    match &error {
        DeviceError::Kernel(failure) if full(failure) => Failed::Full(error),
        DeviceError::Heap {
            cause: AllocError::Exhausted,
            ..
        } => Failed::Full(error),
        DeviceError::Kernel(failure) if unsupported(failure) => Failed::Unsupported(error),
        DeviceError::Heap {
            cause: AllocError::Unsupported,
            ..
        } => Failed::Unsupported(error),
        _ => error.into(),
    }
}

/// Runs the job with the allocator `A`.
///
/// # Errors
/// The pool is too small or cannot be had, the device fails, or its answer is wrong.
pub fn run<A: MapAlloc + KmerCountEntry>(context: &Context<'_>) -> Result<Run, Failure> {
    let demand = Demand::new::<A>(context.device, context.counts.distinct());
    let need = pool::need::<A>(context.device, demand);
    need.tried(context.pool, |bytes| attempt::<A>(context, demand, bytes))
}

fn attempt<A: MapAlloc + KmerCountEntry>(
    context: &Context<'_>,
    demand: Demand,
    bytes: u64,
) -> Result<Run, Failed> {
    let device = context.device;
    let pool = device
        .reserve_with::<A>(bytes, &A::config_for(NODE_BYTES))
        .map_err(Failed::NoPool)?;
    let root_bits = demand.root_bits::<A>();
    let map = DeviceHashMap::<Kmer, u32, A>::new(&pool, root_bits).map_err(failed)?;
    let mut phases = Phases::default();
    let counted = count(context, &pool, &map, &mut phases);
    let counted = kept(context.progress, &pool, "counting failed", counted);
    let batches = counted.map_err(failed)?;
    let grown = pool.stats()?.usage;

    let started = Instant::now();
    let pairs = map.to_vec()?;
    phases.read = started.elapsed();

    let started = Instant::now();
    drop(map);
    phases.free = started.elapsed();

    let started = Instant::now();
    let wrong = |what| {
        Failed::Other(JobError::Wrong {
            allocator: A::NAME,
            backend: context.device.info().backend.to_string(),
            what,
        })
    };
    check(context.counts, &pairs).map_err(wrong)?;
    check_empty(&pool).map_err(wrong)?;
    context.progress.snapshots().always(&pool, "map dropped")?;
    phases.check = started.elapsed();

    let bytes_entries = pairs.len() as u64 * size_of::<(Kmer, u32)>() as u64;
    let bytes_used = grown.committed_bytes;
    let seconds = phases.count_device.as_secs_f64().max(1e-9);
    Ok(Run {
        allocator: A::NAME,
        pool_bytes: pool.bytes(),
        root_bits,
        batches,
        bytes_entries,
        bytes_blocks: grown.used_bytes,
        bytes_used,
        utilisation: bytes_entries as f64 / bytes_used.max(1) as f64,
        mkmers_per_s: context.counts.total as f64 / seconds / 1e6,
        phases,
    })
}

/// Counts all k-mers in the map, batch by batch; the number of batches.
fn count<A: MapAlloc + KmerCountEntry>(
    context: &Context<'_>,
    pool: &Pool<A>,
    map: &DeviceHashMap<Kmer, u32, A>,
    phases: &mut Phases,
) -> Result<u32, DeviceError> {
    let sequences = context.sequences;
    let started = Instant::now();
    let bases = DeviceVec::from_slice(context.device, &sequences.bases)?;
    let breaks = DeviceVec::from_slice(context.device, &sequences.breaks)?;
    phases.upload = started.elapsed();

    let places = sequences.places(context.counts.k);
    let label = format!("{}: counting k-mers", A::NAME);
    let bar = context.progress.bar(label, places.into());
    let (mut first, mut batches) = (0, 0);
    while first < places {
        let here = context.batch.min(places - first);
        let started = Instant::now();
        let shape = LaunchConfig::for_num_elems(here);
        let report = context.kernels.kmer_count(
            pool,
            shape,
            map.map(),
            &bases,
            &breaks,
            first,
            here,
            context.counts.k,
            context.canonical.into(),
        )?;
        phases.count += started.elapsed();
        phases.count_device += report.device_time;
        first += here;
        batches += 1;
        let done = format_args!("batch {batches} counted");
        context.progress.snapshots().take(pool, done)?;
        bar.advance(here.into());
    }
    Ok(batches)
}

/// Holds what was read from a map against what the CPU counted.
fn check(counts: &Counts, pairs: &[(Kmer, u32)]) -> Result<(), String> {
    for (kmer, got) in pairs {
        let key = u64::from(kmer.high) << 32 | u64::from(kmer.low);
        let count = counts.of.get(&key).copied().unwrap_or(0);
        if *got != count {
            let kmer = letters(key, counts.k);
            return Err(format!("{kmer} was counted {got} times, not {count}"));
        }
    }
    let (got, distinct) = (pairs.len() as u64, counts.distinct());
    if got != distinct {
        return Err(format!("{got} different k-mers, not {distinct}"));
    }
    Ok(())
}

/// Makes sure that all memory came back, where blocks can be freed.
fn check_empty<A: HostAlloc>(pool: &Pool<A>) -> Result<(), String> {
    let used = pool
        .stats()
        .map_err(|error| error.to_string())?
        .usage
        .used_bytes;
    if A::CAPS.frees && used != 0 {
        return Err(format!("{used} bytes are in use after the map was freed"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::reference;
    use super::super::sequences::tests::of;
    use super::*;

    #[test]
    fn every_difference_is_found() {
        let counts = reference::count(&of("ACGA"), 2, false);
        let pair = |low, count| (Kmer { high: 0, low }, count);
        let right = [pair(0b0001, 1), pair(0b0110, 1), pair(0b1000, 1)];
        assert_eq!(check(&counts, &right), Ok(()));
        let differs = |pairs: &[(Kmer, u32)]| check(&counts, pairs).unwrap_err();
        assert_eq!(differs(&right[1..]), "2 different k-mers, not 3");
        let more = [right[0], pair(0b0110, 2), right[2]];
        assert_eq!(differs(&more), "CG was counted 2 times, not 1");
        let other = [right[0], right[1], pair(0b1111, 1)];
        assert_eq!(differs(&other), "TT was counted 1 times, not 0");
        let twice = [right[0], right[1], right[2], right[0]];
        assert_eq!(differs(&twice), "4 different k-mers, not 3");
    }
}
