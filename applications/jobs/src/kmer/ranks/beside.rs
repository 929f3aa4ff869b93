//! Counting beside the exchange: what a round brought is counted while others are on their way.

use super::estimate;
use super::spread::{self, Cuts, Spread};
use crate::allocators::Allocator;
use crate::clock::Clock;
use crate::error::JobError;
use crate::kmer::arrivals::{Arrivals, Counted};
use crate::kmer::options::Options;
use crate::kmer::report::Run;
use crate::kmer::run::Context;
use crate::kmer::{Job, Sequences};
use crate::progress::Progress;
use std::convert::Infallible;
use std::time::{Duration, Instant};
use warpheap::Device;
use warpheap_applications::Kernels;
use warpheap_dist::World;

/// What came, and what was counted of it.
pub struct Beside {
    /// What came.
    pub spread: Spread,
    /// The run of the allocator that counted all, if it could: its heap was made for as many k-mers as were to be expected.
    pub run: Option<Run>,
    /// What it counted.
    pub counted: Counted,
    /// Getting the heap, an empty map and memory for the rounds.
    pub ready: Duration,
    /// From the first cut to the last count.
    pub time: Duration,
    /// Bytes of sequence that went to other ranks.
    pub sent: u64,
    /// K-mers of the part that this rank read.
    pub kmers: u64,
}

/// Brings k-mers to the ranks that count them, where this allocator counts what has come. A call of all ranks.
///
/// # Errors
/// As [`spread::spread`]; a heap that was not left empty.
pub fn spread(
    world: &World,
    devices: &[(Device, Kernels)],
    allocator: Option<&Allocator<Job>>,
    sequences: &Sequences,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Beside, JobError> {
    let (survey, kmers) = estimate::of_a_rank(world, sequences, options)?;
    let before = world.bytes_sent();
    let (sender, ready, arrivals) = Arrivals::new();
    let begun = Clock::start(&devices[0].0);
    let cuts = Cuts::new(world.size(), &devices[0], sequences, options);
    let cuts = world.agree(cuts.map_err(JobError::from))?;
    let none = Sequences::default();
    let context = Context {
        devices,
        sequences: &none,
        survey,
        counts: None,
        k: options.k,
        top: options.top,
        canonical: options.canonical,
        pool: options.pool,
        batch: options.batch,
        arrivals: Some(&arrivals),
        progress,
    };
    let (spread, [started, exchanged], ready_time, run) = std::thread::scope(|scope| {
        let arrivals = &arrivals;
        let count = |allocator: &Allocator<Job>| {
            let waiting = arrivals.waiting();
            let job = allocator.job;
            let context = &context;
            scope.spawn(move || {
                let _waiting = waiting;
                job(context)
            })
        };
        let counting = allocator.map(count);
        // All have their heap and an empty map, or none, when the first is sent: what is measured is the way of the k-mers.
        if counting.is_some() {
            let _closed = ready.recv();
        }
        let Ok(()) = world.agree(Ok::<(), Infallible>(()));
        let (started, ready_time) = (Instant::now(), begun.elapsed());
        let spread = spread::spread(world, &devices[0].0, cuts, sender, progress);
        let exchanged = Instant::now();
        let run = counting.map(|thread| match thread.join() {
            Ok(run) => run,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        (spread, [started, exchanged], ready_time, run)
    });
    let counted = arrivals.finish();
    // What comes behind it, such as reading the map, is in the run's times.
    let end = counted.work.end().unwrap_or(exchanged).max(exchanged);
    let run = match run {
        Some(Err(failure)) => match JobError::from(failure) {
            error if error.is_wrong() => Err(error),
            // There may be room for it once it is known how many there are.
            _ => Ok(None),
        },
        Some(Ok(run)) => Ok(Some(run)),
        None => Ok(None),
    };
    Ok(Beside {
        spread: spread?,
        run: world.agree(run)?,
        counted,
        ready: ready_time,
        time: end - started,
        sent: world.bytes_sent() - before,
        kmers,
    })
}
