//! What runs launches, and what launches have in common: memory, settings, the table of live blocks.

use crate::blocks::BlockTable;
use crate::buffers::{MOST_BYTES, Memory, machine_bytes};
use crate::job::{Job, Place, Report};
use crate::shared::Kept;
use crate::span::Span;
use crate::unwritten::Marks;
use crate::{HostConfig, Mode, explore, run};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use warpheap_api::host::{
    Arg, BackendKind, BufferId, DeviceError, DeviceInfo, Launch, LaunchReport,
};

/// Most blocks of a launch, as on CUDA devices.
const MAX_GRID_DIM: u32 = i32::MAX as u32;

/// What the backend shares with the threads of its streams. They may outlive it, so it has none of them.
pub(crate) struct Emulator {
    pub(crate) info: DeviceInfo,
    pub(crate) config: HostConfig,
    memory: Mutex<Memory>,
    /// Held by calls that the host waits for, for as long as they take: of these one comes after the other, so that reads and
    /// writes fall between launches, and no buffer is given back that one of them uses. Streams do not wait for them.
    calls: Mutex<()>,
    /// Explore mode: held while a launch runs. Its schedule is the seed's only if nobody else runs lanes.
    explores: Mutex<()>,
    blocks: Arc<BlockTable>,
    unwritten: Marks,
    /// Launches so far.
    launches: AtomicU64,
}

/// Enters a lock.
pub(crate) fn enter<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole whenever something can panic.
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Emulator {
    /// An emulator with these settings, which were checked.
    pub(crate) fn new(config: HostConfig) -> Self {
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
        Emulator {
            info,
            config,
            memory: Mutex::new(Memory::new(name, memory_bytes)),
            calls: Mutex::default(),
            explores: Mutex::default(),
            blocks: Arc::default(),
            unwritten: Marks::default(),
            launches: AtomicU64::new(0),
        }
    }

    /// The table of buffers.
    pub(crate) fn memory(&self) -> MutexGuard<'_, Memory> {
        enter(&self.memory)
    }

    /// Begins a call that the host waits for.
    pub(crate) fn call(&self) -> MutexGuard<'_, ()> {
        enter(&self.calls)
    }

    /// An error of a call of this name.
    pub(crate) fn error(&self, call: &'static str, what: String) -> DeviceError {
        DeviceError::Driver {
            device: self.info.name.clone(),
            call,
            what,
        }
    }

    /// To be told of what the host has written. Who writes the first word of a heap formats it: what it had handed out is
    /// forgotten.
    pub(crate) fn wrote(&self, to: &Span) {
        if to.len() != 0 {
            let address = to.address();
            if self.blocks.clear(address) {
                self.unwritten.clear(address);
            }
            self.unwritten.wrote(address..address + to.len() * 4);
        }
    }

    /// Gives a buffer back.
    pub(crate) fn dealloc(&self, buffer: BufferId) {
        // The address may be given to another heap as soon as the lock is free.
        let mut memory = self.memory();
        if let Some(base) = memory.dealloc(buffer.0) {
            self.blocks.clear(base);
            self.unwritten.forget(base);
        }
    }

    /// Checks launches, and makes all that is needed to run them.
    pub(crate) fn jobs(&self, launches: &[Launch<'_>]) -> Result<Vec<Job>, DeviceError> {
        let memory = self.memory();
        let job = |launch: &Launch<'_>| {
            let places = self.prepare(&memory, launch)?;
            self.job(&memory, launch, places)
        };
        launches.iter().map(job).collect()
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
                why: format!("its argument {} {why}", argument + 1),
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
    ) -> Result<Job, DeviceError> {
        let address = |id: BufferId| memory.place(id.0).map_or(0, |(base, _)| base as u64);
        let report = Arc::<Report>::default();
        // Exposed to the lanes, which make a pointer of it again.
        let args = launch.arg_block(report.as_ptr().expose_provenance() as u64, address)?;
        let shape = (launch.config.grid_dim, launch.config.block_dim);
        let with = (args, report);
        let mut job = Job::new(launch.entry, launch.host, with, shape, &self.config);
        job.places = places;
        job.checks_blocks = self.config.checks_blocks();
        if self.config.unwritten {
            let heaps = launch.args.iter().filter(|arg| matches!(arg, Arg::Heap(_)));
            let marks = |arg: &Arg| {
                let id = arg.binding()?.0.0;
                Some(self.unwritten.of(memory.place(id)?.0, memory.room(id)?))
            };
            job.unwritten = heaps.filter_map(marks).collect();
        }
        let wanted = job.checks_blocks || self.config.unwritten;
        job.blocks = wanted.then(|| self.blocks.clone());
        Ok(job)
    }

    /// The number of the next launch.
    pub(crate) fn number(&self) -> u64 {
        self.launches.fetch_add(1, Ordering::Relaxed)
    }

    /// Runs one launch, with its number, to its end or to the first thing that is wrong.
    pub(crate) fn run(&self, mut job: Job, number: u64) -> Result<LaunchReport, DeviceError> {
        let (job, device_time) = match self.config.mode {
            Mode::Run => {
                let (job, start) = (Arc::new(job), Instant::now());
                run::run(&job, self.config.threads);
                (job, start.elapsed())
            }
            Mode::Explore { seed } => {
                job.replay = format!(
                    " (explored with WARPHEAP_SEED={seed}, launch {number} of the device: the same \
                     seed replays it)"
                );
                job.shared = Kept::all();
                let job = Arc::new(job);
                let _alone = enter(&self.explores);
                let start = Instant::now();
                explore::explore(&job, &self.config, seed, number);
                (job, start.elapsed())
            }
        };
        match job.error() {
            Some(error) => Err(error),
            None => Ok(LaunchReport {
                device_time,
                words: job.report(),
            }),
        }
    }
}
