//! An opened device.

use super::{
    Backend, DeviceError, DeviceInfo, HeapCalls, HostAlloc, KernelImage, LaunchReport, Module,
    Pool, Prepared, RawBuffer,
};
use std::sync::Arc;
use std::time::Duration;
use std::vec::Vec;

/// An opened device; clones name the same one. Everything else is made from it.
#[derive(Clone, Debug)]
pub struct Device {
    backend: Arc<dyn Backend>,
    calls: Option<Arc<dyn HeapCalls>>,
}

impl Device {
    /// A device driven by `backend`.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Device {
            backend,
            calls: None,
        }
    }

    /// The same device, with kernels through which the host can allocate in a heap; see
    /// [`Pool::malloc`].
    pub fn with_heap_calls(mut self, calls: Arc<dyn HeapCalls>) -> Self {
        self.calls = Some(calls);
        self
    }

    /// What is known of the device.
    pub fn info(&self) -> &DeviceInfo {
        self.backend.info()
    }

    /// The backend that drives it.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// How long kernels took to load since the device was opened, which device times of launches have none of; see
    /// [`Backend::load_time`].
    pub fn load_time(&self) -> Duration {
        self.backend.load_time()
    }

    /// Whether launches wait until the device runs at its full clock; they do not unless told so. For programs that time
    /// launches: a GPU may run at a fraction of its clock when it had nothing to do for a while. An H200 under Vulkan takes 5.6
    /// times its time for the first 0.2 to 0.35 s behind a pause of 2 s.
    ///
    /// It costs 0.4 s of work on the device before a launch, once a second at most, on Vulkan alone: CUDA keeps the clock up by
    /// itself, and the emulator has none.
    pub fn keep_pace(&self, on: bool) {
        self.backend.keep_pace(on);
    }

    /// The kernels through which the host allocates, if there are any.
    pub fn heap_calls(&self) -> Option<&Arc<dyn HeapCalls>> {
        self.calls.as_ref()
    }

    /// Lays out a heap of `bytes` bytes, its metadata included, with the allocator's default
    /// settings.
    ///
    /// # Errors
    /// [`DeviceError::Plan`] for sizes that the allocator cannot use, [`DeviceError::TooLarge`] and
    /// [`DeviceError::OutOfMemory`] for sizes that the device cannot give.
    pub fn reserve<A: HostAlloc>(&self, bytes: u64) -> Result<Pool<A>, DeviceError> {
        Pool::new(self, bytes, &A::Config::default())
    }

    /// Like [`reserve`](Self::reserve), with settings.
    ///
    /// # Errors
    /// As `reserve`; [`PlanError::BadSetting`](super::PlanError::BadSetting) for settings out of
    /// range.
    pub fn reserve_with<A: HostAlloc>(
        &self,
        bytes: u64,
        config: &A::Config,
    ) -> Result<Pool<A>, DeviceError> {
        Pool::new(self, bytes, config)
    }

    /// Raw memory of the device, at least `bytes` of it, with unspecified contents.
    ///
    /// # Errors
    /// As [`Backend::alloc`].
    pub fn alloc(&self, bytes: u64) -> Result<RawBuffer, DeviceError> {
        RawBuffer::new(self, bytes)
    }

    /// Loads an image. For those that `device_module!` embeds there is a typed wrapper, its function
    /// `load`.
    ///
    /// # Errors
    /// As [`Backend::load`].
    pub fn load(&self, image: &KernelImage<'_>) -> Result<Module, DeviceError> {
        let id = self.backend.load(image)?;
        Ok(Module::loaded(self, image.name, id))
    }

    /// Runs launches in order on the device, queued together: each sees what the ones before wrote,
    /// and the device does not wait for the host between them. Reports tell of lanes that returned
    /// errors; they are no error here.
    ///
    /// # Errors
    /// As [`Module::id`] and [`Backend::submit`].
    pub fn run_all(&self, launches: &[Prepared]) -> Result<Vec<LaunchReport>, DeviceError> {
        let launches: Result<Vec<_>, _> = launches.iter().map(Prepared::launch).collect();
        self.backend.submit(&launches?)
    }
}
