//! The emulator as a backend: the calls that the host waits for.

use crate::emulator::Emulator;
use crate::opened::OpenStreams;
use crate::{HostConfig, panics};
use std::fmt;
use std::sync::Arc;
use warpheap_api::host::{
    Backend, BufferId, Device, DeviceError, DeviceInfo, KernelImage, Launch, LaunchReport,
    ModuleId, Streams,
};

/// An emulated device.
///
/// Each of its [`Streams`] is a thread, which runs what is queued there: beside the threads of other streams, and beside calls
/// that the host waits for. Dropping the device waits for all of it.
pub struct HostBackend {
    pub(crate) emulator: Arc<Emulator>,
    pub(crate) streams: OpenStreams,
}

/// Opens an emulated device.
///
/// # Errors
/// [`DeviceError::BadConfig`] if a setting is out of range.
pub fn open(config: HostConfig) -> Result<Device, DeviceError> {
    Ok(Device::new(Arc::new(HostBackend::new(config)?)))
}

impl HostBackend {
    /// An emulated device with these settings.
    ///
    /// # Errors
    /// As [`open`].
    pub fn new(config: HostConfig) -> Result<Self, DeviceError> {
        config.check()?;
        panics::watch();
        Ok(HostBackend {
            emulator: Arc::new(Emulator::new(config)),
            streams: OpenStreams::default(),
        })
    }

    /// The settings of the device.
    pub fn config(&self) -> &HostConfig {
        &self.emulator.config
    }
}

impl Backend for HostBackend {
    fn info(&self) -> &DeviceInfo {
        &self.emulator.info
    }

    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError> {
        self.emulator.memory().alloc(bytes).map(BufferId)
    }

    fn reserve(&self, bytes: u64, most: u64) -> Result<BufferId, DeviceError> {
        self.emulator.memory().reserve(bytes, most).map(BufferId)
    }

    fn resize(&self, buffer: BufferId, bytes: u64) -> Result<(), DeviceError> {
        let _call = self.emulator.call();
        self.emulator.memory().resize(buffer.0, bytes)
    }

    fn dealloc(&self, buffer: BufferId) {
        let _call = self.emulator.call();
        self.emulator.dealloc(buffer);
    }

    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let _call = self.emulator.call();
        let bytes = Some(data.len() as u64);
        let to = self
            .emulator
            .memory()
            .span("write", (buffer, offset), bytes)?;
        // SAFETY: buffers are given back in calls, and this is the only one now.
        unsafe { to.write(data) };
        self.emulator.wrote(&to);
        Ok(())
    }

    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let _call = self.emulator.call();
        let bytes = Some(data.len() as u64);
        let from = self
            .emulator
            .memory()
            .span("read", (buffer, offset), bytes)?;
        // SAFETY: as in `write`.
        unsafe { from.read(data) };
        Ok(())
    }

    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        let _call = self.emulator.call();
        let bytes = words.checked_mul(4);
        let to = self
            .emulator
            .memory()
            .span("fill", (buffer, offset), bytes)?;
        // SAFETY: as in `write`.
        unsafe { to.fill(value) };
        self.emulator.wrote(&to);
        Ok(())
    }

    /// Ranges that overlap are [`DeviceError::OutOfRange`].
    fn copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let _call = self.emulator.call();
        let (from, to) = self.emulator.memory().spans_of_copy(from, to, bytes)?;
        // SAFETY: as in `write`.
        unsafe { to.copy_from(&from) };
        self.emulator.wrote(&to);
        Ok(())
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    /// Every image can be loaded: the host's code of a kernel comes with its launch.
    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        tracing::debug!(image = image.name, "the emulator runs the host's code");
        Ok(ModuleId(0))
    }

    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        let _call = self.emulator.call();
        // All are checked before the first one runs.
        let jobs = self.emulator.jobs(launches)?;
        let run = |job| self.emulator.run(job, self.emulator.number());
        jobs.into_iter().map(run).collect()
    }
}

impl fmt::Debug for HostBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBackend")
            .field("name", &self.emulator.info.name)
            .field("mode", &self.emulator.config.mode)
            .finish_non_exhaustive()
    }
}
