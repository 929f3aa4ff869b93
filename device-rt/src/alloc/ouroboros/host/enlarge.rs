//! Moving a heap into a larger pool.

use super::OuroborosConfig;
use crate::alloc::Ouroboros;
use crate::alloc::ouroboros::{Geometry, HEAD_FREE, PARAM_BITS, PARAM_CHUNKS, Queue, Strategy};
use std::vec;
use warpheap_api::DeviceAlloc;
use warpheap_api::host::{DeviceError, HostAlloc, PlanError, Pool};

impl<S: Strategy, Q: Queue> Ouroboros<S, Q> {
    /// Lays the same heap out in a larger pool (§3.1, §3.2): a new pool of `bytes` bytes with all blocks of
    /// `pool`, under the same handles. `config` is the one that `pool` was made with, whose
    /// [`grows_to`](OuroborosConfig::grows_to) said how large the heap may become. The old pool is left
    /// as it is, and its blocks are no longer to be used through it. No kernel may run on it meanwhile.
    ///
    /// # Errors
    /// [`PlanError::BadSetting`] if the new heap would be smaller, or laid out otherwise: `bytes` is more
    /// than `grows_to`, or the settings differ. Errors of the device.
    pub fn enlarged(
        pool: &Pool<Self>,
        bytes: u64,
        config: &OuroborosConfig,
    ) -> Result<Pool<Self>, DeviceError> {
        let old = pool.raw();
        let plan = Self::plan(bytes & !15, config)?;
        let mut same = plan.params;
        let params = old.params();
        same[PARAM_CHUNKS] = params[PARAM_CHUNKS];
        let too_large = bytes > config.grows_to.max(pool.bytes());
        if too_large || same != params || plan.params[PARAM_CHUNKS] < params[PARAM_CHUNKS] {
            return Err(PlanError::BadSetting {
                allocator: Self::NAME,
                setting: "grows_to",
                value: config.grows_to,
                why: "give the settings of the pool, and no fewer bytes than it has and no more than this",
            }
            .into());
        }
        let new = Pool::new(&old.device, bytes, config)?;
        let (from, to) = (&old.buffer, &new.raw().buffer);
        // Metadata and chunks of the old heap, a few MiB at a time.
        let geometry = Geometry::new(params);
        let chunk_bytes = 16u64 << geometry.chunk_log();
        let end = geometry.data as u64 * 16 + geometry.chunks as u64 * chunk_bytes;
        let mut part = vec![0u8; 4 << 20];
        let mut at = 0;
        while at < end {
            let part = &mut part[..(end - at).min(4 << 20) as usize];
            from.read(at, part)?;
            // SAFETY: a heap's own counters and settings, which its allocator reads so.
            unsafe { to.write(at, part) }?;
            at += part.len() as u64;
        }
        // The chunks that are new are free.
        let (before, chunks) = (geometry.chunks, plan.params[PARAM_CHUNKS]);
        let word = |at: u64| -> Result<u32, DeviceError> {
            let mut bytes = [0; 4];
            to.read(at * 4, &mut bytes)?;
            Ok(u32::from_ne_bytes(bytes))
        };
        let bits = plan.params[PARAM_BITS] as u64;
        if before % 32 != 0 {
            let at = bits + before as u64 / 32;
            let kept = word(at)? & !(u32::MAX << (before % 32));
            // SAFETY: a heap's own counters and settings, which its allocator reads so.
            unsafe { to.fill(at * 4, 1, kept) }?;
        }
        let last = bits + chunks as u64 / 32;
        if chunks % 32 != 0 {
            let kept = word(last)? | u32::MAX << (chunks % 32);
            // SAFETY: a heap's own counters and settings, which its allocator reads so.
            unsafe { to.fill(last * 4, 1, kept) }?;
        }
        let free = Geometry::new(plan.params).head(geometry.classes(), HEAD_FREE) as u64;
        let now = word(free)?.wrapping_add(chunks - before);
        // SAFETY: a heap's own counters and settings, which its allocator reads so.
        unsafe { to.fill(free * 4, 1, now) }?;
        Ok(new)
    }
}
