//! How many steps the walks of a heap took.

use crate::alloc::random_walk::{MOST, REQUESTS, STEPS, STEPS_WORD, STRIPE_WORDS, STRIPES, WARPS};
use warpheap_api::host::{DeviceError, HostAlloc, Pool};

/// Allocators whose heaps count steps if their setting `count_steps` says so.
pub trait CountsSteps: HostAlloc {}

/// Steps of the requests of a heap since it was fresh, or since [`clear`](Self::clear).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkSteps {
    /// Requests.
    pub requests: u64,
    /// Steps of all of them.
    pub steps: u64,
    /// Calls of warps: the lanes of a warp that asked together.
    pub warps: u64,
    /// The most steps of a lane, summed up over these calls.
    pub most: u64,
}

impl WalkSteps {
    /// Reads what the heap counted: nothing unless its setting `count_steps` says so.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn read<A: CountsSteps>(pool: &Pool<A>) -> Result<Self, DeviceError> {
        let mut bytes = [0; STRIPES * STRIPE_WORDS * 4];
        pool.raw().buffer.read(STEPS_WORD as u64 * 4, &mut bytes)?;
        let mut sums = WalkSteps::default();
        for stripe in bytes.chunks_exact(STRIPE_WORDS * 4) {
            let word = |at: usize| {
                let bytes = &stripe[at * 4..at * 4 + 4];
                u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as u64
            };
            sums.requests += word(REQUESTS);
            sums.steps += word(STEPS);
            sums.warps += word(WARPS);
            sums.most += word(MOST);
        }
        Ok(sums)
    }

    /// Begins to count anew.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn clear<A: CountsSteps>(pool: &Pool<A>) -> Result<(), DeviceError> {
        let words = (STRIPES * STRIPE_WORDS) as u64;
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { pool.raw().buffer.fill(STEPS_WORD as u64 * 4, words, 0) }
    }

    /// TAS (§III-B): steps of a request, on average.
    pub fn per_thread(&self) -> f64 {
        self.steps as f64 / self.requests.max(1) as f64
    }

    /// WAS (§III-B): the most steps of a warp's lanes, on average.
    pub fn per_warp(&self) -> f64 {
        self.most as f64 / self.warps.max(1) as f64
    }
}
