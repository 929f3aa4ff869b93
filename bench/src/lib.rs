//! Scenarios and timing of warpheap.
//!
//! | module | answers |
//! |---|---|
//! | [`options`] | what is asked for on the command line |
//! | [`scenario`] | which scenarios there are |
//! | [`plan`] | what is measured: sizes, numbers of lanes, pools |
//! | [`allocators`] | with which allocators |
//! | [`lab`] | how launches are timed |
//! | [`measure`] | how cells are measured, a file for each kind of work |
//! | [`replay`] | what lanes have to do to make the requests of a trace again |
//! | [`soak`] | long runs that look whether a heap stays right |
//! | [`program`] | what is measured beside the lab's own kernels |
//! | [`contents`] | whether what was handed out is right |
//! | [`row`], [`run`](mod@run) | what is known after one cell, after all of them |
//! | [`stats`] | median and spread |
//! | [`report`] | the results for people and programs: tables, files, plots, comparisons |
//!
//! # What a time is
//!
//! The device's own time of one kernel. It is queued behind a short kernel that keeps the device busy
//! until the host has queued everything, so that no time holds a wait for the host. Lanes come in
//! blocks of 256. Each number is the median of several repeats, after warm-up, with the 10th and 90th
//! percentile. The floors of the same run stand beside it, see [`row::Floors`].
//!
//! Blocks that are handed out are written and looked at afterwards, in the timed kernels where that is
//! what the scenario is about, otherwise in rounds of their own before and after the timed ones. A cell
//! whose check fails has no times.

pub mod allocators;
pub mod contents;
mod defaults;
mod error;
pub mod lab;
pub mod measure;
pub mod options;
pub mod plan;
pub mod program;
pub mod replay;
pub mod report;
pub mod row;
pub mod run;
pub mod scenario;
pub mod soak;
pub mod stats;

pub use error::BenchError;

use allocators::Outcome;
use lab::Lab;
use measure::arenas::Arenas;
use options::Options;
use plan::Plan;
use program::Program;
use row::Row;
use run::Run;
use warpheap_api::DeviceAlloc;
use warpheap_api::host::Device;

/// Measures on `device` what `options` ask for, then `programs`. `progress` is told each row as it is done.
///
/// # Errors
/// An allocator that does not exist, sizes that are not possible, errors of the device before the first
/// measurement. What goes wrong later, with an allocator or the device, is no error here: the rows say
/// it, and those that were measured before are not lost.
pub fn run(
    device: &Device,
    options: &Options,
    programs: Vec<Box<dyn Program>>,
    mut progress: impl FnMut(&Row),
) -> Result<Run, BenchError> {
    let entries = allocators::chosen(&options.allocator)?;
    let plan = Plan::new(options, device.info())?;
    let lab = Lab::new(device, plan.repeats)?.with_replay(options.replay.as_ref())?;
    let mut run = Run::new(device.info(), plan.pool, lab.repeats());
    let mut add = |mut row: Row| {
        row.relate(&run.rows);
        progress(&row);
        run.rows.push(row);
    };
    for entry in &entries {
        if (entry.measure)(&lab, &plan, &mut add) == Outcome::Lost {
            return Ok(run);
        }
    }
    // Not with arenas, which have no frees of single blocks.
    let arenas = <Arenas as DeviceAlloc>::NAME;
    for mut program in programs {
        for entry in entries.iter().filter(|entry| entry.name != arenas) {
            add(program::row(program.as_mut(), entry.name));
        }
    }
    Ok(run)
}
