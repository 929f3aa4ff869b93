//! The join compiled for every allocator of the library.

use super::context::Context;
use super::report::Run;
use super::run;
use crate::allocators::Allocator;
use crate::error::JobError;
use warpheap::api::DeviceAlloc;
use warpheap::device::*;

/// The join with one allocator.
pub type Job = fn(&Context<'_>) -> Result<Run, JobError>;

/// Those that someone gets who names none: the paper's, and the best of the others.
pub const USUAL: [&str; 7] = [
    DirectOutput::NAME,
    RandomWalk::NAME,
    RandomWalkBitmap::NAME,
    CollaborativeWalk::NAME,
    OuroborosPS::NAME,
    Gallatin::NAME,
    WarpHeap::NAME,
];

macro_rules! list {
    ($($allocator:ident),* $(,)?) => {
        /// Every allocator of the library, in its order.
        pub fn all() -> Vec<Allocator<Job>> {
            vec![$(Allocator::new(
                <$allocator as DeviceAlloc>::NAME,
                run::run::<$allocator> as Job,
            )),*]
        }
    };
}

warpheap::rt::for_each_allocator!(list);

/// Those of which the heap can keep a trace.
pub fn traced() -> Vec<Allocator<Job>> {
    vec![Allocator::new(WarpHeap::NAME, run::run::<Traced<WarpHeap>>)]
}
