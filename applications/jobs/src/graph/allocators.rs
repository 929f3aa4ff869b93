//! The job compiled for every allocator of the library.

use super::changing;
use super::context::Context;
use super::growth::Demand;
use super::pool;
use super::report::Run;
use super::run;
use crate::allocators::Allocator;
use crate::error::JobError;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// The job with one allocator.
#[derive(Clone, Copy)]
pub struct Job {
    /// Says why it cannot be done.
    pub fits: fn(&Demand) -> Result<(), JobError>,
    /// Does it.
    pub run: fn(&Context<'_>) -> Result<Run, JobError>,
    /// Does the one with changes.
    pub change: fn(&changing::Context<'_>) -> Result<changing::report::Run, JobError>,
}

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// Every allocator of the library, in its order.
        pub fn all() -> Vec<Allocator<Job>> {
            vec![$(Allocator::new(
                <$allocator as DeviceAlloc>::NAME,
                Job {
                    fits: pool::check_largest::<Counted<$allocator>>,
                    run: run::run::<Counted<$allocator>>,
                    change: changing::run_with::<Counted<$allocator>>,
                },
            )),*]
        }
    };
}

warpheap::rt::for_each_allocator!(list);

/// Those of which the heap can keep a trace, of a graph that is built.
pub fn traced() -> Vec<Allocator<Job>> {
    vec![Allocator::new(
        WarpHeap::NAME,
        Job {
            fits: pool::check_largest::<Traced<Counted<WarpHeap>>>,
            run: run::run::<Traced<Counted<WarpHeap>>>,
            change: |_| Err(JobError::Usage(UNTRACED.to_owned())),
        },
    )]
}

/// What is said of a graph that changes, whose kernels are not there for heaps that keep a trace.
const UNTRACED: &str = "a graph that changes keeps no trace: leave out --rounds, --triangles, --page-rank, --bfs and --components";
