//! The backend: what `warpheap_api::host::Backend` asks of a device.

use crate::calls::Calls;
use crate::config::VulkanConfig;
use crate::error::no_device;
use crate::gpu::Gpu;
use crate::instance::Instance;
use crate::limits::Limits;
use crate::pipeline::{Missing, Unready};
use crate::resources;
use crate::select;
use crate::state::State;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use warpheap_api::host::{
    Backend, BackendKind, BufferId, DeviceError, DeviceInfo, KernelImage, KernelResources, Launch,
    LaunchReport, ModuleId, Streams,
};

/// Drives one device through Vulkan.
pub struct VulkanBackend {
    info: DeviceInfo,
    max_shared_bytes: u32,
    has_streams: bool,
    gpu: Arc<Gpu>,
    /// Both are dropped by hand: while the device works on something, they must not be.
    state: Mutex<ManuallyDrop<State>>,
    pub(crate) calls: ManuallyDrop<Calls>,
}

impl VulkanBackend {
    /// Opens a device, without trying whether it computes right: some drivers do not, and callers
    /// run a self-test first.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] with what to do if there is no library, driver or usable device,
    /// or none that `config` names; [`DeviceError::OutOfMemory`] or [`DeviceError::Driver`] if the
    /// driver refuses.
    pub fn new(config: &VulkanConfig) -> Result<Self, DeviceError> {
        let instance = Arc::new(Instance::new(config.validation)?);
        let candidates = select::candidates(&instance)?;
        let found: Vec<_> = candidates.iter().map(select::describe_candidate).collect();
        let mut refused = None;
        for index in select::order(&found, config.device.as_ref())? {
            let opened = Gpu::open(&instance, &candidates[index], config)
                .and_then(|gpu| Self::on(gpu, config));
            match opened {
                Ok(backend) => return Ok(backend),
                Err(error) => {
                    tracing::warn!(%error, "a device does not open");
                    // The best device's reason tells most.
                    refused.get_or_insert(error);
                }
            }
        }
        Err(refused.unwrap_or_else(|| no_device("none was tried")))
    }

    fn on(gpu: Gpu, config: &VulkanConfig) -> Result<Self, DeviceError> {
        let info = describe(&gpu.limits);
        let has_streams = gpu.limits.features.timeline;
        let max_shared_bytes = gpu.limits.max_shared_bytes;
        let gpu = Arc::new(gpu);
        let (mut state, calls) = State::new(gpu.clone(), config.staging_bytes)?;
        state.leave(Ok(()))?;
        tracing::debug!(device = %info.name, driver = %info.driver, "opened");
        Ok(VulkanBackend {
            info,
            max_shared_bytes,
            has_streams,
            gpu,
            state: Mutex::new(ManuallyDrop::new(state)),
            calls: ManuallyDrop::new(calls),
        })
    }

    /// Makes a call: not after a loss, and with what the validation layer has to say about it.
    pub(crate) fn call<T>(
        &self,
        work: impl FnOnce(&mut State) -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        // A panic in another thread leaves nothing half done: the state changes after the driver's
        // calls have succeeded.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.enter()?;
        let result = work(&mut state);
        state.leave(result)
    }

    /// Makes a call that may need a pipeline that is not there, and then comes to nothing.
    pub(crate) fn call_if_compiled<T>(
        &self,
        work: impl FnOnce(&mut State) -> Result<T, Unready>,
    ) -> Result<Result<T, Box<Missing>>, DeviceError> {
        self.call(|state| match work(state) {
            Ok(done) => Ok(Ok(done)),
            Err(Unready::Missing(missing)) => Ok(Err(missing)),
            Err(Unready::Failed(error)) => Err(error),
        })
    }

    /// Makes a call that may need pipelines, which are compiled before.
    pub(crate) fn call_compiled<T>(
        &self,
        mut work: impl FnMut(&mut State) -> Result<T, Unready>,
    ) -> Result<T, DeviceError> {
        loop {
            match self.call_if_compiled(&mut work)? {
                Ok(done) => return Ok(done),
                Err(missing) => self.compile(&missing)?,
            }
        }
    }

    /// Compiles a pipeline, unless another thread does: then that is waited for. Calls of other threads go on meanwhile.
    pub(crate) fn compile(&self, missing: &Missing) -> Result<(), DeviceError> {
        let _turn = missing.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if self.call(|state| Ok(state.pipelines.is_there(missing)))? {
            return Ok(());
        }
        let (entry, block_dim) = (&missing.wanted.entry.name, missing.wanted.block_dim);
        tracing::debug!(kernel = entry.as_str(), block_dim, "is compiled");
        let started = Instant::now();
        let made = self.gpu.compile(&missing.wanted);
        self.call(|state| state.pipelines.add(missing, made, started.elapsed()))
    }

