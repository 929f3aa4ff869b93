//! The job compiled for every allocator of the library.

use super::report::Run;
use super::run::{self, Context};
use crate::allocators::Allocator;
use crate::pool::Failure;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// The job with one allocator.
pub type Job = fn(&Context<'_>) -> Result<Run, Failure>;

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// Every allocator of the library, in its order.
        pub fn all() -> Vec<Allocator<Job>> {
            vec![$(Allocator::new(
                <$allocator as DeviceAlloc>::NAME,
                run::run::<$allocator>,
            )),*]
        }
    };
}

warpheap::rt::for_each_allocator!(list);

/// Those of which the heap can keep a trace.
pub fn traced() -> Vec<Allocator<Job>> {
    vec![Allocator::new(WarpHeap::NAME, run::run::<Traced<WarpHeap>>)]
}
