//! What one run of the join works with.

use super::shape::Shape;
use crate::progress::Progress;
use warpheap::{Device, DeviceVec};
use warpheap_applications::Kernels;
use warpheap_applications::join::Tuple;

/// What a run works with.
pub struct Context<'a> {
    /// The device.
    pub device: &'a Device,
    /// The kernels, loaded on it.
    pub kernels: &'a Kernels,
    /// The table that is hashed.
    pub left: &'a DeviceVec<Tuple>,
    /// The table whose rows look for theirs.
    pub right: &'a DeviceVec<Tuple>,
    /// The CPU's matches, in order; none if nothing is checked.
    pub expected: Option<&'a [u64]>,
    /// How the join is laid out.
    pub shape: Shape,
    /// Bytes of the pool, if the user named them.
    pub pool: Option<u64>,
    /// How often the probe is done.
    pub repeats: u32,
    /// Where progress is shown, and where snapshots of the heap go.
    pub progress: &'a dyn Progress,
}
