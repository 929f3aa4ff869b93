//! One run: one allocator on one device, or on several, each with a part.

use super::arrivals::Arrivals;
use super::check::{check, check_empty, counted_all};
use super::parts::{Part, merged, sorted};
use super::pool::{self, Demand, NODE_BYTES};
use super::reference::Counts;
use super::report::{PartRun, Phases, Run, Shared, rate};
use super::sequences::Sequences;
use super::survey::Survey;
use crate::clock::Clock;
use crate::device::label;
use crate::error::JobError;
use crate::pool::{Failed, Failure};
use crate::progress::{Furthest, Progress, Silent, kept};
use crate::room::first_copy;
use crate::threads::each;
use std::time::Instant;
use warpheap::api::AllocError;
use warpheap::{
    Device, DeviceError, DeviceHashMap, DeviceVec, KernelFailure, LaunchConfig, MapAlloc, Pool,
};
use warpheap_applications::Kernels;
use warpheap_applications::kmer::{Kmer, KmerCountEntry};
use warpheap_applications::supermer::add::SupermerAddEntry;

/// An allocator that the kernels of the job are compiled for.
pub trait CountsKmers: MapAlloc + KmerCountEntry + SupermerAddEntry {}

impl<A: MapAlloc + KmerCountEntry + SupermerAddEntry> CountsKmers for A {}

/// What a run works with.
pub struct Context<'a> {
    /// The devices, each with the kernels loaded on it; at least one.
    pub devices: &'a [(Device, Kernels)],
    /// What is counted.
    pub sequences: &'a Sequences,
    /// How many k-mers there are, and about how many different ones.
    pub survey: Survey,
    /// What comes out, if the CPU has counted.
    pub counts: Option<&'a Counts>,
    /// Bases of a k-mer.
    pub k: u32,
    /// How many of the most frequent ones are kept.
    pub top: usize,
    /// Whether a k-mer and its reverse complement are one.
    pub canonical: bool,
    /// Bytes of the pool, if the user named them.
    pub pool: Option<u64>,
    /// Places of a launch.
    pub batch: u32,
    /// Where sequences come from beside those that are there, if some are still on their way. Then nobody knows yet what comes out, and
    /// what the map held is kept there.
    pub arrivals: Option<&'a Arrivals>,
    /// Where progress is shown, and where snapshots of the heap go.
    pub progress: &'a dyn Progress,
}

/// What became of the map, by what was said of a block that it could not have.
fn failed(error: DeviceError) -> Failed {
    // Lanes contend for longer than they may where there is little left: more memory serves them too.
    let full = |failure: &KernelFailure| failure.by_cause[0] != 0 || failure.by_cause[1] != 0;
    let unsupported = |failure: &KernelFailure| failure.by_cause[2] != 0;
    match &error {
        DeviceError::Kernel(failure) if full(failure) => Failed::Full(error, None),
        DeviceError::Heap {
            cause: AllocError::Exhausted,
            ..
        } => Failed::Full(error, None),
        DeviceError::Kernel(failure) if unsupported(failure) => Failed::Unsupported(error),
        DeviceError::Heap {
            cause: AllocError::Unsupported,
            ..
        } => Failed::Unsupported(error),
        _ => error.into(),
    }
}

/// A device and its part of the work.
struct Share<'a> {
    device: &'a Device,
    kernels: &'a Kernels,
    part: Part<'a>,
    /// What is said of the device where something is wrong: nothing if it is the only one.
    label: String,
    /// Where snapshots go.
    progress: &'a dyn Progress,
    /// Shows how far it is on the bar of all, if there are several.
    bar: Option<Furthest<'a>>,
}

/// What a device counted: its pairs, and how.
type Counted = (Vec<(Kmer, u32)>, PartRun);

