//! Launches of one submission: recorded into one command buffer, with their bindings, timestamps
//! and reports.

use crate::gpu::Gpu;
use crate::launch::{MOST_BINDINGS, Ready};
use crate::memory::{Buffer, Memory};
use crate::slot::{CommandSlot, Work, barrier, between_launches};
use ash::vk;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::abi::REPORT_WORDS;
use warpheap_api::host::{DeviceError, LaunchReport};

/// Most launches of one submission.
pub(crate) const LAUNCHES: usize = 256;

/// Bytes of a launch report.
const REPORT_BYTES: u64 = REPORT_WORDS as u64 * 4;

/// What one submission needs, kept from one to the next.
pub(crate) struct Flight {
    slot: CommandSlot,
    descriptors: vk::DescriptorPool,
    /// Two for each launch; null if the queue has no timestamps.
    timestamps: vk::QueryPool,
    /// Where kernels write their reports: one each `stride` bytes, in the device's own memory,
    /// since atomic operations on the host's are slow.
    reports: Buffer,
    /// Where the host reads them.
    copy: Buffer,
    address: NonNull<u8>,
    stride: u64,
    /// Launches that were submitted and not collected.
    launches: usize,
    gpu: Arc<Gpu>,
}

// SAFETY: the address is of mapped memory, valid in every thread, and used under the lock of the
// backend.
unsafe impl Send for Flight {}

