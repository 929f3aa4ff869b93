//! One run of the join: one allocator on one device.

use super::check::{self, Mismatch};
use super::context::Context;
use super::hashed::Hashed;
use super::pool;
use super::probe::{Joins, Output, Timed};
use super::report::{Found, Phases, Run};
use super::{reference, tables};
use crate::clock::Clock;
use crate::error::JobError;
use crate::pool::Failed;
use crate::progress::kept;
use std::time::{Duration, Instant};
use warpheap::{DeviceError, Pool};

/// Runs the join with the allocator `A`.
///
/// # Errors
/// The pool is too small or cannot be had, the device fails, or its answer is wrong.
pub fn run<A: Joins>(context: &Context<'_>) -> Result<Run, JobError> {
    let mut phases = Phases::default();
    let hashed = Hashed::new(context, &mut phases)?;
    let need = pool::need::<A>(context.device.info(), &context.shape);
    Ok(need.tried(context.pool, |bytes| {
        attempt::<A>(context, &hashed, bytes, phases)
    })?)
}

fn attempt<A: Joins>(
    context: &Context<'_>,
    hashed: &Hashed,
    bytes: u64,
    phases: Phases,
) -> Result<Run, Failed> {
    let config = A::config_for(context.shape.page_bytes);
    let mut pool: Pool<A> = context
        .device
        .reserve_with(bytes, &config)
        .map_err(Failed::NoPool)?;
    let done = probes(context, hashed, &mut pool, phases);
    let ended = context.progress.heap_ends(pool.raw());
    // What failed says more than that there is no trace of it.
    let run = done?;
    ended?;
    Ok(run)
}

fn probes<A: Joins>(
    context: &Context<'_>,
    hashed: &Hashed,
    pool: &mut Pool<A>,
    mut phases: Phases,
) -> Result<Run, Failed> {
    let label = format!("{}: probing", A::NAME);
    let bar = context.progress.bar(label, context.repeats.into());
    let (mut probes, mut frees) = (Vec::new(), Vec::new());
    let mut found = Found::default();
    for round in 0..context.repeats {
        if round > 0 && !A::CAPS.frees {
            pool.reset()?;
        }
        let output = Output::new(context)?;
        let probed = output.probe(context, pool, hashed);
        let label = format!("probe {} failed", round + 1);
        match kept(context.progress, pool, &label, probed) {
            Ok(time) => probes.push(time),
            Err(DeviceError::Kernel(failure)) => {
                return Err(Failed::Full(failure.into(), None).told_by(pool));
            }
            Err(error) => return Err(error.into()),
        }
        found = check_output(context, pool, &output, &mut phases)?;
        let label = format!("probe {}", round + 1);
        context.progress.snapshots().take(pool, label)?;
        frees.push(output.free(context, pool)?);
        if A::CAPS.frees {
            check::emptied(&pool.stats()?).map_err(|mismatch| wrong::<A>(context, mismatch))?;
        }
        bar.advance(1);
    }
    context.progress.snapshots().always(pool, "all freed")?;
    let median = |times: &[Timed], of: fn(&Timed) -> Duration| {
        let mut times: Vec<Duration> = times.iter().map(of).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    };
    phases.probe = median(&probes, |time| time.wall);
    phases.probe_device = median(&probes, |time| time.device);
    phases.free = median(&frees, |time| time.wall);
    phases.free_device = median(&frees, |time| time.device);
    let rows = context.right.len() as u64;
    let page_bytes = context.shape.page_bytes;
    Ok(Run::new(
        A::NAME,
        pool.bytes(),
        rows,
        found,
        page_bytes,
        phases,
    ))
}

/// Compares what the probe left with the reference, if there is one, and returns what it is.
fn check_output<A: Joins>(
    context: &Context<'_>,
    pool: &Pool<A>,
    output: &Output,
    phases: &mut Phases,
) -> Result<Found, JobError> {
    let wrong = |mismatch| wrong::<A>(context, mismatch);
    let lists = output.lists()?;
    let sum = |of: fn((u32, u32)) -> u32| -> u64 {
        let each = lists.iter().map(|list| of((list.count, list.matches)));
        each.map(u64::from).sum()
    };
    let (pages, matches) = (sum(|list| list.0), sum(|list| list.1));
    // Before matches are copied to as many places.
    match context.expected {
        Some(expected) => check::count(expected.len() as u64, matches).map_err(wrong)?,
        None => tables::check_matches(matches)?,
    }
    check::filled(pages, &pool.stats()?).map_err(wrong)?;
    let started = Clock::start(context.device);
    let found = output.collect(context, pool, &lists)?;
    phases.collect = started.elapsed();
    let started = Instant::now();
    if let Some(expected) = context.expected {
        check::matches(expected, &found).map_err(wrong)?;
    }
    let checksum = reference::checksum(&found);
    phases.check = started.elapsed();
    Ok(Found {
        pages,
        matches,
        checksum,
    })
}

fn wrong<A: Joins>(context: &Context<'_>, mismatch: Mismatch) -> JobError {
    JobError::Wrong {
        allocator: A::NAME,
        backend: context.device.info().backend.to_string(),
        what: mismatch.to_string(),
    }
}
