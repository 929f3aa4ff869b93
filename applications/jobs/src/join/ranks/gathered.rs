//! What all ranks found, on rank 0.

use crate::error::JobError;
use crate::join::report::{Found, Phases, RankReport, Run};
use crate::ranks::exchanged::Exchanged;
use crate::ranks::nanos;
use std::time::Duration;
use warpheap_dist::World;

/// Reports of all ranks, in their order.
pub fn ranks(
    world: &World,
    mine: &RankReport,
    page_bytes: u32,
) -> Result<Vec<RankReport>, JobError> {
    let mut numbers = vec![
        mine.rows_read,
        mine.rows_left,
        mine.rows_right,
        mine.bytes_sent,
        nanos(mine.load),
        nanos(mine.exchanged.cut),
        nanos(mine.exchanged.cut_device),
        nanos(mine.exchanged.exchange),
        nanos(mine.exchanged.hidden),
        nanos(mine.reference),
        nanos(mine.upload),
    ];
    numbers.extend(mine.runs.iter().flat_map(run_numbers));
    let all = world.gather(&numbers)?;
    let report = |(rank, numbers): (usize, Vec<u64>)| {
        let (head, runs) = numbers.split_first_chunk::<11>()?;
        let [rows_read, rows_left, rows_right, bytes_sent, times @ ..] = *head;
        let [load, cut, cut_device, exchange, hidden, reference, upload] =
            times.map(Duration::from_nanos);
        // All ranks run the same allocators.
        let runs = mine.runs.iter().zip(runs.as_chunks().0);
        Some(RankReport {
            rank,
            rows_read,
            rows_left,
            rows_right,
            bytes_sent,
            load,
            exchanged: Exchanged {
                cut,
                cut_device,
                exchange,
                hidden,
            },
            reference,
            upload,
            runs: runs
                .map(|(run, numbers)| run_of(run.allocator, rows_right, page_bytes, numbers))
                .collect(),
        })
    };
    Ok(all.into_iter().enumerate().filter_map(report).collect())
}

/// The numbers of a run from which all else follows.
fn run_numbers(run: &Run) -> [u64; 14] {
    let phases = &run.phases;
    [
        run.pool_bytes,
        run.found.pages,
        run.found.matches,
        run.found.checksum,
        nanos(phases.partition),
        nanos(phases.partition_device),
        nanos(phases.build),
        nanos(phases.build_device),
        nanos(phases.probe),
        nanos(phases.probe_device),
        nanos(phases.collect),
        nanos(phases.free),
        nanos(phases.free_device),
        nanos(phases.check),
    ]
}

/// The run of these numbers.
fn run_of(allocator: &'static str, rows: u64, page_bytes: u32, numbers: &[u64; 14]) -> Run {
    let [pool_bytes, pages, matches, checksum, times @ ..] = *numbers;
    let times = times.map(Duration::from_nanos);
    let found = Found {
        pages,
        matches,
        checksum,
    };
    let phases = Phases {
        partition: times[0],
        partition_device: times[1],
        build: times[2],
        build_device: times[3],
        probe: times[4],
        probe_device: times[5],
        collect: times[6],
        free: times[7],
        free_device: times[8],
        check: times[9],
    };
    Run::new(allocator, pool_bytes, rows, found, page_bytes, phases)
}

/// The runs of all ranks with each allocator as one, of so many right `rows`.
pub fn together(ranks: &[RankReport], rows: u64, page_bytes: u32) -> Vec<Run> {
    let first = ranks.iter().take(1).flat_map(|rank| &rank.runs).enumerate();
    let one = |(number, run): (usize, &Run)| {
        let runs = ranks.iter().filter_map(|rank| rank.runs.get(number));
        Run::of_all(run.allocator, runs, rows, page_bytes)
    };
    first.map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pages: u64, probe: u64) -> Run {
        let found = Found {
            pages,
            matches: 3 * pages,
            checksum: u64::MAX,
        };
        let time = Duration::from_millis;
        let phases = Phases {
            partition: time(1),
            partition_device: time(2),
            build: time(3),
            build_device: time(4),
            probe: Duration::from_secs(probe),
            probe_device: Duration::ZERO,
            collect: time(5),
            free: time(6),
            free_device: time(7),
            check: time(8),
        };
        Run::new("Bump", 1 << 20, 200, found, 32, phases)
    }

    #[test]
    fn a_run_is_its_numbers() {
        let run = run(5, 1);
        let again = run_of("Bump", 200, 32, &run_numbers(&run));
        assert_eq!(format!("{again:?}"), format!("{run:?}"));
    }

    #[test]
    fn runs_together_find_what_all_find_and_take_as_long_as_the_longest() {
        let rank = |rank, runs| RankReport {
            rank,
            rows_read: 0,
            rows_left: 0,
            rows_right: 200,
            bytes_sent: 0,
            load: Duration::ZERO,
            exchanged: Exchanged::default(),
            reference: Duration::ZERO,
            upload: Duration::ZERO,
            runs,
        };
        let ranks = [rank(0, vec![run(5, 1)]), rank(1, vec![run(7, 4)])];
        let all = together(&ranks, 8_000_000, 32);
        let found = Found {
            pages: 12,
            matches: 36,
            checksum: u64::MAX - 1,
        };
        assert_eq!((all[0].found, all[0].pool_bytes), (found, 2 << 20));
        assert_eq!((all.len(), all[0].probe_mtuples_per_s), (1, 2.0));
    }
}
