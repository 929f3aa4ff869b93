//! S20: the requests of a trace.

use super::refusal::Refusal;
use super::{Bench, Measured, footprint};
use crate::lab::{Lab, Loaded, spread};
use crate::row::{Metric, Row, Unit};
use crate::stats::Spread;
use std::time::Duration;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, Pool, Prepared};
use warpheap_bench_kernels::churn::{DAMAGED, FAILED, FREED};
use warpheap_bench_kernels::replay::{COUNTS, HAD, Place, RESIZED, SKIPPED};

/// The most launches that are queued together.
const QUEUED: usize = 32;

/// A table of blocks that are not there.
fn places(lab: &Lab, blocks: u32) -> Result<DeviceVec<Place>, DeviceError> {
    let none = Place {
        block: DevicePtr::NULL,
        bytes: 0,
    };
    DeviceVec::from_slice(lab.device(), &vec![none; blocks as usize])
}

/// Bytes of the blocks that are there.
fn held(places: &[Place]) -> u64 {
    let there = places.iter().filter(|place| !place.block.is_null());
    there.map(|place| u64::from(place.bytes)).sum()
}

/// What came of the requests.
struct Came {
    counts: Vec<u32>,
    live: u64,
    footprint: Option<Metric>,
}

pub(super) fn measure<A: Measured>(bench: Bench<'_, A>) -> Result<Row, DeviceError> {
    let mut row = bench.row();
    let (lab, pool) = (bench.lab, bench.pool);
    let Some(loaded) = lab.replay() else {
        row.status = "not measured: there is no trace".to_string();
        return Ok(row);
    };
    let places = places(lab, loaded.script.blocks)?;
    let counts = DeviceVec::<u32>::zeroed(lab.device(), COUNTS)?;
    let launches = launches(lab, loaded, pool, &places, &counts);
    let came = look(lab, loaded, pool, &launches, &places, &counts)?;
    let times = lab.repeat(|| Ok(Ok::<_, Refusal>(time(lab, loaded, pool, &launches)?)))?;
    let damaged = Refusal::of_damaged(counts.to_vec()?[DAMAGED]);
    let times = match (times, damaged) {
        (_, Some(refusal)) | (Err(refusal), None) => {
            refusal.tell(&mut row);
            return Ok(row);
        }
        (Ok(times), None) => times,
    };
    let totals: Vec<Duration> = times.iter().map(|times| times.iter().sum()).collect();
    tell(
        &mut row,
        loaded.script.requests,
        &totals,
        &times.concat(),
        came,
    );
    Ok(row)
}

/// A launch for each round.
fn launches<A: Measured>(
    lab: &Lab,
    loaded: &Loaded,
    pool: &Pool<A>,
    places: &DeviceVec<Place>,
    counts: &DeviceVec<u32>,
) -> Vec<Prepared> {
    let rounds = loaded.script.rounds.iter();
    rounds
        .map(|round| {
            lab.kernels().replay_launch(
                pool,
                Lab::shape(round.lanes),
                &loaded.steps,
                &loaded.begins,
                places,
                counts,
                round.first,
                round.lanes,
            )
        })
        .collect()
}

/// Makes all requests once, untimed, and looks at the heap after each round.
fn look<A: Measured>(
    lab: &Lab,
    loaded: &Loaded,
    pool: &mut Pool<A>,
    launches: &[Prepared],
    places: &DeviceVec<Place>,
    counts: &DeviceVec<u32>,
) -> Result<Came, DeviceError> {
    pool.reset()?;
    let (mut most, mut live): (Option<Metric>, u64) = (None, 0);
    for (round, launch) in loaded.script.rounds.iter().zip(launches) {
        if round.fresh {
            pool.reset()?;
        }
        lab.device().run_all(std::slice::from_ref(launch))?;
        live = match counts.to_vec()?[FAILED] {
            0 => round.live,
            _ => held(&places.to_vec()?[round.since as usize..]),
        };
        let now = footprint::of(pool, live)?;
        let median = |metric: &Option<Metric>| metric.as_ref().map_or(0.0, |m| m.value.median);
        if median(&now) > median(&most) {
            most = now;
        }
    }
    Ok(Came {
        counts: counts.to_vec()?,
        live,
        footprint: most,
    })
}

/// Makes all requests once, and gives the time of each round.
fn time<A: Measured>(
    lab: &Lab,
    loaded: &Loaded,
    pool: &mut Pool<A>,
    launches: &[Prepared],
) -> Result<Vec<Duration>, DeviceError> {
    pool.reset()?;
    let mut times = Vec::new();
    let rounds: Vec<_> = loaded.script.rounds.iter().zip(launches).collect();
    for part in rounds.chunk_by(|_, (next, _)| !next.fresh) {
        if part[0].0.fresh {
            pool.reset()?;
        }
        for queued in part.chunks(QUEUED) {
            let queued: Vec<Prepared> =
                queued.iter().map(|(_, launch)| (*launch).clone()).collect();
            let reports = lab.time(&queued)?;
            times.extend(reports.iter().map(|report| report.device_time));
        }
    }
    Ok(times)
}

fn tell(row: &mut Row, requests: u64, totals: &[Duration], rounds: &[Duration], came: Came) {
    let (failed, skipped) = (came.counts[FAILED], came.counts[SKIPPED]);
    if failed != 0 {
        row.status = format!("{failed} of {requests} requests failed, {skipped} frees skipped");
    }
    for (name, times) in [(Metric::TOTAL, totals), (Metric::LAUNCH, rounds)] {
        row.metrics
            .push(Metric::new(name, Unit::Millis, spread(times)));
    }
    let share = Spread::exactly(100.0 * f64::from(failed) / requests as f64);
    row.metrics
        .push(Metric::new(Metric::FAILED, Unit::Percent, share));
    row.metrics.extend(came.footprint);
    for (name, number) in [
        (Metric::MALLOCS, HAD),
        (Metric::RESIZES, RESIZED),
        (Metric::FREES, FREED),
    ] {
        let number = Spread::exactly(came.counts[number].into());
        row.metrics
            .push(Metric::new(name, Unit::Count, number).more_is_better());
    }
    let live = Spread::exactly(came.live as f64);
    row.metrics
        .push(Metric::new(Metric::LIVE, Unit::Bytes, live).more_is_better());
}
