//! A join on several devices of one process, each with a heap of its own.
//!
//! A row belongs to the device that its key does, so all matches of a key are one device's, and those of all devices are those of one.

use super::options::Options;
use super::ready::Ready;
use super::report::{JoinReport, PartRun, Report, Run, SCHEMA};
use super::tables::{Input, Tables};
use super::{Job, check_known, check_same, run};
use crate::allocators::Allocator;
use crate::device::{DeviceReport, label};
use crate::error::JobError;
use crate::progress::{Progress, Silent};
use crate::threads::each;
use std::time::Instant;
use warpheap::Device;
use warpheap_applications::cut::part_of;
use warpheap_applications::join::Tuple;

/// A device's part of the join.
struct Share {
    ready: Ready,
    /// What is said of the device where something is wrong.
    label: String,
}

/// As [`run`], on several devices at once, at least one: each joins the rows whose keys are its own, with a pool of [`Options::pool`]
/// bytes. Of several heaps no snapshots are taken.
///
/// # Errors
/// As [`run`]; what a device does wrong is said with its number and name.
pub fn run_on(
    devices: &[Device],
    allocators: &[Allocator<Job>],
    options: &Options,
    progress: &dyn Progress,
) -> Result<Report, JobError> {
    if let [device] = devices {
        return run(device, allocators, options, progress);
    }
    options.check()?;
    let kernels = devices
        .iter()
        .map(|device| warpheap_applications::load(device));
    let kernels = kernels.collect::<Result<Vec<_>, _>>()?;
    let started = Instant::now();
    let (tables, source) = options.input.tables()?;
    let rows = [tables.left.len() as u64, tables.right.len() as u64];
    let parts = cut(&tables, devices.len());
    drop(tables);
    let loading = started.elapsed();
    let work = devices.iter().enumerate().zip(kernels).zip(parts);
    let shares = each(work.collect(), |(((at, device), kernels), tables)| {
        let label = label(device, at);
        match Ready::of_tables(device, kernels, tables, source.clone(), options) {
            Ok(ready) => Ok(Share { ready, label }),
            Err(error) => Err(error.of(&label)),
        }
    });
    let shares = shares.into_iter().collect::<Result<Vec<Share>, _>>()?;

    let mut runs = Vec::new();
    for allocator in allocators {
        let run = at_once(allocator, &shares, rows[1], options.page, progress)?;
        check_same(&runs, &run, &devices[0])?;
        runs.push(run);
    }
    if let Input::Generated(generator) = &options.input {
        check_known(generator, &runs, &devices[0])?;
    }
    let parts: Vec<JoinReport> = shares.iter().map(|share| share.ready.report(0)).collect();
    let sum = |of: fn(&JoinReport) -> u64| parts.iter().map(of).sum();
    let longest = |of: fn(&JoinReport) -> _| parts.iter().map(of).max().unwrap_or_default();
    Ok(Report {
        schema: SCHEMA,
        device: DeviceReport::from(&devices[0]),
        devices: devices.iter().map(DeviceReport::from).collect(),
        join: JoinReport {
            source,
            rows_left: rows[0],
            rows_right: rows[1],
            matches: runs.first().map_or(0, |run| run.found.matches),
            partitions: sum(|part| part.partitions),
            buckets: sum(|part| part.buckets),
            lanes: sum(|part| part.lanes),
            page_bytes: options.page,
            load: loading + longest(|part| part.load),
            upload: longest(|part| part.upload),
        },
        runs,
        checked: options.checked,
        carrier: None,
        ranks: Vec::new(),
    })
}

/// The rows of each of so many devices, in their order.
fn cut(tables: &Tables, devices: usize) -> Vec<Tables> {
    let of = |rows: &[Tuple], part: usize| {
        let is_its = |row: &&Tuple| part_of(row.key, devices as u32) == part as u32;
        rows.iter().filter(is_its).copied().collect()
    };
    each((0..devices).collect(), |part| Tables {
        left: of(&tables.left, part),
        right: of(&tables.right, part),
    })
}

/// One run: an allocator, on all devices at the same time; of so many right `rows` in all.
fn at_once(
    allocator: &Allocator<Job>,
    shares: &[Share],
    rows: u64,
    page_bytes: u32,
    progress: &dyn Progress,
) -> Result<Run, JobError> {
    let number = shares.len();
    let label = format!("{}: probing on {number} devices", allocator.name);
    let bar = progress.bar(label, number as u64);
    let ran = each(shares.iter().collect(), |share: &Share| {
        let run = (allocator.job)(&share.ready.context(&Silent));
        bar.advance(1);
        run.map_err(|error| error.of(&share.label))
    });
    // All have ended before one is looked at.
    let ran = ran.into_iter().collect::<Result<Vec<Run>, _>>()?;
    let all = Run::of_all(allocator.name, ran.iter(), rows, page_bytes);
    let part = |(run, share): (Run, &Share)| {
        let here = share.ready.report(0);
        PartRun {
            rows_left: here.rows_left,
            rows_right: here.rows_right,
            upload: here.upload,
            run,
        }
    };
    Ok(Run {
        parts: ran.into_iter().zip(shares).map(part).collect(),
        ..all
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::join::tables::Generator;

    fn rows(tables: &Tables, is_left: bool) -> &[Tuple] {
        match is_left {
            true => &tables.left,
            false => &tables.right,
        }
    }

    #[test]
    fn each_row_belongs_to_one_device_and_rows_of_a_key_to_the_same() {
        let tables = Generator::default().tables();
        for devices in [1, 2, 3, 7] {
            let parts = cut(&tables, devices);
            assert_eq!(parts.len(), devices);
            for is_left in [true, false] {
                let of = |tables| rows(tables, is_left);
                let mut numbers = Vec::new();
                for (at, part) in parts.iter().map(of).enumerate() {
                    let its = |row: &Tuple| part_of(row.key, devices as u32) == at as u32;
                    assert!(part.iter().all(its));
                    numbers.extend(part.iter().map(|row| row.payload));
                }
                numbers.sort_unstable();
                let all: Vec<u32> = of(&tables).iter().map(|row| row.payload).collect();
                assert_eq!(numbers, all, "{devices} devices");
            }
        }
    }
}
