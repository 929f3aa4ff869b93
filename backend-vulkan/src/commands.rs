//! A command buffer, and the barriers in it.

use crate::gpu::Gpu;
use ash::vk;
use std::sync::Arc;
use warpheap_api::host::DeviceError;

/// A command buffer that is recorded again and again.
pub(crate) struct Commands {
    gpu: Arc<Gpu>,
    pool: vk::CommandPool,
    raw: vk::CommandBuffer,
}

impl Commands {
    /// With a name for tools.
    pub(crate) fn new(gpu: &Arc<Gpu>, name: &str) -> Result<Self, DeviceError> {
        // Null handles are ignored when they are destroyed, so half-made commands drop well.
        let mut commands = Commands {
            gpu: gpu.clone(),
            pool: vk::CommandPool::null(),
            raw: vk::CommandBuffer::null(),
        };
        let device = &gpu.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(gpu.limits.queue_family);
        // SAFETY: the device is alive, the family is the one that all its queues are of.
        let pool = unsafe { device.create_command_pool(&info, None) };
        commands.pool = gpu.check("vkCreateCommandPool", pool)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(commands.pool)
            .command_buffer_count(1);
        // SAFETY: the pool was just made.
        let buffers = unsafe { device.allocate_command_buffers(&info) };
        let buffers = gpu.check("vkAllocateCommandBuffers", buffers)?;
        commands.raw = buffers.first().copied().unwrap_or_default();
        // SAFETY: just made.
        unsafe { gpu.name_new(commands.raw, name) };
        Ok(commands)
    }

    /// Begins recording; what was recorded before is gone.
    ///
    /// # Safety
    /// The device does not work on what was recorded before.
    pub(crate) unsafe fn begin(&mut self) -> Result<vk::CommandBuffer, DeviceError> {
        let device = &self.gpu.device;
        // SAFETY: the caller's promise, for the only buffer of the pool.
        let reset =
            unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) };
        self.gpu.check("vkResetCommandPool", reset)?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer was reset with its pool.
        let begun = unsafe { device.begin_command_buffer(self.raw, &info) };
        self.gpu.check("vkBeginCommandBuffer", begun)?;
        Ok(self.raw)
    }

    /// Ends recording, which [`begin`](Self::begin) began: the buffer can be submitted, once.
    pub(crate) fn end(&mut self) -> Result<vk::CommandBuffer, DeviceError> {
        // SAFETY: `begin` put the buffer into the recording state.
        let ended = unsafe { self.gpu.device.end_command_buffer(self.raw) };
        self.gpu.check("vkEndCommandBuffer", ended)?;
        Ok(self.raw)
    }
}

impl Drop for Commands {
    fn drop(&mut self) {
        // The backend leaks commands that the device is working on instead of dropping them.
        // SAFETY: so nothing uses these; null handles are ignored; once.
        unsafe { self.gpu.device.destroy_command_pool(self.pool, None) }
    }
}

/// Stages and accesses that a barrier of [`barrier`] can order.
#[derive(Clone, Copy)]
pub(crate) enum Next {
    /// What kernels and transfers read and write: any earlier or later work on the device.
    Device,
    /// Reads by the host, when it knows that the submission has ended.
    Host,
}

/// Makes the writes of everything recorded before, or submitted to the queue before, visible to `next`.
pub(crate) fn barrier(device: &ash::Device, commands: vk::CommandBuffer, next: Next) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
    let (after, accesses) = match next {
        Next::Device => (
            stages,
            writes | vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ,
        ),
        Next::Host => (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ),
    };
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(writes)
        .dst_access_mask(accesses)];
    // SAFETY: `commands` is recording; the stages are ones that a compute queue has.
    unsafe {
        let none = vk::DependencyFlags::empty();
        device.cmd_pipeline_barrier(commands, stages, after, none, &memory, &[], &[]);
    }
}

/// Makes the writes of the launches before visible to those after, and lets these begin only when
/// those have ended.
pub(crate) fn between_launches(device: &ash::Device, commands: vk::CommandBuffer) {
    let stage = vk::PipelineStageFlags::COMPUTE_SHADER;
    let memory = [vk::MemoryBarrier::default()
        .src_access_mask(vk::AccessFlags::SHADER_WRITE)
        .dst_access_mask(vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE)];
    // SAFETY: `commands` is recording.
    unsafe {
        let none = vk::DependencyFlags::empty();
        device.cmd_pipeline_barrier(commands, stage, stage, none, &memory, &[], &[]);
    }
}
