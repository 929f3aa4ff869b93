//! The emulator as a backend: memory, and launches that are checked before they run.

use crate::blocks::BlockTable;
use crate::buffers::{MOST_BYTES, Memory, machine_bytes};
use crate::job::{Job, Place};
use crate::{HostConfig, Mode, explore, panics, run};
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use warpheap_api::abi::REPORT_WORDS;
use warpheap_api::host::{
    Arg, Backend, BackendKind, BufferId, Device, DeviceError, DeviceInfo, KernelImage, Launch,
    LaunchReport, ModuleId,
};

/// Most blocks of a launch, as on CUDA devices.
const MAX_GRID_DIM: u32 = i32::MAX as u32;

/// An emulated device.
pub struct HostBackend {
    info: DeviceInfo,
    config: HostConfig,
    /// Held for as long as kernels run, so that the host touches no memory meanwhile.
    memory: Mutex<Memory>,
    blocks: Arc<BlockTable>,
    /// Launches so far.
    launches: AtomicU64,
}

/// Opens an emulated device.
///
/// # Errors
/// [`DeviceError::NoDevice`] if a setting is out of range.
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
        let memory_bytes = machine_bytes();
        let name = match config.mode {
            Mode::Run => format!("emulator (width {})", config.warp_width),
            Mode::Explore { seed } => {
                format!("emulator (width {}, seed {seed})", config.warp_width)
            }
        };
        let info = DeviceInfo {
            backend: BackendKind::Host,
            name: name.clone(),
            driver: concat!("warpheap-host ", env!("CARGO_PKG_VERSION")).into(),
            warp_width: config.warp_width,
            max_block_dim: config.max_block_dim,
            max_grid_dim: MAX_GRID_DIM,
            max_buffer_bytes: MOST_BYTES,
            memory_bytes,
        };
        tracing::debug!(name, threads = config.threads, "emulator opened");
        Ok(HostBackend {
            info,
            config,
            memory: Mutex::new(Memory::new(name, memory_bytes)),
            blocks: Arc::default(),
            launches: AtomicU64::new(0),
        })
    }

    /// The settings of the device.
    pub fn config(&self) -> &HostConfig {
        &self.config
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // A panic elsewhere does not change what the table of buffers says.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Who writes the first word of a heap formats it: what it had handed out is forgotten.
    fn wrote(&self, memory: &Memory, buffer: BufferId, offset: u64, bytes: u64) {
        if offset == 0
            && bytes != 0
            && let Some((base, _)) = memory.place(buffer.0)
        {
            self.blocks.clear(base);
        }
    }

    /// Checks a launch: everything that is needed to run it, except where its report lies.
    fn prepare(&self, memory: &Memory, launch: &Launch<'_>) -> Result<Vec<Place>, DeviceError> {
        let limits = &self.info;
        launch
            .config
            .check(launch.entry, limits.max_grid_dim, limits.max_block_dim)?;
        let mut places = Vec::new();
        for (argument, arg) in launch.args.iter().enumerate() {
            let Some((buffer, offset, bytes)) = arg.binding() else {
                continue;
            };
            let bad = |why: String| DeviceError::BadLaunch {
                kernel: launch.entry.into(),
                why: format!("argument {argument} {why}"),
            };
            let Some((base, room)) = memory.place(buffer.0) else {
                return Err(bad(
                    "is not a buffer of this device: it was given back, or is another device's"
                        .into(),
                ));
            };
            let end = offset.saturating_add(bytes);
            if end > room || offset % 4 != 0 {
                return Err(bad(format!(
                    "takes bytes {offset} to {end} of a buffer that has {room}: it must lie inside, \
                     at whole words"
                )));
            }
            let is_heap = matches!(arg, Arg::Heap(_));
            places.push(Place {
                base: base + offset as usize,
                bytes,
                argument,
                is_heap,
            });
        }
        Ok(places)
    }

    fn job(
        &self,
        memory: &Memory,
        launch: &Launch<'_>,
        places: Vec<Place>,
        report: &[AtomicU32; REPORT_WORDS],
    ) -> Result<Job, DeviceError> {
        let address = |id: BufferId| memory.place(id.0).map_or(0, |(base, _)| base as u64);
        // Exposed to the lanes, which make a pointer of it again.
        let args = launch.arg_block(report.as_ptr().expose_provenance() as u64, address)?;
        let shape = (launch.config.grid_dim, launch.config.block_dim);
        let mut job = Job::new(launch.entry, launch.host, args, shape, &self.config);
        job.places = places;
        job.blocks = self.config.checks_blocks().then(|| self.blocks.clone());
        Ok(job)
    }

    /// Runs one launch to its end or to the first thing that is wrong.
    fn run(&self, mut job: Job) -> Result<(), DeviceError> {
        let number = self.launches.fetch_add(1, Ordering::Relaxed);
        let job = match self.config.mode {
            Mode::Run => {
                let job = Arc::new(job);
                run::run(&job, self.config.threads);
                job
            }
            Mode::Explore { seed } => {
                job.replay = format!(
                    " (explored with WARPHEAP_SEED={seed}, launch {number} of the device: the same \
                     seed replays it)"
                );
                let job = Arc::new(job);
                explore::explore(&job, &self.config, seed, number);
                job
            }
        };
        match job.error() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }
}

impl Backend for HostBackend {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError> {
        self.memory().alloc(bytes).map(BufferId)
    }

    fn dealloc(&self, buffer: BufferId) {
        // The address may be given to another heap as soon as the lock is free.
        let mut memory = self.memory();
        if let Some(base) = memory.dealloc(buffer.0) {
            self.blocks.clear(base);
        }
    }

    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        let mut memory = self.memory();
        memory.write(buffer.0, offset, data)?;
        self.wrote(&memory, buffer, offset, data.len() as u64);
        Ok(())
    }

    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.memory().read(buffer.0, offset, data)
    }

    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        let mut memory = self.memory();
        memory.fill(buffer.0, offset, words, value)?;
        self.wrote(&memory, buffer, offset, words);
        Ok(())
    }

    /// Every image can be loaded: the host's code of a kernel comes with its launch.
    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        tracing::debug!(image = image.name, "the emulator runs the host's code");
        Ok(ModuleId(0))
    }

    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        let memory = self.memory();
        // All are checked before the first one runs.
        let mut jobs = Vec::with_capacity(launches.len());
        let reports: Vec<[AtomicU32; REPORT_WORDS]> =
            launches.iter().map(|_| Default::default()).collect();
        for (launch, report) in launches.iter().zip(&reports) {
            let places = self.prepare(&memory, launch)?;
            jobs.push(self.job(&memory, launch, places, report)?);
        }
        let mut done = Vec::with_capacity(launches.len());
        for (job, report) in jobs.into_iter().zip(&reports) {
            let (kernel, start) = (job.kernel, Instant::now());
            let result = self.run(job);
            let device_time = start.elapsed();
            tracing::debug!(kernel, ?device_time, "launch ended");
            result?;
            done.push(LaunchReport {
                device_time,
                words: report.each_ref().map(|word| word.load(Ordering::Relaxed)),
            });
        }
        Ok(done)
    }
}

impl fmt::Debug for HostBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBackend")
            .field("name", &self.info.name)
            .field("mode", &self.config.mode)
            .finish_non_exhaustive()
    }
}