/// Runs the job with the allocator `A`.
///
/// # Errors
/// A pool is too small or cannot be had, a device fails, or the answer is wrong.
pub fn run<A: CountsKmers>(context: &Context<'_>) -> Result<Run, Failure> {
    let k = context.k;
    let counted = match context.devices {
        [(device, kernels)] => {
            let whole = 0..context.sequences.places(k);
            vec![count_part::<A>(
                context,
                &Share {
                    device,
                    kernels,
                    part: context.sequences.part(&whole),
                    label: String::new(),
                    progress: context.progress,
                    bar: None,
                },
            )?]
        }
        _ => at_once::<A>(context)?,
    };
    let (lists, parts): (Vec<_>, Vec<_>) = counted.into_iter().unzip();
    let started = Instant::now();
    let is_shared = context.devices.len() > 1;
    let bytes_entries = lists.iter().map(Vec::len).sum::<usize>() * size_of::<(Kmer, u32)>();
    let pairs = merged(lists);
    let merge = started.elapsed();

    let mut phases = Phases::default();
    for part in &parts {
        phases = phases.longest(part.phases);
    }
    let sum = |of: fn(&PartRun) -> u64| parts.iter().map(of).sum::<u64>();
    let bytes_used = sum(|part| part.bytes_used);
    let mut run = Run {
        allocator: A::NAME,
        pool_bytes: sum(|part| part.pool_bytes),
        root_bits: parts.iter().map(|part| part.root_bits).max().unwrap_or(0),
        batches: parts.iter().map(|part| part.batches).sum(),
        bytes_entries: bytes_entries as u64,
        bytes_blocks: sum(|part| part.bytes_blocks),
        bytes_used,
        utilisation: bytes_entries as f64 / bytes_used.max(1) as f64,
        mkmers_per_s: rate(sum(|part| part.kmers), phases.count_device),
        phases,
        shared: is_shared.then_some(Shared { merge, parts }),
        found: None,
    };
    match context.arrivals {
        Some(arrivals) => arrivals.keep(pairs),
        None => conclude(context, &mut run, &pairs).map_err(Failure::Other)?,
    }
    Ok(run)
}

/// Holds what a map held against what the CPU counted, or what is known without; the time that it takes is the run's.
///
/// # Errors
/// [`JobError::Wrong`].
pub(super) fn conclude(
    context: &Context<'_>,
    run: &mut Run,
    pairs: &[(Kmer, u32)],
) -> Result<(), JobError> {
    let started = Instant::now();
    let found = match context.counts {
        Some(counts) => check(counts, pairs).map(|()| None),
        None => counted_all(context, pairs).map(Some),
    };
    run.found = found.map_err(|what| wrong(context, run.allocator, what))?;
    run.phases.check += started.elapsed();
    Ok(())
}

/// Lets each device count a part, all at the same time.
fn at_once<A: CountsKmers>(context: &Context<'_>) -> Result<Vec<Counted>, Failure> {
    let sequences = context.sequences;
    let ranges = sequences.ranges(context.k, context.devices.len());
    let places = sequences.places(context.k);
    let title = format!("{}: counting k-mers", A::NAME);
    let bar = context.progress.bar(title, places.into());
    let shares = ranges.iter().zip(context.devices).enumerate();
    let shares = shares.map(|(at, (range, (device, kernels)))| Share {
        device,
        kernels,
        part: sequences.part(range),
        label: label(device, at),
        progress: &Silent,
        bar: Some(Furthest::of(&*bar)),
    });
    let shares: Vec<Share<'_>> = shares.collect();
    let counted = each(shares.iter().collect(), |share: &Share<'_>| {
        count_part::<A>(context, share).map_err(|failure| failure.of(&share.label))
    });
    // All have ended before one is looked at.
    counted.into_iter().collect()
}

/// Counts the part of one device.
fn count_part<A: CountsKmers>(
    context: &Context<'_>,
    share: &Share<'_>,
) -> Result<Counted, Failure> {
    // How many different ones are in a part nobody knows: at most as many as there are at all.
    let mut distinct = context.survey.distinct;
    if context.arrivals.is_none() {
        distinct = distinct.min(share.part.places.into());
    }
    let demand = Demand::new::<A>(share.device, distinct);
    let need = pool::need::<A>(share.device, demand);
    if context.arrivals.is_some() {
        // What has come comes once: there is no second try.
        let bytes = context.pool.unwrap_or(need.enough.min(need.limit));
        let counted = attempt::<A>(context, share, demand, bytes);
        return counted.map_err(|failed| Failure::Cannot(failed.into()));
    }
    need.tried(context.pool, |bytes| {
        attempt::<A>(context, share, demand, bytes)
    })
}

/// The error for a wrong answer.
fn wrong(context: &Context<'_>, allocator: &'static str, what: String) -> JobError {
    JobError::Wrong {
        allocator,
        backend: context.devices[0].0.info().backend.to_string(),
        what,
    }
}

fn attempt<A: CountsKmers>(
    context: &Context<'_>,
    share: &Share<'_>,
    demand: Demand,
    bytes: u64,
) -> Result<Counted, Failed> {
    let device = share.device;
    let pool = device
        .reserve_with::<A>(bytes, &A::config_for(NODE_BYTES))
        .map_err(Failed::NoPool)?;
    let done = in_pool(context, share, demand, &pool);
    let ended = share.progress.heap_ends(pool.raw());
    // What failed says more than that there is no trace of it.
    let counted = done?;
    ended?;
    Ok(counted)
}

