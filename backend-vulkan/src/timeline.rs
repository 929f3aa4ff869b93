//! How far a stream is: a timeline semaphore, which each of its submissions sets to its number.

use crate::gpu::Gpu;
use crate::slot::nanoseconds;
use ash::vk;
use std::sync::Arc;
use std::time::Duration;
use warpheap_api::host::DeviceError;

/// A timeline semaphore. Whoever waits for it, on the host or in a submission, holds it by an `Arc`: a stream may end before.
pub(crate) struct Timeline {
    pub(crate) raw: vk::Semaphore,
    gpu: Arc<Gpu>,
}

impl Timeline {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Arc<Self>, DeviceError> {
        let mut kind =
            vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
        let info = vk::SemaphoreCreateInfo::default().push_next(&mut kind);
        // SAFETY: the device is alive, and has the feature, without which there are no streams.
        let raw = unsafe { gpu.device.create_semaphore(&info, None) };
        Ok(Arc::new(Timeline {
            raw: gpu.check("vkCreateSemaphore", raw)?,
            gpu: gpu.clone(),
        }))
    }

    /// The number that was reached.
    pub(crate) fn value(&self) -> Result<u64, vk::Result> {
        // SAFETY: a timeline semaphore of this device.
        unsafe { self.gpu.device.get_semaphore_counter_value(self.raw) }
    }

    /// Waits until number `at` is reached, for so long at most; tells whether it was.
    pub(crate) fn wait(&self, at: u64, most: Duration) -> Result<bool, DeviceError> {
        let (semaphores, values) = ([self.raw], [at]);
        let info = vk::SemaphoreWaitInfo::default()
            .semaphores(&semaphores)
            .values(&values);
        // SAFETY: a timeline semaphore of this device, which needs no lock.
        let waited = unsafe { self.gpu.device.wait_semaphores(&info, nanoseconds(most)) };
        match waited {
            Ok(()) => Ok(true),
            Err(vk::Result::TIMEOUT) => Ok(false),
            Err(error) => self.gpu.check("vkWaitSemaphores", Err(error)),
        }
    }
}

impl Drop for Timeline {
    fn drop(&mut self) {
        // SAFETY: submissions that signal it or wait for it hold it alive until they have ended, or were leaked with it; once.
        unsafe { self.gpu.device.destroy_semaphore(self.raw, None) }
    }
}
