//! What the tests of heaps of larger granules share: devices with the kernels, and blocks that lanes hold.

use warpheap_api::host::{Device, DeviceError, DeviceVec, HostAlloc, LaunchConfig, Pool};
use warpheap_rt::arch::Words;
use warpheap_test_devices as devices;
use warpheap_wide_kernels::Held;

devices::site!(Device, warpheap_wide_kernels, devices::roomy);
devices::gpus!("heaps of larger granules");

/// An allocator that the kernels are compiled for.
pub trait Subject: warpheap_wide_kernels::Allocator + HostAlloc<Memory = Words> {}
impl<A: warpheap_wide_kernels::Allocator + HostAlloc<Memory = Words>> Subject for A {}

/// Blocks that the lanes of a launch hold in one heap.
pub struct Blocks<'a, A: Subject> {
    site: &'a Site,
    /// The heap.
    pub pool: Pool<A>,
    held: DeviceVec<Held>,
    found: DeviceVec<u32>,
}

impl<'a, A: Subject> Blocks<'a, A> {
    /// None yet, of so many lanes in a heap of so many bytes.
    pub fn new(site: &'a Site, pool: Pool<A>, lanes: u32) -> Result<Self, DeviceError> {
        Ok(Blocks {
            site,
            pool,
            held: DeviceVec::from_slice(&site.device, &vec![Held::NONE; lanes as usize])?,
            found: DeviceVec::zeroed(&site.device, lanes as usize)?,
        })
    }

    fn config(&self) -> LaunchConfig {
        LaunchConfig::for_num_elems(self.held.len() as u32)
    }

    /// Lanes without a block ask for one of these bytes each, and write every `step`-th word of it; how many failed, by cause.
    pub fn take(&mut self, step: u32, bytes: impl Fn(u32) -> u32) -> Result<[u32; 3], DeviceError> {
        let mut held = self.held.to_vec()?;
        for (lane, held) in (0..).zip(&mut held) {
            if held.ptr.is_null() {
                (held.bytes, held.stamp) = (bytes(lane), held.stamp + lane + 1);
            }
        }
        self.held.copy_from(&held)?;
        let ran = self
            .site
            .kernels
            .take(&self.pool, self.config(), step, &mut self.held);
        failures(ran.map(drop))
    }

    /// Blocks get another size each; how many failed, by cause.
    pub fn resize(&mut self, bytes: impl Fn(u32) -> u32) -> Result<[u32; 3], DeviceError> {
        let bytes: Vec<u32> = (0..self.held.len() as u32).map(bytes).collect();
        let bytes = DeviceVec::from_slice(&self.site.device, &bytes)?;
        let (config, kernels) = (self.config(), &self.site.kernels);
        let ran = kernels.resize(&self.pool, config, &bytes, &mut self.held, &mut self.found);
        failures(ran.map(drop))
    }

    /// Lanes get blocks of zeros for a moment.
    pub fn zeros(&mut self, bytes: impl Fn(u32) -> u32) -> Result<[u32; 3], DeviceError> {
        let bytes: Vec<u32> = (0..self.held.len() as u32).map(bytes).collect();
        let bytes = DeviceVec::from_slice(&self.site.device, &bytes)?;
        let (config, kernels) = (self.config(), &self.site.kernels);
        let ran = kernels.zeros(&self.pool, config, &bytes, &mut self.found);
        failures(ran.map(drop))
    }

    /// Each lane uses containers of so many elements.
    pub fn containers(&mut self, number: u32) -> Result<[u32; 3], DeviceError> {
        let (config, kernels) = (self.config(), &self.site.kernels);
        let ran = kernels.containers(&self.pool, config, number, &mut self.found);
        failures(ran.map(drop))
    }

    /// Frees all blocks.
    pub fn give(&mut self) -> Result<(), DeviceError> {
        let (config, kernels) = (self.config(), &self.site.kernels);
        kernels.give(&self.pool, config, &mut self.held).map(drop)
    }

    /// How many words were ever wrong, those of now among them.
    pub fn wrong(&mut self, step: u32) -> Result<u64, DeviceError> {
        let (config, kernels) = (self.config(), &self.site.kernels);
        kernels.check(&self.pool, config, step, &self.held, &mut self.found)?;
        Ok(self.found.to_vec()?.into_iter().map(u64::from).sum())
    }

    /// The blocks: where each begins, and how many bytes were asked for.
    pub fn places(&self) -> Result<Vec<(u64, u64)>, DeviceError> {
        let held = self.held.to_vec()?;
        let there = held.into_iter().filter(|held| !held.ptr.is_null());
        let place = |held: Held| (self.pool.offset_of(held.ptr), u64::from(held.bytes));
        Ok(there.map(place).collect())
    }
}

/// How many lanes failed, by cause.
fn failures(ran: Result<(), DeviceError>) -> Result<[u32; 3], DeviceError> {
    match ran {
        Ok(()) => Ok([0; 3]),
        Err(DeviceError::Kernel(failure)) => Ok(failure.by_cause),
        Err(other) => Err(other),
    }
}

/// Makes a test of each of these functions in the emulator, at several widths of a warp, also under an explored schedule, and on the GPUs that there are.
#[macro_export]
macro_rules! everywhere {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use $crate::Site;

            #[test]
            fn widths() {
                for width in [1, 4, 8, 32, 64] {
                    super::$test(&Site::host(width));
                }
            }

            #[test]
            fn explored() {
                for width in [1, 4, 8, 32, 64] {
                    super::$test(&Site::explored(width, 1));
                }
            }

            #[cfg(feature = "vulkan")]
            #[test]
            fn vulkan() {
                if let Some(site) = Site::vulkan() {
                    super::$test(&site);
                }
            }

            #[cfg(feature = "cuda")]
            #[test]
            fn cuda() {
                if let Some(site) = Site::cuda() {
                    super::$test(&site);
                }
            }
        }
    )*};
}
