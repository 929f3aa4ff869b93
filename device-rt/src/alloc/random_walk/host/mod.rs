//! The family on the host.
//!
//! | file | what |
//! |---|---|
//! | `pages` | the four page allocators |
//! | `malloc` | [`RandomWalkMalloc`](crate::alloc::RandomWalkMalloc) |
//! | `steps` | how many steps the walks took |

mod malloc;
mod pages;
mod steps;

pub use malloc::RandomWalkMallocConfig;
pub use pages::RandomWalkConfig;
pub use steps::{CountsSteps, WalkSteps};
