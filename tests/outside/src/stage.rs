//! A device with the kernels, pools of the right size, and launches.

use crate::report::Verdict;
use std::error::Error;
use std::time::Duration;
use warpheap::{
    BackendKind, Device, DeviceError, HostAlloc, LaunchConfig, PlanError, Pool, Prepared,
};

/// Where jobs are done.
#[derive(Debug)]
pub struct Stage {
    /// The device.
    pub device: Device,
    /// Lanes of a launch.
    pub lanes: u32,
    /// Bytes of a pool; without them as many as a job may need.
    pub pool_bytes: Option<u64>,
    /// The kernels.
    pub kernels: outside_kernels::Kernels,
    /// The kernels with Rust's own collections, where there are any.
    pub collections: Option<outside_collections::Kernels>,
}

/// What a job asks of a heap.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    /// Blocks that are live together.
    pub blocks: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blocks that are asked for in all.
    pub all_blocks: u64,
    /// Their bytes.
    pub all_bytes: u64,
    /// Bytes of a block in heaps that have blocks of one size.
    pub page: u32,
}

/// A heap for a job.
#[derive(Debug)]
pub struct Heap<A> {
    /// The pool.
    pub pool: Pool<A>,
    /// Bytes of the largest block that it serves.
    pub largest: u64,
    /// Whether so much is asked for that requests may fail.
    pub may_be_full: bool,
}

/// Pools of a size that nobody asked for are no larger: hash maps reach 32 GiB.
const MOST: u64 = 32 << 30;
/// A heap that is this many times as large as what is asked for has room, however it places blocks.
const ROOMY: u64 = 8;
/// As much for an allocator that lays blocks of all sizes down at random: small ones everywhere leave few long gaps.
const ROOMY_AT_RANDOM: u64 = 96;
/// Bytes of the smallest pool that nobody asked for.
const LEAST: u64 = 64 << 20;

/// How many times as large as what is asked for a heap is.
fn times_roomy<A: HostAlloc>() -> u64 {
    match A::NAME {
        "RandomWalkMalloc" => ROOMY_AT_RANDOM,
        _ => ROOMY,
    }
}

/// The settings of a heap for blocks of one size, where its blocks are.
fn config<A: HostAlloc>(page: u32) -> A::Config {
    // A heap that frees nothing has to have room for all blocks that ever were: small places waste least.
    A::config_for(if A::CAPS.frees { page } else { 64 })
}

impl Demand {
    /// Bytes that the blocks take with an allocator.
    fn bytes_with<A: HostAlloc>(self) -> u64 {
        let whole = A::largest_block(&config::<A>(self.page));
        if !A::CAPS.frees {
            self.all_bytes + 64 * self.all_blocks
        } else if whole <= u64::from(self.page) {
            self.blocks * whole
        } else {
            self.bytes
        }
    }
}

impl Stage {
    /// Opens a device and loads the kernels.
    ///
    /// # Errors
    /// As `Device::open_backend` and `load`.
    pub fn open(
        backend: BackendKind,
        lanes: u32,
        pool_bytes: Option<u64>,
    ) -> Result<Self, DeviceError> {
        let device = Device::open_backend(backend, None)?;
        let collections = match backend {
            // There is no `alloc` on Vulkan, so no image to load.
            BackendKind::Vulkan => None,
            _ => Some(outside_collections::load(&device)?),
        };
        Ok(Stage {
            kernels: outside_kernels::load(&device)?,
            collections,
            device,
            lanes,
            pool_bytes,
        })
    }

    /// The launch of all lanes.
    pub fn shape(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.lanes)
    }

    /// A heap in which there is room for what a job asks, or a verdict if this allocator or device cannot have it.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn heap<A: HostAlloc>(
        &self,
        demand: Demand,
    ) -> Result<Result<Heap<A>, Verdict>, DeviceError> {
        let config = config::<A>(demand.page);
        let needed = demand.bytes_with::<A>();
        let memory = match self.device.info().memory_bytes {
            0 => MOST,
            bytes => bytes / 2,
        };
        let roomy = (LEAST + times_roomy::<A>() * needed).min(MOST).min(memory);
        let mut made = self
            .device
            .reserve_with::<A>(self.pool_bytes.unwrap_or(roomy), &config);
        if let (Err(DeviceError::TooLarge { limit, .. }), None) = (&made, self.pool_bytes) {
            made = self.device.reserve_with::<A>(*limit, &config);
        }
        match made {
            Ok(pool) => Ok(Ok(Heap {
                may_be_full: times_roomy::<A>() * needed > pool.bytes(),
                largest: A::largest_block(&config),
                pool,
            })),
            Err(
                error @ (DeviceError::Plan(PlanError::TooSmall { .. } | PlanError::OnlyOn { .. })
                | DeviceError::TooLarge { .. }
                | DeviceError::OutOfMemory { .. }),
            ) => Ok(Err(Verdict::Refused(error.to_string()))),
            Err(error) => Err(error),
        }
    }

    /// Runs a launch, adds its time on the device, and gives the lanes that returned an error: exhausted, contended,
    /// unsupported.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn run(&self, time: &mut Duration, launch: Prepared) -> Result<[u32; 3], DeviceError> {
        let entry = launch.entry();
        let mut failed = [0; 3];
        for report in self.device.run_all(&[launch])? {
            *time += report.device_time;
            if let Some(failure) = report.failure(entry) {
                failed = failure.by_cause;
            }
        }
        Ok(failed)
    }
}

impl<A: HostAlloc> Heap<A> {
    /// Whether requests that found no memory are no wonder. What is not possible at all is for the caller to know.
    ///
    /// # Errors
    /// The heap had room, and they should have been served.
    pub fn expect_room(&self, [exhausted, contended, _]: [u32; 3]) -> Result<bool, Box<dyn Error>> {
        let full = exhausted + contended != 0;
        if full && !self.may_be_full {
            let text = format!(
                "{exhausted} requests exhausted and {contended} contended in a heap with room: {}",
                self.pool.stats()?
            );
            return Err(text.into());
        }
        Ok(full)
    }

    /// How many times the bytes of the blocks in use are tied to them, for a line; nothing where nothing is freed.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn tied_note(&self) -> Result<String, DeviceError> {
        let usage = self.pool.stats()?.usage;
        Ok(match usage.used_bytes {
            0 => String::new(),
            _ if !A::CAPS.frees => String::new(),
            used => {
                let times = usage.committed_bytes as f64 / used as f64;
                format!("{times:.2} times its blocks tied")
            }
        })
    }

    /// Checks that all memory was given back, where it can be.
    ///
    /// # Errors
    /// Some was not.
    pub fn expect_empty(&self) -> Result<(), Box<dyn Error>> {
        let stats = self.pool.stats()?;
        match stats.usage.used_bytes {
            0 => Ok(()),
            _ if !A::CAPS.frees => Ok(()),
            left => Err(format!("{left} bytes are still in use").into()),
        }
    }
}

/// How many are not what they should be because the allocator's blocks are too small, for a line.
pub fn short_note(number: u32, of: &str, largest: u64) -> String {
    match number {
        0 => String::new(),
        _ => format!("{number} {of}, as no block has more than {largest} bytes"),
    }
}

/// How many lanes found the heap full, for a line.
pub fn full_note(lanes: u32, of: &str) -> String {
    match lanes {
        0 => String::new(),
        _ => format!("{lanes} {of} found the heap full, as it may be"),
    }
}
