//! What the crate `tracing` is told of launches, for programs that have a subscriber.

use super::{Launch, LaunchReport};

/// Target of these events, whatever module they come from: part of what users filter by.
pub(super) const TARGET: &str = "warpheap::launch";

/// An event for each launch that has ended, with its time on the device in microseconds.
pub(super) fn ended(launches: &[Launch<'_>], reports: &[LaunchReport]) {
    for (launch, report) in launches.iter().zip(reports) {
        tracing::debug!(
            target: TARGET,
            kernel = launch.entry,
            blocks = launch.config.grid_dim,
            lanes_per_block = launch.config.block_dim,
            device_us = report.device_time.as_secs_f64() * 1e6,
            errors = report.words[crate::abi::REPORT_ERRORS],
            "ended"
        );
    }
}

/// An event for launches that a stream has got, and that the host does not wait for.
pub(super) fn queued(launches: &[Launch<'_>]) {
    for launch in launches {
        tracing::debug!(
            target: TARGET,
            kernel = launch.entry,
            blocks = launch.config.grid_dim,
            lanes_per_block = launch.config.block_dim,
            "queued"
        );
    }
}
