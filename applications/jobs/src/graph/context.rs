//! What one run of the graph job works with.

use super::built::Built;
use super::growth::Demand;
use super::parts::meeting::Meeting;
use crate::progress::Progress;
use std::time::Duration;
use warpheap::{Device, DeviceError, Prepared};
use warpheap_applications::Kernels;

/// What a run works with.
pub struct Context<'a> {
    /// The device.
    pub device: &'a Device,
    /// The kernels, loaded on it.
    pub kernels: &'a Kernels,
    /// What is built and what comes out.
    pub built: &'a Built,
    /// What its vectors ask of the heap.
    pub demand: &'a Demand,
    /// The other ranks that build parts of the same graph, if there are any.
    pub meeting: Option<&'a Meeting<'a>>,
    /// Bytes of the pool, if the user named them.
    pub pool: Option<u64>,
    /// Bytes that the pool may grow to, if it may.
    pub grow: Option<u64>,
    /// Edges of a launch.
    pub batch: u32,
    /// Where progress is shown, and where snapshots of the heap go.
    pub progress: &'a dyn Progress,
}

/// Runs launches in order and returns their time on the device.
///
/// # Errors
/// The first launch with lanes that failed; errors of the device.
pub fn run_all(context: &Context<'_>, launches: &[Prepared]) -> Result<Duration, DeviceError> {
    let reports = context.device.run_all(launches)?;
    let mut time = Duration::ZERO;
    for (launch, report) in launches.iter().zip(reports) {
        if let Some(failure) = report.failure(launch.entry()) {
            return Err(Box::new(failure).into());
        }
        time += report.device_time;
    }
    Ok(time)
}
