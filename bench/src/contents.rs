//! Whether what was handed out is right.

use crate::lab::Lab;
use std::fmt;
use warpheap_api::DevicePtr;
use warpheap_api::host::{DeviceError, DeviceVec, Pool, Prepared};
use warpheap_bench_kernels::contents::{
    COUNTS, MISSING, MarkEntry, OUTSIDE, OVERWRITTEN, VerifyEntry,
};
use warpheap_bench_kernels::mix::Mix;

/// What is wrong with a number of blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wrong {
    /// Lanes without a block.
    pub missing: u32,
    /// Blocks that do not lie inside the heap.
    pub outside: u32,
    /// Blocks in which another lane's mark was found: blocks overlap.
    pub overwritten: u32,
}

impl Wrong {
    /// Whether nothing is wrong.
    pub fn is_nothing(self) -> bool {
        self == Wrong::default()
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "WRONG: {} blocks overwritten, {} outside the heap, {} missing",
            self.overwritten, self.outside, self.missing
        )
    }
}

/// Marks each of `blocks`, block `i` request `i` of `mix` in `pool`, and looks whether the marks stayed.
/// Different seeds make marks that differ from those of an earlier check.
///
/// # Errors
/// Errors of the device.
pub fn check<A: MarkEntry + VerifyEntry>(
    lab: &Lab,
    pool: &Pool<A>,
    blocks: &DeviceVec<DevicePtr<u8>>,
    mix: Mix,
    seed: u32,
) -> Result<Wrong, DeviceError> {
    let (kernels, shape) = (lab.kernels(), Lab::shape(blocks.len() as u32));
    run(lab, |counts| {
        [
            kernels.mark_launch(pool, shape, blocks, mix, seed),
            kernels.verify_launch(pool, shape, blocks, counts, mix, seed),
        ]
    })
}

/// Runs a pair of kernels that mark and verify, and tells what they counted.
///
/// # Errors
/// Errors of the device.
pub(crate) fn run(
    lab: &Lab,
    launches: impl FnOnce(&DeviceVec<u32>) -> [Prepared; 2],
) -> Result<Wrong, DeviceError> {
    let counts = DeviceVec::<u32>::zeroed(lab.device(), COUNTS)?;
    lab.device().run_all(&launches(&counts))?;
    let counts = counts.to_vec()?;
    let count = |at: usize| counts.get(at).copied().unwrap_or(u32::MAX);
    Ok(Wrong {
        missing: count(MISSING),
        outside: count(OUTSIDE),
        overwritten: count(OVERWRITTEN),
    })
}