    /// Checks the shapes of launches.
    pub(crate) fn check(&self, launches: &[Launch<'_>]) -> Result<(), DeviceError> {
        let (blocks, lanes) = (self.info.max_grid_dim, self.info.max_block_dim);
        for launch in launches {
            launch.config.check(launch.entry, blocks, lanes)?;
        }
        Ok(())
    }
}

fn describe(limits: &Limits) -> DeviceInfo {
    DeviceInfo {
        backend: BackendKind::Vulkan,
        name: limits.name.clone(),
        driver: limits.driver.clone(),
        warp_width: limits.warp_width,
        max_block_dim: limits.max_block_dim,
        max_grid_dim: limits.max_grid_dim(),
        max_buffer_bytes: limits.max_buffer().0,
        memory_bytes: limits.memory_bytes,
    }
}

impl Backend for VulkanBackend {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn max_shared_bytes(&self) -> u32 {
        self.max_shared_bytes
    }

    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError> {
        self.call(|state| state.memory.alloc(bytes))
    }

    /// A plain buffer: one that is to grow becomes another one.
    fn reserve(&self, bytes: u64, most: u64) -> Result<BufferId, DeviceError> {
        self.call(|state| state.memory.reserve(bytes, most))
    }

    /// By way of a second buffer, to which the device copies.
    fn resize(&self, buffer: BufferId, bytes: u64) -> Result<(), DeviceError> {
        let before = self.call(|state| state.memory.resizable(buffer, bytes))?;
        let other = self.alloc(bytes)?;
        let copied = self.copy((buffer, 0), (other, 0), before.min(bytes));
        let resized = copied.and_then(|()| {
            self.call(|state| {
                state.memory.exchange(buffer, other);
                Ok(())
            })
        });
        // What the buffer was, or what it did not become.
        self.dealloc(other);
        resized
    }

    fn dealloc(&self, buffer: BufferId) {
        // After a loss the device may still be using it.
        let freed = self.call(|state| {
            state.memory.dealloc(buffer);
            Ok(())
        });
        if let Err(error) = freed {
            tracing::warn!(%error, "a buffer could not be freed");
        }
    }

    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        self.transfer(
            &[buffer],
            |state| state.range("write", buffer, offset, bytes),
            |transfer, target| transfer.write(target, offset, data),
        )
    }

    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        let bytes = data.len() as u64;
        self.transfer(
            &[buffer],
            |state| state.range("read", buffer, offset, bytes),
            |transfer, source| transfer.read(source, offset, data),
        )
    }

    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        let bytes = words.saturating_mul(4);
        self.transfer(
            &[buffer],
            |state| state.range("fill", buffer, offset, bytes),
            |transfer, target| transfer.fill(target, offset, bytes, value),
        )
    }

    fn copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(), DeviceError> {
        self.transfer(
            &[from.0, to.0],
            |state| state.ends(from, to, bytes),
            |transfer, [from, to]| transfer.copy(from, to, bytes),
        )
    }

    fn streams(&self) -> Option<&dyn Streams> {
        let streams: &dyn Streams = self;
        self.has_streams.then_some(streams)
    }

    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        self.call(|state| state.pipelines.load(image))
    }

    /// A pipeline is of a number of buffers, too, so that an entry does not tell which.
    fn load_launch(&self, launch: &Launch<'_>) -> Result<(), DeviceError> {
        let launches = std::slice::from_ref(launch);
        self.check(launches)?;
        self.call_compiled(|state| state.prepare(launches).map(drop))
    }

    fn load_time(&self) -> Duration {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.pipelines.load_time
    }

    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        self.run(launches)
    }

    fn keep_pace(&self, on: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.keep_pace(on);
    }

    fn kernel_resources(
        &self,
        module: ModuleId,
        entry: &str,
    ) -> Result<Option<KernelResources>, DeviceError> {
        let wanted = self.call(|state| state.pipelines.asked(module, entry))?;
        wanted.map_or(Ok(None), |wanted| resources::of(&self.gpu, &wanted))
    }
}

impl Drop for VulkanBackend {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: taken once, here, and never used again.
        let (state, calls) = unsafe {
            (
                ManuallyDrop::take(state),
                ManuallyDrop::take(&mut self.calls),
            )
        };
        state.close(calls);
    }
}

impl fmt::Debug for VulkanBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VulkanBackend")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}