/// Counts in a map of this pool, which is empty again afterwards.
fn in_pool<A: CountsKmers>(
    context: &Context<'_>,
    share: &Share<'_>,
    demand: Demand,
    pool: &Pool<A>,
) -> Result<Counted, Failed> {
    let device = share.device;
    let root_bits = demand.root_bits::<A>();
    let map = DeviceHashMap::<Kmer, u32, A>::new(pool, root_bits).map_err(failed)?;
    let mut phases = Phases::default();
    let counted = count(context, share, pool, &map, &mut phases);
    let counted = kept(share.progress, pool, "counting failed", counted);
    let batches = counted.map_err(|error| failed(error).told_by(pool))?;
    let grown = pool.stats()?.usage;

    let started = Clock::start(device);
    let mut pairs = map.to_vec()?;
    phases.read = started.elapsed();

    let started = Clock::start(device);
    drop(map);
    phases.free = started.elapsed();

    let started = Instant::now();
    let wrong = |what| Failed::Other(wrong(context, A::NAME, what));
    if share.bar.is_some() {
        sorted(&mut pairs, context.k).map_err(wrong)?;
    }
    check_empty(pool).map_err(wrong)?;
    share.progress.snapshots().always(pool, "map dropped")?;
    phases.check = started.elapsed();

    let part = PartRun {
        places: share.part.places,
        kmers: pairs.iter().map(|(_, count)| u64::from(*count)).sum(),
        distinct: pairs.len() as u64,
        pool_bytes: pool.bytes(),
        root_bits,
        batches,
        bytes_blocks: grown.used_bytes,
        bytes_used: grown.committed_bytes,
        phases,
    };
    Ok((pairs, part))
}

/// Counts all k-mers of a part in the map, and of what arrives; the number of batches.
fn count<A: CountsKmers>(
    context: &Context<'_>,
    share: &Share<'_>,
    pool: &Pool<A>,
    map: &DeviceHashMap<Kmer, u32, A>,
    phases: &mut Phases,
) -> Result<u32, DeviceError> {
    let (of_one, own);
    let bar = match &share.bar {
        Some(bar) => bar,
        None => {
            let label = format!("{}: counting k-mers", A::NAME);
            of_one = share.progress.bar(label, share.part.places.into());
            own = Furthest::of(&*of_one);
            &own
        }
    };
    let (mut batches, mut reached) = (0, 0);
    // Before anything is timed, and before others wait for what is counted.
    let (image, entry) = match context.arrivals {
        None => (<A as KmerCountEntry>::IMAGE, <A as KmerCountEntry>::ENTRY),
        Some(_) => (
            <A as SupermerAddEntry>::IMAGE,
            <A as SupermerAddEntry>::ENTRY,
        ),
    };
    share
        .kernels
        .module(image)
        .load_kernel(entry, LaunchConfig::for_num_elems(1).block_dim)?;
    let mut one = |part: Part<'_>| -> Result<(), DeviceError> {
        first_copy(share.device, size_of_val(part.bases))?;
        let started = Instant::now();
        let bases = DeviceVec::from_slice(share.device, part.bases)?;
        let breaks = DeviceVec::from_slice(share.device, part.breaks)?;
        phases.upload += started.elapsed();
        let mut first = 0;
        while first < part.places {
            let here = context.batch.min(part.places - first);
            let started = Instant::now();
            let shape = LaunchConfig::for_num_elems(here);
            let report = share.kernels.kmer_count(
                pool,
                shape,
                map.map(),
                &bases,
                &breaks,
                first,
                here,
                context.k,
                context.canonical.into(),
            )?;
            phases.count += started.elapsed();
            phases.count_device += report.device_time;
            first += here;
            batches += 1;
            let done = format_args!("batch {batches} counted");
            share.progress.snapshots().take(pool, done)?;
            reached += u64::from(here);
            bar.reached(reached);
        }
        Ok(())
    };
    match context.arrivals {
        None => one(share.part)?,
        Some(arrivals) => {
            let added = DeviceVec::<u32>::zeroed(share.device, 1)?;
            arrivals.each(|pieces| {
                let started = Instant::now();
                let (k, canonical) = (context.k, context.canonical.into());
                added.fill_zero()?;
                let shape = LaunchConfig::for_num_elems(pieces.len() as u32);
                let report = share.kernels.supermer_add(
                    pool,
                    shape,
                    map.map(),
                    pieces,
                    &added,
                    k,
                    canonical,
                )?;
                let mut number = [0];
                added.copy_to(&mut number)?;
                let [number] = number;
                phases.count += started.elapsed();
                phases.count_device += report.device_time;
                batches += 1;
                let done = format_args!("round {batches} counted");
                share.progress.snapshots().take(pool, done)?;
                reached += u64::from(number);
                bar.reached(reached);
                Ok::<u32, DeviceError>(number)
            })?;
        }
    }
    Ok(batches)
}
