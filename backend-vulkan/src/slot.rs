//! What one submission of a synchronous call needs: commands with a fence. Record, submit, wait.

use crate::commands::Commands;
use crate::gpu::Gpu;
use crate::line::Line;
use ash::vk;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::DeviceError;

/// Commands that are recorded and submitted again and again.
pub(crate) struct CommandSlot {
    gpu: Arc<Gpu>,
    line: Arc<Line>,
    commands: Commands,
    fence: vk::Fence,
    in_flight: bool,
    /// How long the submission may take.
    patience: Duration,
}

impl CommandSlot {
    /// For submissions to one queue, with a name for tools.
    pub(crate) fn new(gpu: &Arc<Gpu>, line: &Arc<Line>, name: &str) -> Result<Self, DeviceError> {
        let commands = Commands::new(gpu, name)?;
        // SAFETY: the device is alive.
        let fence = unsafe {
            let info = vk::FenceCreateInfo::default();
            gpu.device.create_fence(&info, None)
        };
        Ok(CommandSlot {
            gpu: gpu.clone(),
            line: line.clone(),
            commands,
            fence: gpu.check("vkCreateFence", fence)?,
            in_flight: false,
            patience: gpu.timeout,
        })
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

    /// Whether there is a submission that was not waited for.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.in_flight
    }

    /// Begins recording; what was recorded before is gone. Waits if the slot is in flight.
    pub(crate) fn begin(&mut self) -> Result<vk::CommandBuffer, DeviceError> {
        self.wait()?;
        // SAFETY: not in flight.
        unsafe { self.commands.begin() }
    }

    /// Ends recording and hands the commands to the queue.
    pub(crate) fn submit(&mut self) -> Result<(), DeviceError> {
        self.submit_behind(0)
    }

    /// The same behind so many other submissions of the caller, which it waits for first.
    pub(crate) fn submit_behind(&mut self, own: u32) -> Result<(), DeviceError> {
        let buffers = [self.commands.end()?];
        let info = [vk::SubmitInfo::default().command_buffers(&buffers)];
        // SAFETY: the fence is unsignalled (made so, and reset by `wait`), and the buffer is ready.
        let sent = unsafe { self.line.submit_call(&self.gpu.device, &info, self.fence) };
        // It comes behind what streams and other calls have in this queue.
        let ahead = self.gpu.check("vkQueueSubmit", sent)?.saturating_sub(own);
        self.patience = self.gpu.timeout.saturating_mul(ahead.saturating_add(1));
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
        let nanoseconds = nanoseconds(self.patience);
        // SAFETY: the fence belongs to this device and is pending or signalled.
        let waited = unsafe { device.wait_for_fences(&[self.fence], true, nanoseconds) };
        match waited {
            Ok(()) => {}
            Err(vk::Result::TIMEOUT) => {
                let during = "waiting for a submission".to_string();
                return Err(self.gpu.no_answer(during, self.patience));
            }
            Err(error) => {
                // A lost device works on nothing any more.
                self.in_flight = error != vk::Result::ERROR_DEVICE_LOST;
                return self.gpu.check("vkWaitForFences", Err(error));
            }
        }
        self.in_flight = false;
        self.line.call_ended();
        // SAFETY: the fence is signalled and in no submission.
        let reset = unsafe { device.reset_fences(&[self.fence]) };
        self.gpu.check("vkResetFences", reset)
    }
}

impl Drop for CommandSlot {
    fn drop(&mut self) {
        // The backend leaks slots that are in flight instead of dropping them.
        // SAFETY: not in flight, so nothing uses it; once.
        unsafe { self.gpu.device.destroy_fence(self.fence, None) }
    }
}

/// A time as the driver takes it.
pub(crate) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
