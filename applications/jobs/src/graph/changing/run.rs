//! One run: all steps with one allocator.

use super::context::Context;
use super::expected::Phase;
use super::merge::{Kernels, Rows};
use super::report::{Footprint, Run, SearchTime};
use super::room::Room;
use crate::error::JobError;
use crate::graph::check::{self, Mismatch};
use crate::graph::pool::need;
use crate::pool::Failed;
use crate::progress::kept;
use warpheap::Pool;

/// Runs the job with the allocator `A`.
///
/// # Errors
/// The pool is too small or cannot be had, the device fails, or its answer is wrong.
pub fn run<A: Kernels>(context: &Context<'_>) -> Result<Run, JobError> {
    let (info, demand) = (context.device.info(), &context.expected.demand);
    let need = need::<A>(info, demand);
    Ok(need.tried(context.pool, |bytes| attempt::<A>(context, bytes))?)
}

fn attempt<A: Kernels>(context: &Context<'_>, bytes: u64) -> Result<Run, Failed> {
    let expected = context.expected;
    let pool = context.device.reserve::<A>(bytes).map_err(Failed::NoPool)?;
    let room = Room::new(context.device, expected)?;
    let rows = Rows::new(context, &pool, &room)?;
    let mut run = Run::new(A::NAME, pool.bytes());
    let bar = context.progress.bar(
        format!("{}: changing the graph", A::NAME),
        expected.steps.len() as u64,
    );
    for (number, step) in expected.steps.iter().enumerate() {
        let merged = rows.merge(&expected.batches[step.batch], step.adding());
        let label = format!("step {}: {}", number + 1, step.phase.name());
        let merged = kept(context.progress, &pool, "merging failed", merged);
        let mut merged = merged.map_err(|failed| failed.told_by(&pool))?;
        let counted = number as u32 + 1;
        if counted.is_multiple_of(context.compact_every) || step.state.is_some() {
            merged.times += rows.compact(context.compact)?;
        }
        context.progress.snapshots().take(&pool, label)?;
        if merged.changed != step.changed {
            let (expected, got) = (step.changed as usize, merged.changed as usize);
            return Err(wrong::<A>(context, Mismatch::Count { expected, got }).into());
        }
        let tied = footprint(&pool, step.phase)?;
        run.most_tied = run.most_tied.max(tied.ratio());
        match step.phase {
            Phase::Init => run.init += merged.times,
            Phase::Insert => run.inserts.push(merged.times),
            Phase::Delete => run.deletes.push(merged.times),
        }
        if let Some(number) = step.state {
            let state = &expected.states[number];
            let (mut neighbours, lengths) = rows.read()?;
            let same = check::degrees(&state.degrees(), &lengths, context.base)
                .and_then(|()| check::neighbours(state, &mut neighbours, context.base));
            same.map_err(|mismatch| wrong::<A>(context, mismatch))?;
            run.footprint.push(tied);
            if step.phase == Phase::Init && context.triangles {
                let (found, time) = rows.triangles()?;
                let known = expected.triangles.unwrap_or(0);
                if found != known {
                    let what = Mismatch::Triangles {
                        expected: known,
                        got: found,
                    };
                    return Err(wrong::<A>(context, what).into());
                }
                run.triangles = Some(time);
            }
            if let Some(ranked) = expected.ranked.get(number) {
                let (ranks, time) = rows.rank(ranked)?;
                check::ranks(&ranked.ranks, &ranks, context.base)
                    .map_err(|mismatch| wrong::<A>(context, mismatch))?;
                run.page_ranks.push(time);
            }
            if let Some(search) = expected.searches.get(number) {
                let reached = rows.reach(search.source)?;
                check::levels(&search.levels, &reached.levels, context.base)
                    .and_then(|()| check::count(search.reached as usize, reached.count as usize))
                    .map_err(|mismatch| wrong::<A>(context, mismatch))?;
                run.searches
                    .push(SearchTime::new(search.edges, reached.time));
            }
            if let Some(connected) = expected.connected.get(number) {
                let (smallest, time) = rows.components()?;
                check::components(&connected.smallest, &smallest, context.base)
                    .map_err(|mismatch| wrong::<A>(context, mismatch))?;
                run.components.push(time);
            }
        }
        bar.advance(1);
    }
    run.free = rows.free()?;
    let stats = pool.stats()?;
    context.progress.snapshots().always(&pool, "all freed")?;
    (run.mallocs, run.frees) = (stats.mallocs, stats.frees);
    for (what, expected, got) in [
        ("frees", stats.mallocs, stats.frees),
        ("live bytes after freeing", 0, stats.live_bytes()),
    ] {
        if expected != got {
            let what = Mismatch::Heap {
                what,
                expected,
                got,
            };
            return Err(wrong::<A>(context, what).into());
        }
    }
    Ok(run)
}

fn wrong<A: Kernels>(context: &Context<'_>, mismatch: Mismatch) -> JobError {
    JobError::Wrong {
        allocator: A::NAME,
        backend: context.device.info().backend.to_string(),
        what: mismatch.to_string(),
    }
}

fn footprint<A: Kernels>(pool: &Pool<A>, phase: Phase) -> Result<Footprint, Failed> {
    let stats = pool.stats()?;
    Ok(Footprint {
        after: phase.name(),
        bytes_live: stats.live_bytes(),
        bytes_used: stats.usage.committed_bytes,
    })
}
