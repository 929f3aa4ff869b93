//! What one run of the graph that changes works with.

use super::expected::Expected;
use crate::progress::Progress;
use warpheap::Device;

/// What a run works with.
pub struct Context<'a> {
    /// The device.
    pub device: &'a Device,
    /// The kernels, loaded on it.
    pub kernels: &'a warpheap_applications::Kernels,
    /// The steps and what comes of them.
    pub expected: &'a Expected,
    /// Bytes of the pool, if the user named them.
    pub pool: Option<u64>,
    /// What is added to an id when it is shown.
    pub base: u32,
    /// Arrays leave regions that are less than so many percent in use; none moves if it is 0.
    pub compact: u32,
    /// After so many steps each time.
    pub compact_every: u32,
    /// Whether triangles are counted.
    pub triangles: bool,
    /// Where progress is shown, and where snapshots of the heap go.
    pub progress: &'a dyn Progress,
}
