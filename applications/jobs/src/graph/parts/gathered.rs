//! What all ranks found, on rank 0.

use crate::error::JobError;
use crate::graph::report::{Phases, RankReport, Run, Step, TOP, Top};
use crate::ranks::exchanged::Exchanged;
use crate::ranks::nanos;
use std::time::Duration;
use warpheap_dist::World;

/// Reports of all ranks, in their order.
pub fn ranks(world: &World, mine: &RankReport) -> Result<Vec<RankReport>, JobError> {
    let mut numbers = vec![
        mine.edges_read,
        mine.vertices,
        mine.edges,
        mine.bytes_sent,
        mine.bytes_gathered,
        nanos(mine.load),
        nanos(mine.exchanged.cut),
        nanos(mine.exchanged.cut_device),
        nanos(mine.exchanged.exchange),
        nanos(mine.exchanged.hidden),
        nanos(mine.degrees),
        nanos(mine.reference),
    ];
    for run in &mine.runs {
        put_run(run, &mut numbers);
    }
    let all = world.gather(&numbers)?;
    let report = |(rank, numbers): (usize, Vec<u64>)| {
        let (head, mut rest) = numbers.split_first_chunk::<12>()?;
        let [
            edges_read,
            vertices,
            edges,
            bytes_sent,
            bytes_gathered,
            times @ ..,
        ] = *head;
        let [load, cut, cut_device, exchange, hidden, degrees, reference] =
            times.map(Duration::from_nanos);
        // All ranks run the same allocators.
        let runs = mine.runs.iter().map(|run| run_of(run, &mut rest));
        Some(RankReport {
            rank,
            edges_read,
            vertices,
            edges,
            bytes_sent,
            bytes_gathered,
            load,
            exchanged: Exchanged {
                cut,
                cut_device,
                exchange,
                hidden,
            },
            degrees,
            reference,
            runs: runs.collect::<Option<_>>()?,
        })
    };
    Ok(all.into_iter().enumerate().filter_map(report).collect())
}

/// Appends the numbers of a run from which all else follows.
fn put_run(run: &Run, numbers: &mut Vec<u64>) {
    let phases = &run.phases;
    let error = run.rank_error.map_or(f64::NAN, |error| error);
    numbers.extend([
        run.pool_bytes,
        run.batches.into(),
        run.mallocs,
        run.frees,
        run.bytes_live,
        run.bytes_used,
        run.checksum,
        error.to_bits(),
        run.rank_sum.to_bits(),
        nanos(phases.prepare),
        nanos(phases.upload),
        nanos(phases.insert),
        nanos(phases.insert_device),
        nanos(phases.rank),
        nanos(phases.rank_device),
        nanos(phases.all_gather),
        nanos(phases.collect),
        nanos(phases.free),
        nanos(phases.free_device),
        nanos(phases.check),
    ]);
    numbers.push(run.steps.len() as u64);
    let steps = run.steps.iter();
    numbers.extend(steps.flat_map(|step| [step.pool_bytes, nanos(step.time)]));
    numbers.push(run.top.len() as u64);
    let of_top = |top: &Top| [top.vertex, top.rank.to_bits().into(), top.in_degree.into()];
    numbers.extend(run.top.iter().flat_map(of_top));
}

/// The run that the first of these numbers are of, which are taken away; with the settings of a run of this rank.
fn run_of(mine: &Run, numbers: &mut &[u64]) -> Option<Run> {
    let (head, rest) = numbers.split_first_chunk::<20>()?;
    *numbers = rest;
    let [
        pool_bytes,
        batches,
        mallocs,
        frees,
        bytes_live,
        bytes_used,
        checksum,
        error,
        sum,
        times @ ..,
    ] = *head;
    let times = times.map(Duration::from_nanos);
    let error = f64::from_bits(error);
    let step = |[pool_bytes, time]: [u64; 2]| Step {
        pool_bytes,
        time: Duration::from_nanos(time),
    };
    let steps = listed(numbers)?.into_iter().map(step).collect();
    let top = |[vertex, rank, in_degree]: [u64; 3]| Top {
        vertex,
        rank: f32::from_bits(rank as u32),
        in_degree: in_degree as u32,
    };
    let top = listed(numbers)?.into_iter().map(top).collect();
    Some(Run {
        allocator: mine.allocator,
        pool_bytes,
        steps,
        batch_edges: mine.batch_edges,
        batches: batches as u32,
        mallocs,
        frees,
        bytes_live,
        bytes_used,
        utilisation: Run::utilisation(bytes_live, bytes_used),
        iterations: mine.iterations,
        rank_error: (!error.is_nan()).then_some(error),
        rank_sum: f64::from_bits(sum),
        checksum,
        phases: Phases {
            prepare: times[0],
            upload: times[1],
            insert: times[2],
            insert_device: times[3],
            rank: times[4],
            rank_device: times[5],
            all_gather: times[6],
            collect: times[7],
            free: times[8],
            free_device: times[9],
            check: times[10],
        },
        top,
    })
}

