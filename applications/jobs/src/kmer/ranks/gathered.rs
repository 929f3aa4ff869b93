//! What all ranks found, on rank 0.

use crate::error::JobError;
use crate::kmer::frequencies;
use crate::kmer::report::{Found, Frequency, Phases, RankReport, Run, rate};
use crate::kmer::tally::by_frequency;
use crate::ranks::exchanged::Exchanged;
use crate::ranks::nanos;
use std::collections::BTreeMap;
use std::time::Duration;
use warpheap_dist::World;

/// The most frequent k-mers of all ranks, with how often they come: as [`Found::top`].
pub fn top(world: &World, mine: &Found, number: usize) -> Result<Vec<(u64, u32)>, JobError> {
    let pair = |(kmer, count): (u64, u32)| [kmer, count.into()];
    let mine: Vec<u64> = mine.top.iter().copied().flat_map(pair).collect();
    let all = world.gather(&mine)?;
    // Each k-mer is on one rank.
    let mut all: Vec<(u64, u32)> = pairs(&all).map(|[kmer, n]| (kmer, n as u32)).collect();
    all.sort_unstable_by(by_frequency);
    all.truncate(number);
    Ok(all)
}

/// How many k-mers of all ranks there are of each frequency: as [`Found::spectrum`].
pub fn spectrum(world: &World, mine: &Found) -> Result<Vec<Frequency>, JobError> {
    let pair = |(count, kmers): (u32, u64)| [count.into(), kmers];
    let mine: Vec<u64> = mine.spectrum.iter().copied().flat_map(pair).collect();
    let mut all = BTreeMap::new();
    for [count, kmers] in pairs(&world.gather(&mine)?) {
        *all.entry(count as u32).or_insert(0) += kmers;
    }
    Ok(frequencies(all))
}

fn pairs(all: &[Vec<u64>]) -> impl Iterator<Item = [u64; 2]> {
    all.iter()
        .flat_map(|of_rank| of_rank.as_chunks().0.iter().copied())
}

/// Reports of all ranks, in their order.
pub fn ranks(world: &World, mine: &RankReport) -> Result<Vec<RankReport>, JobError> {
    let mut numbers = vec![
        mine.bases,
        mine.kmers,
        mine.distinct,
        mine.bytes_sent,
        nanos(mine.load),
        nanos(mine.exchanged.cut),
        nanos(mine.exchanged.cut_device),
        nanos(mine.exchanged.exchange),
        nanos(mine.exchanged.hidden),
        nanos(mine.ready),
        nanos(mine.spread),
        nanos(mine.reference),
    ];
    numbers.extend(mine.runs.iter().flat_map(run_numbers));
    let all = world.gather(&numbers)?;
    let report = |(rank, numbers): (usize, Vec<u64>)| {
        let (head, runs) = numbers.split_first_chunk::<12>()?;
        let [bases, kmers, distinct, bytes_sent, times @ ..] = *head;
        let [
            load,
            cut,
            cut_device,
            exchange,
            hidden,
            ready,
            spread,
            reference,
        ] = times.map(Duration::from_nanos);
        // All ranks run the same allocators.
        let runs = mine.runs.iter().zip(runs.as_chunks().0);
        Some(RankReport {
            rank,
            bases,
            kmers,
            distinct,
            bytes_sent,
            load,
            exchanged: Exchanged {
                cut,
                cut_device,
                exchange,
                hidden,
            },
            ready,
            spread,
            reference,
            runs: runs
                .map(|(run, numbers)| run_of(run.allocator, numbers))
                .collect(),
        })
    };
    Ok(all.into_iter().enumerate().filter_map(report).collect())
}

/// The numbers of a run.
fn run_numbers(run: &Run) -> [u64; 14] {
    let phases = &run.phases;
    [
        run.pool_bytes,
        run.root_bits.into(),
        run.batches.into(),
        run.bytes_entries,
        run.bytes_blocks,
        run.bytes_used,
        run.utilisation.to_bits(),
        run.mkmers_per_s.to_bits(),
        nanos(phases.upload),
        nanos(phases.count),
        nanos(phases.count_device),
        nanos(phases.read),
        nanos(phases.free),
        nanos(phases.check),
    ]
}

/// The run of these numbers.
fn run_of(allocator: &'static str, numbers: &[u64; 14]) -> Run {
    let time = |at: usize| Duration::from_nanos(numbers[at]);
    Run {
        allocator,
        pool_bytes: numbers[0],
        root_bits: numbers[1] as u32,
        batches: numbers[2] as u32,
        bytes_entries: numbers[3],
        bytes_blocks: numbers[4],
        bytes_used: numbers[5],
        utilisation: f64::from_bits(numbers[6]),
        mkmers_per_s: f64::from_bits(numbers[7]),
        phases: Phases {
            upload: time(8),
            count: time(9),
            count_device: time(10),
            read: time(11),
            free: time(12),
            check: time(13),
        },
        shared: None,
        found: None,
    }
}

/// The runs of all ranks with one allocator as one: sums of what they take, the longest of times.
pub fn together<'a>(runs: impl Iterator<Item = &'a Run>, total: u64) -> Option<Run> {
    let mut all = runs.cloned().reduce(|one, two| Run {
        pool_bytes: one.pool_bytes + two.pool_bytes,
        root_bits: one.root_bits.max(two.root_bits),
        batches: one.batches + two.batches,
        bytes_entries: one.bytes_entries + two.bytes_entries,
        bytes_blocks: one.bytes_blocks + two.bytes_blocks,
        bytes_used: one.bytes_used + two.bytes_used,
        phases: one.phases.longest(two.phases),
        ..one
    })?;
    all.utilisation = all.bytes_entries as f64 / all.bytes_used.max(1) as f64;
    all.mkmers_per_s = rate(total, all.phases.count_device);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(pool_bytes: u64, seconds: u64) -> Run {
        Run {
            allocator: "Bump",
            pool_bytes,
            root_bits: 3,
            batches: 2,
            bytes_entries: 100,
            bytes_blocks: 150,
            bytes_used: 200 * seconds,
            utilisation: 0.25,
            mkmers_per_s: 1.5,
            phases: Phases {
                count_device: Duration::from_secs(seconds),
                check: Duration::from_millis(7),
                ..Phases::default()
            },
            shared: None,
            found: None,
        }
    }

    #[test]
    fn a_run_is_its_numbers() {
        let run = run(5, 1);
        let again = run_of("Bump", &run_numbers(&run));
        assert_eq!(format!("{again:?}"), format!("{run:?}"));
    }

    #[test]
    fn runs_together_take_what_all_take_and_as_long_as_the_longest() {
        let runs = [run(5, 1), run(7, 4), run(9, 3)];
        let all = together(runs.iter(), 8_000_000).unwrap();
        assert_eq!((all.pool_bytes, all.batches, all.bytes_used), (21, 6, 1600));
        assert_eq!(all.phases.count_device, Duration::from_secs(4));
        assert_eq!((all.utilisation, all.mkmers_per_s), (300.0 / 1600.0, 2.0));
    }
}