impl Flight {
    pub(crate) fn new(gpu: &Arc<Gpu>, memory: &mut Memory) -> Result<Self, DeviceError> {
        let stride = REPORT_BYTES.next_multiple_of(gpu.limits.offset_align);
        let bytes = LAUNCHES as u64 * stride;
        let (copy, address) = memory.mapped(bytes)?;
        // Null handles are ignored when they are destroyed, so a half-made flight drops well.
        let mut flight = Flight {
            slot: CommandSlot::new(gpu)?,
            descriptors: vk::DescriptorPool::null(),
            timestamps: vk::QueryPool::null(),
            reports: memory.internal(bytes)?,
            copy,
            address,
            stride,
            launches: 0,
            gpu: gpu.clone(),
        };
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count((LAUNCHES * MOST_BINDINGS) as u32)];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(LAUNCHES as u32)
            .pool_sizes(&sizes);
        // SAFETY: the device is alive, `sizes` outlives the call.
        let pool = unsafe { gpu.device.create_descriptor_pool(&info, None) };
        flight.descriptors = gpu.check("vkCreateDescriptorPool", pool)?;
        if gpu.limits.timestamp_bits != 0 {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2 * LAUNCHES as u32);
            // SAFETY: the device is alive, its queue has timestamps.
            let pool = unsafe { gpu.device.create_query_pool(&info, None) };
            flight.timestamps = gpu.check("vkCreateQueryPool", pool)?;
        }
        Ok(flight)
    }

    /// Records at most [`LAUNCHES`] launches and hands them to the queue. What was submitted before
    /// was collected.
    ///
    /// # Safety
    /// The launches' buffers stay until the submission has ended, and their arguments match their
    /// kernels' parameters.
    pub(crate) unsafe fn submit(&mut self, batch: &[Ready<'_>]) -> Result<(), DeviceError> {
        let commands = self.slot.begin()?;
        let device = &self.gpu.device;
        // SAFETY: the submission before has ended, so its sets are not in use.
        let reset = unsafe {
            device.reset_descriptor_pool(self.descriptors, vk::DescriptorPoolResetFlags::empty())
        };
        self.gpu.check("vkResetDescriptorPool", reset)?;
        let bytes = batch.len() as u64 * self.stride;
        // SAFETY: recording; as many bytes as there are reports, and the pool has two queries for
        // each launch; nothing else uses either.
        unsafe {
            device.cmd_fill_buffer(commands, self.reports.raw, 0, bytes, 0);
            if self.timestamps != vk::QueryPool::null() {
                let queries = 2 * batch.len() as u32;
                device.cmd_reset_query_pool(commands, self.timestamps, 0, queries);
            }
        }
        // Also orders the launches after everything that was submitted before.
        barrier(device, commands, Work::Device);
        for (at, launch) in batch.iter().enumerate() {
            if at != 0 {
                between_launches(device, commands);
            }
            // SAFETY: the caller's promise.
            unsafe { self.record(commands, at, launch)? };
        }
        let region = vk::BufferCopy::default().size(bytes);
        self.gpu
            .copy(commands, self.reports, self.copy, region, Work::Host);
        self.slot.submit()?;
        self.launches = batch.len();
        Ok(())
    }

    /// Records launch `at` of the submission.
    ///
    /// # Safety
    /// As [`submit`](Self::submit), while it records.
    unsafe fn record(
        &self,
        commands: vk::CommandBuffer,
        at: usize,
        launch: &Ready<'_>,
    ) -> Result<(), DeviceError> {
        let set = self.bind(at, launch)?;
        let device = &self.gpu.device;
        let layout = launch.built.layout.pipeline;
        let words: Vec<u8> = launch
            .args
            .words
            .iter()
            .flat_map(|word| word.to_ne_bytes())
            .collect();
        let [x, y] = launch.groups;
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: recording; pipeline, layout and set fit one another, the push constants are those
        // of the layout, the workgroups are within the device's limits, and memory is the caller's
        // promise.
        unsafe {
            device.cmd_bind_pipeline(commands, compute, launch.built.pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &words);
            self.stamp(commands, 2 * at);
            device.cmd_dispatch(commands, x, y, 1);
            self.stamp(commands, 2 * at + 1);
        }
        Ok(())
    }

    /// The descriptor set of launch `at`: its buffers, then its report.
    fn bind(&self, at: usize, launch: &Ready<'_>) -> Result<vk::DescriptorSet, DeviceError> {
        let device = &self.gpu.device;
        let layouts = [launch.built.layout.set];
        let info = vk::DescriptorSetAllocateInfo::default()
            .descriptor_pool(self.descriptors)
            .set_layouts(&layouts);
        // SAFETY: the pool has room for this many launches of the most bindings.
        let sets = unsafe { device.allocate_descriptor_sets(&info) };
        let sets = self.gpu.check("vkAllocateDescriptorSets", sets)?;
        let set = sets.first().copied().unwrap_or_default();
        let report = vk::DescriptorBufferInfo::default()
            .buffer(self.reports.raw)
            .offset(at as u64 * self.stride)
            .range(REPORT_BYTES);
        let buffers: Vec<_> = launch.buffers.iter().copied().chain([report]).collect();
        let write = vk::WriteDescriptorSet::default()
            .dst_set(set)
            .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
            .buffer_info(&buffers);
        // SAFETY: the set was just allocated; its layout has one binding for each buffer, of one
        // kind, so that one write goes on from binding to binding; the ranges were checked.
        unsafe { device.update_descriptor_sets(&[write], &[]) };
        Ok(set)
    }

    /// Records a timestamp of when all launches before have ended.
    ///
    /// # Safety
    /// `commands` is recording, the query was reset.
    unsafe fn stamp(&self, commands: vk::CommandBuffer, query: usize) {
        if self.timestamps != vk::QueryPool::null() {
            let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
            // SAFETY: the caller's promise.
            unsafe {
                let device = &self.gpu.device;
                device.cmd_write_timestamp(commands, stage, self.timestamps, query as u32);
            }
        }
    }

    /// Waits for the submission and forgets what came of it.
    pub(crate) fn discard(&mut self) -> Result<(), DeviceError> {
        self.launches = 0;
        self.slot.wait()
    }

    /// Whether the device does not work on it, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        self.slot.ended()
    }

    /// Waits for the submission, if there is one, and adds a report for each of its launches.
    pub(crate) fn collect(&mut self, into: &mut Vec<LaunchReport>) -> Result<(), DeviceError> {
        self.slot.wait()?;
        let launches = std::mem::take(&mut self.launches);
        let times = self.times(launches)?;
        for (at, device_time) in times.into_iter().enumerate() {
            let mut words = [0u32; REPORT_WORDS];
            // SAFETY: the submission has ended, its last barrier made the copy visible to the host,
            // and the copy has a whole report at each multiple of the stride, which is one of words.
            unsafe {
                let report = self.address.byte_add(at * self.stride as usize);
                report
                    .cast()
                    .copy_to_nonoverlapping(NonNull::from(&mut words), 1);
            }
            into.push(LaunchReport { device_time, words });
        }
        Ok(())
    }

    /// How long each launch took; zeros if the queue has no timestamps.
    fn times(&self, launches: usize) -> Result<Vec<Duration>, DeviceError> {
        let limits = &self.gpu.limits;
        if self.timestamps == vk::QueryPool::null() || launches == 0 {
            return Ok(vec![Duration::ZERO; launches]);
        }
        let mut ticks = vec![0u64; 2 * launches];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has these queries, and the submission that wrote them has ended.
        let got = unsafe {
            let device = &self.gpu.device;
            device.get_query_pool_results(self.timestamps, 0, &mut ticks, flags)
        };
        self.gpu.check("vkGetQueryPoolResults", got)?;
        let pairs = ticks.chunks_exact(2);
        Ok(pairs
            .map(|pair| elapsed(pair[0], pair[1], limits.timestamp_bits, limits.tick_ns))
            .collect())
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // The backend leaks flights that the device is working on instead of dropping them.
        // SAFETY: so nothing uses these; null handles are ignored; once.
        unsafe {
            device.destroy_query_pool(self.timestamps, None);
            device.destroy_descriptor_pool(self.descriptors, None);
        }
    }
}

/// The time between two timestamps of `bits` bits, whose counter may have begun anew in between.
fn elapsed(before: u64, after: u64, bits: u32, tick_ns: f64) -> Duration {
    let mask = u64::MAX >> (64 - bits.clamp(1, 64));
    let ticks = after.wrapping_sub(before) & mask;
    Duration::try_from_secs_f64(ticks as f64 * tick_ns * 1e-9).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_time_also_when_the_counter_begins_anew() {
        assert_eq!(elapsed(100, 350, 64, 4.0), Duration::from_nanos(1000));
        assert_eq!(
            elapsed(0xffff_fff0, 0x10, 32, 1.0),
            Duration::from_nanos(32)
        );
        // Bits beyond the counter's are undefined.
        assert_eq!(
            elapsed(0xab_0000_0001, 0x3, 32, 1.0),
            Duration::from_nanos(2)
        );
        assert_eq!(elapsed(0, 1, 64, f64::NAN), Duration::ZERO);
    }
}
