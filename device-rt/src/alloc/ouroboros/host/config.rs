//! The settings of Ouroboros.

use crate::alloc::ouroboros::{MOST_GRANULES, MOST_PAGES};
use warpheap_api::host::PlanError;

/// Settings of [`Ouroboros`](crate::alloc::Ouroboros); the defaults are the paper's where it has such a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuroborosConfig {
    /// Bytes of a chunk of the base instance: a power of two from 1 KiB to 64 KiB. Default 8 KiB.
    pub chunk_bytes: u32,
    /// Page sizes of the base instance, each half of the next, the largest a chunk: 1 to 10, and none
    /// below 16 bytes. Default 10: 16 B to 8192 B.
    pub queues: u32,
    /// Instances, each with chunks 2^[`instance_step`](Self::instance_step) times as large as the one
    /// before and as many doublings of page sizes more. Default `None`: as many as have chunks of no more
    /// than a quarter of the pool.
    pub instances: Option<u32>,
    /// Doublings from an instance to the next: 1 to 9. Default 3.
    pub instance_step: u32,
    /// Entries of each queue: of the standard queues as they are, of the virtualised array-hierarchy
    /// queue as many as its ring of queue chunks reaches. Rounded up to a power of two, and reduced so
    /// that all queues of a heap take no more than a sixteenth of it. Default 2,000,000.
    pub queue_capacity: u32,
    /// Queue chunks of a linked queue that stay behind its front for those who are still on their way
    /// through them. Default `None`: a 1024th of all chunks, at most 64.
    pub trail: Option<u32>,
    /// Bytes for which the metadata are laid out, if more than the pool has:
    /// [`Ouroboros::enlarged`](crate::alloc::Ouroboros::enlarged) makes pools of up to so many. Default 0.
    pub grows_to: u64,
}

impl Default for OuroborosConfig {
    fn default() -> Self {
        OuroborosConfig {
            chunk_bytes: 8 << 10,
            queues: 10,
            instances: None,
            instance_step: 3,
            queue_capacity: 2_000_000,
            trail: None,
            grows_to: 0,
        }
    }
}

impl OuroborosConfig {
    /// Whether each setting is in range.
    pub(super) fn check(&self, allocator: &'static str) -> Result<(), PlanError> {
        let bad = |setting, value: u32, why| {
            Err(PlanError::BadSetting {
                allocator,
                setting,
                value: value as u64,
                why,
            })
        };
        let chunk = self.chunk_bytes;
        if !chunk.is_power_of_two() || !(1 << 10..=64 << 10).contains(&chunk) {
            return bad(
                "chunk_bytes",
                chunk,
                "give a power of two from 1 KiB to 64 KiB",
            );
        }
        let most = MOST_PAGES.ilog2() + 1;
        if !(1..=most).contains(&self.queues) || chunk >> (self.queues - 1) < 16 {
            let why =
                "give 1 to 10, and no more than there are halvings of a chunk down to 16 bytes";
            return bad("queues", self.queues, why);
        }
        if !(1..=9).contains(&self.instance_step) {
            return bad("instance_step", self.instance_step, "give 1 to 9");
        }
        if let Some(instances) = self.instances {
            let log =
                (chunk / 16).ilog2() + instances.saturating_sub(1).min(40) * self.instance_step;
            if instances == 0 || log > MOST_GRANULES.ilog2() {
                let why = "give at least 1, and no more than have chunks of up to 16 GiB";
                return bad("instances", instances, why);
            }
        }
        if self.queue_capacity == 0 {
            return bad("queue_capacity", 0, "give at least 1");
        }
        if let Some(trail) = self.trail
            && trail > 1 << 16
        {
            return bad("trail", trail, "give at most 65536");
        }
        Ok(())
    }
}
