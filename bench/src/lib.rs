//! Scenarios and timing of warpheap.
//!
//! | module | answers |
//! |---|---|
//! | [`options`] | what is asked for on the command line |
//! | [`plan`] | what is measured: scenarios, sizes, numbers of lanes |
//! | [`allocators`] | with which allocators |
//! | [`lab`] | how launches are timed |
//! | [`cell`] | how one cell of a scenario is measured |
//! | [`contents`] | whether what was handed out is right |
//! | [`stats`] | median and spread |
//! | [`report`], [`table`] | the results: as data, for people |
//!
//! | scenario | what |
//! |---|---|
//! | S1 | one size, fresh heap: a kernel in which each lane allocates, then one in which each lane frees |
//! | S3 | the same on a heap that has been in use, for numbers of lanes from 1 up |
//!
//! # What a time is
//!
//! The device's own time of one kernel. It is queued behind a short kernel that keeps the device busy
//! until the host has queued everything, so that no time holds a wait for the host. Lanes come in
//! blocks of 256 and make one request each. Each number is the median of several repeats, after
//! warm-up, with the 10th and 90th percentile. The floors of the same run stand beside it: a kernel
//! that does nothing and one that stores a word per lane.
//!
//! Before and after the timed repeats a round is checked: each lane marks its block, and the marks are
//! looked at afterwards. A cell whose check fails has no times.

pub mod allocators;
pub mod cell;
pub mod contents;
mod error;
pub mod lab;
pub mod options;
pub mod plan;
pub mod report;
pub mod stats;
pub mod table;

pub use error::BenchError;

use lab::Lab;
use options::Options;
use plan::Plan;
use report::Report;
use warpheap_api::host::Device;

/// Measures on `device` what `options` ask for. `progress` is told each row as it is done.
///
/// # Errors
/// An allocator that does not exist, sizes that are not possible, errors of the device. That a heap
/// could not serve a request, or served it wrongly, is no error here: the report's rows say it.
pub fn run(
    device: &Device,
    options: &Options,
    mut progress: impl FnMut(&report::Row),
) -> Result<Report, BenchError> {
    let entries = allocators::chosen(&options.allocator)?;
    let plan = Plan::new(options, device.info())?;
    let mut lab = Lab::new(device, plan.repeats)?;
    let mut report = Report::new(device.info(), &plan);
    for entry in entries {
        (entry.measure)(&mut lab, &plan, &mut |row| {
            progress(&row);
            report.rows.push(row);
        })?;
    }
    Ok(report)
}