/// A list of groups of numbers behind how many they are; it is taken away.
fn listed<const N: usize>(numbers: &mut &[u64]) -> Option<Vec<[u64; N]>> {
    let (length, rest) = numbers.split_first()?;
    let (list, rest) = rest.split_at_checked(usize::try_from(*length).ok()?.checked_mul(N)?)?;
    *numbers = rest;
    Some(list.as_chunks::<N>().0.to_vec())
}

/// The runs of all ranks with each allocator as one: sums of what they take and find, the longest of times, and the vertices of highest
/// rank of all. How heaps grew is in those of the ranks.
pub fn together(ranks: &[RankReport]) -> Vec<Run> {
    let number = ranks.first().map_or(0, |rank| rank.runs.len());
    let one = |number: usize| {
        let runs = ranks.iter().filter_map(|rank| rank.runs.get(number));
        runs.cloned().reduce(both)
    };
    let top = |mut run: Run| {
        let by_rank = |a: &Top, b: &Top| b.rank.total_cmp(&a.rank).then(a.vertex.cmp(&b.vertex));
        run.top.sort_unstable_by(by_rank);
        run.top.truncate(TOP);
        run.steps.clear();
        run
    };
    (0..number).filter_map(one).map(top).collect()
}

/// The runs of two ranks.
fn both(one: Run, two: Run) -> Run {
    let bytes_live = one.bytes_live + two.bytes_live;
    let bytes_used = one.bytes_used + two.bytes_used;
    let errors = [one.rank_error, two.rank_error];
    Run {
        pool_bytes: one.pool_bytes + two.pool_bytes,
        batches: one.batches.saturating_add(two.batches),
        mallocs: one.mallocs + two.mallocs,
        frees: one.frees + two.frees,
        bytes_live,
        bytes_used,
        utilisation: Run::utilisation(bytes_live, bytes_used),
        rank_error: errors.into_iter().flatten().reduce(f64::max),
        rank_sum: one.rank_sum + two.rank_sum,
        checksum: one.checksum.wrapping_add(two.checksum),
        phases: one.phases.longest(two.phases),
        top: [one.top, two.top].concat(),
        ..one
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(number: u64, rank_error: Option<f64>) -> Run {
        let time = |times: u64| Duration::from_millis(times * number);
        let phases = Phases {
            prepare: time(1),
            upload: time(2),
            insert: time(3),
            insert_device: time(4),
            rank: time(5),
            rank_device: time(6),
            all_gather: time(7),
            collect: time(8),
            free: time(9),
            free_device: time(10),
            check: time(11),
        };
        let top = |at: u64| Top {
            vertex: 100 * number + at,
            rank: 0.25 / at as f32,
            in_degree: 7,
        };
        let step = Step {
            pool_bytes: number << 20,
            time: time(12),
        };
        Run {
            allocator: "Bump",
            pool_bytes: number << 20,
            steps: vec![step; number as usize],
            batch_edges: 100,
            batches: 3,
            mallocs: 40,
            frees: 41,
            bytes_live: 100 * number,
            bytes_used: 200,
            utilisation: 0.5 * number as f64,
            iterations: 20,
            rank_error,
            rank_sum: 0.5,
            checksum: u64::MAX - number,
            phases,
            top: (1..=8).map(top).collect(),
        }
    }

    #[test]
    fn a_run_is_its_numbers() {
        let runs = [run(1, Some(1e-6)), run(2, None), run(0, None)];
        let mut numbers = Vec::new();
        runs.iter().for_each(|run| put_run(run, &mut numbers));
        let mut rest = &numbers[..];
        for run in &runs {
            let again = run_of(run, &mut rest);
            assert_eq!(format!("{again:?}"), format!("{:?}", Some(run)));
        }
        assert!(rest.is_empty());
        assert!(run_of(&runs[0], &mut &numbers[..30]).is_none());
    }

    #[test]
    fn runs_together_have_what_all_have_and_take_as_long_as_the_longest() {
        let rank = |rank, run| RankReport {
            rank,
            runs: vec![run],
            ..RankReport::default()
        };
        let all = together(&[rank(0, run(2, Some(1e-6))), rank(1, run(1, Some(1e-5)))]);
        let [all] = &all[..] else {
            panic!("{all:?}");
        };
        assert_eq!((all.pool_bytes, all.utilisation), (3 << 20, 0.75));
        assert_eq!((all.rank_error, all.rank_sum), (Some(1e-5), 1.0));
        assert_eq!(all.checksum, u64::MAX - 4);
        assert_eq!(all.phases.all_gather, Duration::from_millis(14));
        let top: Vec<u64> = all.top.iter().map(|top| top.vertex).collect();
        assert_eq!(top, [101, 201, 102, 202, 103, 203, 104, 204, 105, 205]);
        assert!(all.steps.is_empty());
    }
}
