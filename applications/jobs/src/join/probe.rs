//! The third stage on a heap: probe, and what follows from its pages.

use super::context::Context;
use super::hashed::{Hashed, offsets};
use crate::clock::Clock;
use std::time::Duration;
use warpheap::{Device, DeviceError, DeviceVec, HostAlloc, LaunchConfig, LaunchReport, Pool};
use warpheap_applications::join::{JoinCollectEntry, JoinFreeEntry, JoinProbeEntry, Match, Pages};

/// An allocator that the kernels of the join are compiled for.
pub trait Joins: HostAlloc + JoinProbeEntry + JoinCollectEntry + JoinFreeEntry {}

impl<A: HostAlloc + JoinProbeEntry + JoinCollectEntry + JoinFreeEntry> Joins for A {}

/// Time of a kernel: of launching it and waiting for it, and on the device.
#[derive(Debug, Clone, Copy)]
pub struct Timed {
    /// The first.
    pub wall: Duration,
    /// The second.
    pub device: Duration,
}

impl Timed {
    fn new(
        device: &Device,
        launch: impl FnOnce() -> Result<LaunchReport, DeviceError>,
    ) -> Result<Self, DeviceError> {
        let started = Clock::start(device);
        let report = launch()?;
        Ok(Timed {
            wall: started.elapsed(),
            device: report.device_time,
        })
    }
}

/// The pages of all lanes on the device.
pub struct Output(DeviceVec<Pages>);

impl Output {
    /// No pages yet.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn new(context: &Context<'_>) -> Result<Self, DeviceError> {
        let lanes = context.shape.lanes as usize;
        Ok(Output(DeviceVec::zeroed(context.device, lanes)?))
    }

    fn lanes(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.0.len() as u32)
    }

    /// Looks for all matches.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] if the heap is full; errors of the device.
    pub fn probe<A: Joins>(
        &self,
        context: &Context<'_>,
        pool: &Pool<A>,
        hashed: &Hashed,
    ) -> Result<Timed, DeviceError> {
        let shape = &context.shape;
        Timed::new(context.device, || {
            context.kernels.join_probe(
                pool,
                self.lanes(),
                &hashed.rows,
                &hashed.heads,
                &hashed.right,
                &self.0,
                shape.bucket_shift(),
                shape.page_bytes,
            )
        })
    }

    /// Pages and matches of each lane.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn lists(&self) -> Result<Vec<Pages>, DeviceError> {
        self.0.to_vec()
    }

    /// Copies the matches out of the pages; `lists` as [`lists`](Self::lists) said, no more of them in all than
    /// a word counts.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn collect<A: Joins>(
        &self,
        context: &Context<'_>,
        pool: &Pool<A>,
        lists: &[Pages],
    ) -> Result<Vec<Match>, DeviceError> {
        let offsets = offsets(lists.iter().map(|list| list.matches));
        let count = offsets.last().copied().unwrap_or_default();
        let offsets = DeviceVec::from_slice(context.device, &offsets)?;
        let out = DeviceVec::<Match>::zeroed(context.device, count as usize)?;
        context
            .kernels
            .join_collect(pool, self.lanes(), &self.0, &offsets, &out)?;
        out.to_vec()
    }

    /// Frees all pages.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn free<A: Joins>(
        &self,
        context: &Context<'_>,
        pool: &Pool<A>,
    ) -> Result<Timed, DeviceError> {
        let page_bytes = context.shape.page_bytes;
        Timed::new(context.device, || {
            context
                .kernels
                .join_free(pool, self.lanes(), &self.0, page_bytes)
        })
    }
}
