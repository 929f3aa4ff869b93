//! Timestamps of a stream.

use crate::gpu::Gpu;
use ash::vk;
use std::collections::HashMap;
use std::sync::Arc;
use warpheap_api::host::DeviceError;

/// Queries of a pool.
const QUERIES: u32 = 64;

/// A query.
#[derive(Clone, Copy)]
pub(crate) struct Slot {
    pool: vk::QueryPool,
    query: u32,
}

impl Slot {
    /// Records a timestamp of when everything before has ended.
    ///
    /// # Safety
    /// `commands` is recording, and goes to the queue that all slots of the stream are used on.
    pub(crate) unsafe fn stamp(self, gpu: &Gpu, commands: vk::CommandBuffer) {
        let Slot { pool, query } = self;
        // A slot that was given back may still be written by what is ahead in the stream: queries are reset behind that, since
        // resets are ordered with all other use of a query on the queue.
        // SAFETY: the caller's promise; the pool has this query.
        unsafe {
            gpu.device.cmd_reset_query_pool(commands, pool, query, 1);
            let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
            gpu.device.cmd_write_timestamp(commands, stage, pool, query);
        }
    }
}

/// The timestamps of one stream: each in a slot from when it is queued until it is forgotten.
pub(crate) struct Stamps {
    used: HashMap<u64, Slot>,
    free: Vec<Slot>,
    pools: Vec<vk::QueryPool>,
    gpu: Arc<Gpu>,
}

impl Stamps {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Self {
        Stamps {
            used: HashMap::new(),
            free: Vec::new(),
            pools: Vec::new(),
            gpu: gpu.clone(),
        }
    }

    /// A slot for the piece of work `at`; nothing if the queue has no timestamps.
    pub(crate) fn take(&mut self, at: u64) -> Result<Option<Slot>, DeviceError> {
        if self.gpu.limits.timestamp_bits == 0 {
            return Ok(None);
        }
        if self.free.is_empty() {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(QUERIES);
            // SAFETY: the device is alive, its queues have timestamps.
            let pool = unsafe { self.gpu.device.create_query_pool(&info, None) };
            let pool = self.gpu.check("vkCreateQueryPool", pool)?;
            self.pools.push(pool);
            let slots = (0..QUERIES).rev().map(|query| Slot { pool, query });
            self.free.extend(slots);
        }
        let slot = self.free.pop();
        if let Some(slot) = slot {
            self.used.insert(at, slot);
        }
        Ok(slot)
    }

    /// Gives the slot of the piece of work `at` back, if it has one.
    pub(crate) fn forget(&mut self, at: u64) {
        self.free.extend(self.used.remove(&at));
    }

    /// The ticks of the piece of work `at`, which has ended; nothing if it is no timestamp.
    pub(crate) fn ticks(&self, at: u64) -> Result<Option<u64>, DeviceError> {
        let Some(slot) = self.used.get(&at) else {
            return Ok(None);
        };
        let mut ticks = [0u64];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has this query, and the submission that wrote it has ended.
        let got = unsafe {
            let device = &self.gpu.device;
            device.get_query_pool_results(slot.pool, slot.query, &mut ticks, flags)
        };
        self.gpu.check("vkGetQueryPoolResults", got)?;
        Ok(Some(ticks[0]))
    }
}

impl Drop for Stamps {
    fn drop(&mut self) {
        for &pool in &self.pools {
            // SAFETY: the backend leaks streams that the device works on instead of dropping them, so nothing uses it; once.
            unsafe { self.gpu.device.destroy_query_pool(pool, None) }
        }
    }
}
