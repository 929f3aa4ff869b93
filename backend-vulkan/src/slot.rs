//! One command buffer with its fence: record, submit, wait.

use crate::gpu::Gpu;
use ash::vk;
use std::sync::Arc;
use warpheap_api::host::DeviceError;

/// A command buffer that is recorded and submitted again and again.
pub(crate) struct CommandSlot {
    gpu: Arc<Gpu>,
    pool: vk::CommandPool,
    buffer: vk::CommandBuffer,
    fence: vk::Fence,
    in_flight: bool,
}

impl CommandSlot {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, DeviceError> {
        // Null handles are ignored when they are destroyed, so a half-made slot drops well.
        let mut slot = CommandSlot {
            gpu: gpu.clone(),
            pool: vk::CommandPool::null(),
            buffer: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            in_flight: false,
        };
        let device = &gpu.device;
        let info = vk::CommandPoolCreateInfo::default()
            .flags(vk::CommandPoolCreateFlags::TRANSIENT)
            .queue_family_index(gpu.limits.queue_family);
        // SAFETY: the device is alive, the family is the one that its queue was made of.
        let pool = unsafe { device.create_command_pool(&info, None) };
        slot.pool = gpu.check("vkCreateCommandPool", pool)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(slot.pool)
            .command_buffer_count(1);
        // SAFETY: the pool was just made.
        let buffers = unsafe { device.allocate_command_buffers(&info) };
        let buffers = gpu.check("vkAllocateCommandBuffers", buffers)?;
        slot.buffer = buffers.first().copied().unwrap_or_default();
        // SAFETY: the device is alive.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) };
        slot.fence = gpu.check("vkCreateFence", fence)?;
        Ok(slot)
    }

    /// Whether the device does not work on it, without waiting.
    pub(crate) fn ended(&mut self) -> bool {
        if self.in_flight {
            // SAFETY: the fence belongs to this device and is pending or signalled.
            let status = unsafe { self.gpu.device.get_fence_status(self.fence) };
            // A lost device works on nothing any more.
            self.in_flight = !matches!(status, Ok(true) | Err(vk::Result::ERROR_DEVICE_LOST));
        }
        !self.in_flight
    }

    /// Begins recording; what was recorded before is gone. The slot must not be in flight.
    pub(crate) fn begin(&mut self) -> Result<vk::CommandBuffer, DeviceError> {
        self.wait()?;
        let device = &self.gpu.device;
        // SAFETY: the buffer of the pool is not in flight.
        let reset =
            unsafe { device.reset_command_pool(self.pool, vk::CommandPoolResetFlags::empty()) };
        self.gpu.check("vkResetCommandPool", reset)?;
        let info = vk::CommandBufferBeginInfo::default()
            .flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the buffer was reset with its pool.
        let begun = unsafe { device.begin_command_buffer(self.buffer, &info) };
        self.gpu.check("vkBeginCommandBuffer", begun)?;
        Ok(self.buffer)
    }

    /// Ends recording and hands the commands to the queue.
    pub(crate) fn submit(&mut self) -> Result<(), DeviceError> {
        let device = &self.gpu.device;
        // SAFETY: `begin` put the buffer into the recording state.
        let ended = unsafe { device.end_command_buffer(self.buffer) };
        self.gpu.check("vkEndCommandBuffer", ended)?;
        let buffers = [self.buffer];
        let info = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the fence is unsignalled (made so, and reset by `wait`), the buffer is ready, and
        // callers hold the lock of the backend, so nobody else uses the queue.
        let sent = unsafe { device.queue_submit(self.gpu.queue, &info, self.fence) };
        self.gpu.check("vkQueueSubmit", sent)?;
        self.in_flight = true;
        Ok(())
    }

    /// Waits until the device has finished with the slot; at once if it is not in flight.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] if the device does not answer in time; then the slot stays in flight.
    pub(crate) fn wait(&mut self) -> Result<(), DeviceError> {
        if !self.in_flight {
            return Ok(());
        }
        let device = &self.gpu.device;
        let timeout = self.gpu.timeout;
        let nanoseconds = u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence belongs to this device and is pending or signalled.
        let waited = unsafe { device.wait_for_fences(&[self.fence], true, nanoseconds) };
        match waited {
            Ok(()) => {}
            Err(vk::Result::TIMEOUT) => {
                return Err(DeviceError::Lost {
                    device: self.gpu.limits.name.clone(),
                    during: "waiting for a submission".to_string(),
                    what: format!(
                        "no answer in {:.1} s: a kernel hangs or needs longer ({} sets the limit)",
                        timeout.as_secs_f64(),
                        crate::config::ENV_TIMEOUT
                    ),
                });
            }
            Err(error) => {
                // A lost device works on nothing any more.
                self.in_flight = error != vk::Result::ERROR_DEVICE_LOST;
                return self.gpu.check("vkWaitForFences", Err(error));
            }
        }
        self.in_flight = false;
        // SAFETY: the fence is signalled and in no submission.
        let reset = unsafe { device.reset_fences(&[self.fence]) };
        self.gpu.check("vkResetFences", reset)
    }
}

impl Drop for CommandSlot {
    fn drop(&mut self) {
        // The backend leaks slots that are in flight instead of dropping them.
        // SAFETY: not in flight, so nothing uses these; null handles are ignored; once.
        unsafe {
            self.gpu.device.destroy_fence(self.fence, None);
            self.gpu.device.destroy_command_pool(self.pool, None);
        }
    }
}

/// Stages and accesses that a barrier of [`barrier`] can order.
#[derive(Clone, Copy)]
pub(crate) enum Work {
    /// What kernels and transfers read and write: any earlier or later work on the device.
    Device,
    /// Reads by the host after the fence.
    Host,
}

/// Makes the writes of everything recorded or submitted before on the device visible to `next`.
pub(crate) fn barrier(device: &ash::Device, commands: vk::CommandBuffer, next: Work) {
    let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
    let writes = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
    let (after, accesses) = match next {
        Work::Device => (
            stages,
            writes | vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ,
        ),
        Work::Host => (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ),
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
