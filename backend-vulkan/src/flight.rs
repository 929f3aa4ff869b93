//! Launches of one command buffer: recorded with their bindings, timestamps and reports.

#[cfg(test)]
mod tests;

use crate::commands::{Next, barrier, between_launches};
use crate::gpu::Gpu;
use crate::launch::{MOST_BINDINGS, Ready};
use crate::memory::{Buffer, Mapped, Memory};
use crate::ticks::elapsed;
use ash::vk;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::abi::REPORT_WORDS;
use warpheap_api::host::{DeviceError, KernelFailure, LaunchReport};

/// Most launches of one command buffer.
pub(crate) const LAUNCHES: usize = 256;

/// Bytes of a launch report.
const REPORT_BYTES: u64 = REPORT_WORDS as u64 * 4;

/// What the launches of one command buffer need, kept from one time to the next.
pub(crate) struct Flight {
    /// For how many launches.
    room: usize,
    descriptors: vk::DescriptorPool,
    /// Two for each launch; null if the queue has no timestamps, or none were asked for.
    timestamps: vk::QueryPool,
    /// Where kernels write their reports: one each `stride` bytes, in the device's own memory,
    /// since atomic operations on the host's are slow.
    reports: Buffer,
    /// Where the host reads them.
    copy: Mapped,
    stride: u64,
    /// Entries of the launches that were recorded and not collected.
    launches: Vec<&'static str>,
    gpu: Arc<Gpu>,
}

impl Flight {
    /// For `room` launches at most, with timestamps if they are `timed`.
    pub(crate) fn new(
        gpu: &Arc<Gpu>,
        memory: &mut Memory,
        room: usize,
        timed: bool,
    ) -> Result<Self, DeviceError> {
        let stride = REPORT_BYTES.next_multiple_of(gpu.limits.offset_align);
        let bytes = room as u64 * stride;
        // Null handles are ignored when they are destroyed, so a half-made flight drops well.
        let mut flight = Flight {
            room,
            descriptors: vk::DescriptorPool::null(),
            timestamps: vk::QueryPool::null(),
            reports: memory.internal(bytes, "warpheap reports")?,
            copy: memory.mapped(bytes, "warpheap reports for the host")?,
            stride,
            launches: Vec::new(),
            gpu: gpu.clone(),
        };
        let sizes = [vk::DescriptorPoolSize::default()
            .ty(vk::DescriptorType::STORAGE_BUFFER)
            .descriptor_count((room * MOST_BINDINGS) as u32)];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(room as u32)
            .pool_sizes(&sizes);
        // SAFETY: the device is alive, `sizes` outlives the call.
        let pool = unsafe { gpu.device.create_descriptor_pool(&info, None) };
        flight.descriptors = gpu.check("vkCreateDescriptorPool", pool)?;
        if timed && gpu.limits.timestamp_bits != 0 {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(2 * room as u32);
            // SAFETY: the device is alive, its queue has timestamps.
            let pool = unsafe { gpu.device.create_query_pool(&info, None) };
            flight.timestamps = gpu.check("vkCreateQueryPool", pool)?;
        }
        Ok(flight)
    }

    /// For how many launches it is.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Records launches, at most as many as there is room for. What was recorded before was collected.
    ///
    /// # Safety
    /// The device does not work on what was recorded before, and `commands` is recording. The launches' buffers stay until it has
    /// ended, and their arguments match their kernels' parameters.
    pub(crate) unsafe fn record(
        &mut self,
        commands: vk::CommandBuffer,
        batch: &[Ready],
    ) -> Result<(), DeviceError> {
        let device = &self.gpu.device;
        // SAFETY: what was recorded before has ended, so its sets are not in use.
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
        barrier(device, commands, Next::Device);
        for (at, launch) in batch.iter().enumerate() {
            if at != 0 {
                between_launches(device, commands);
            }
            // SAFETY: the caller's promise.
            unsafe { self.record_one(commands, at, launch)? };
        }
        let region = vk::BufferCopy::default().size(bytes);
        self.gpu
            .copy(commands, self.reports, self.copy.buffer, region, Next::Host);
        self.launches.clear();
        self.launches
            .extend(batch.iter().map(|launch| launch.entry));
        Ok(())
    }

    /// Records launch `at`.
    ///
    /// # Safety
    /// As [`record`](Self::record), while it records.
    unsafe fn record_one(
        &self,
        commands: vk::CommandBuffer,
        at: usize,
        launch: &Ready,
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
            let labels = self.gpu.labels();
            if let Some(labels) = labels {
                labels.begin(commands, launch.entry);
            }
            device.cmd_bind_pipeline(commands, compute, launch.built.pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
            device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, &words);
            self.stamp(commands, 2 * at);
            device.cmd_dispatch(commands, x, y, 1);
            self.stamp(commands, 2 * at + 1);
            if let Some(labels) = labels {
                labels.end(commands);
            }
        }
        Ok(())
    }

    /// The descriptor set of launch `at`: its buffers, then its report.
    fn bind(&self, at: usize, launch: &Ready) -> Result<vk::DescriptorSet, DeviceError> {
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

    /// Forgets what was recorded.
    pub(crate) fn forget(&mut self) {
        self.launches.clear();
    }

    /// Entries of the launches that were recorded and not collected.
    pub(crate) fn entries(&self) -> &[&'static str] {
        &self.launches
    }

    /// Adds a report for each launch that was recorded. They have ended.
    pub(crate) fn collect(&mut self, into: &mut Vec<LaunchReport>) -> Result<(), DeviceError> {
        let launches = self.launches.len();
        self.launches.clear();
        let times = self.times(launches)?;
        for (at, device_time) in times.into_iter().enumerate() {
            let words = self.words(at);
            into.push(LaunchReport { device_time, words });
        }
        Ok(())
    }

    /// The first failure among the launches that were recorded, which is all that comes of them. They have ended.
    pub(crate) fn failure(&mut self) -> Option<KernelFailure> {
        let mut launches = self.launches.iter().enumerate();
        let failure = launches.find_map(|(at, entry)| {
            let report = LaunchReport {
                device_time: Duration::ZERO,
                words: self.words(at),
            };
            report.failure(entry)
        });
        self.launches.clear();
        failure
    }

    /// The report of launch `at`, which was recorded and has ended.
    fn words(&self, at: usize) -> [u32; REPORT_WORDS] {
        let mut words = [0u32; REPORT_WORDS];
        // SAFETY: what was recorded has ended, its last barrier made the copy visible to the host,
        // and the copy has a whole report at each multiple of the stride, which is one of words.
        unsafe {
            let report = self.copy.address.byte_add(at * self.stride as usize);
            report
                .cast()
                .copy_to_nonoverlapping(NonNull::from(&mut words), 1);
        }
        words
    }

    /// How long each launch took; zeros if the queue has no timestamps.
    fn times(&self, launches: usize) -> Result<Vec<Duration>, DeviceError> {
        let limits = &self.gpu.limits;
        if self.timestamps == vk::QueryPool::null() || launches == 0 {
            return Ok(vec![Duration::ZERO; launches]);
        }
        let mut ticks = vec![0u64; 2 * launches];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the pool has these queries, and the commands that wrote them have ended.
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
