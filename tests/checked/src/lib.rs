//! What the tests of `Checked` share: devices with the kernels, and a heap in which lanes take steps.

use warpheap_api::DevicePtr;
use warpheap_api::host::{
    BackendKind, Device, DeviceError, DeviceVec, HostAlloc, LaunchConfig, LaunchReport, Mistake,
    Mistakes, Pool, Prepared,
};
use warpheap_checked_kernels::Step;
use warpheap_rt::adaptor::Checked;
use warpheap_rt::arch::Words;
use warpheap_rt::host::{CheckedConfig, HeapInspection};
use warpheap_test_devices as devices;

devices::site!(Device, warpheap_checked_kernels, devices::roomy);
devices::gpus!("`Checked`");

impl Site {
    /// What all lanes of a launch do, and its shape: lanes without a step do nothing.
    pub fn steps(&self, steps: &[LaneStep]) -> (DeviceVec<Step>, LaunchConfig) {
        let mut all = vec![Step::IDLE; (BLOCK * GRID) as usize];
        for &(lane, step) in steps {
            all[lane as usize] = step;
        }
        let config = LaunchConfig {
            grid_dim: GRID,
            block_dim: BLOCK,
        };
        let steps = DeviceVec::from_slice(&self.device, &all).expect("steps");
        (steps, config)
    }

    /// Whether a device tells the line of a call.
    pub fn tells_lines(&self) -> bool {
        self.device.info().backend == BackendKind::Host
    }
}

/// An allocator that the kernels are compiled for.
pub trait Subject: warpheap_checked_kernels::Allocator + HostAlloc<Memory = Words> {}
impl<A: warpheap_checked_kernels::Allocator + HostAlloc<Memory = Words>> Subject for A {}

/// Slots for handles.
pub const SLOTS: usize = 64;
/// Lanes of a block.
pub const BLOCK: u32 = 8;
/// Blocks of a launch.
pub const GRID: u32 = 4;

/// A step of the lane with this index in the launch.
pub type LaneStep = (u32, Step);

/// A heap in which lanes take steps.
pub struct World<'a, A: HostAlloc<Memory = Words>> {
    /// The device.
    pub site: &'a Site,
    /// The heap.
    pub pool: Pool<Checked<A>>,
    /// The handles.
    pub slots: DeviceVec<u32>,
}

/// A launch of steps by one of the kernels.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// `mallocs`
    Malloc,
    /// `frees`
    Free,
    /// `reallocs`
    Realloc,
    /// `writes`
    Write,
}

/// A heap with these settings.
fn reserve<A: HostAlloc<Memory = Words>>(
    site: &Site,
    bytes: u64,
    config: &CheckedConfig<A::Config>,
) -> Pool<Checked<A>> {
    let pool = site.device.reserve_with(bytes, config);
    pool.expect("the heap is made")
}

impl<'a, A: HostAlloc<Memory = Words>> World<'a, A>
where
    Checked<A>: Subject,
{
    /// A fresh heap, whose quarantine has so many places.
    pub fn new(site: &'a Site, bytes: u64, waiting: Option<u32>) -> Self {
        let config = CheckedConfig {
            waiting,
            ..CheckedConfig::default()
        };
        Self::with(site, bytes, &config)
    }

    /// A fresh heap with these settings.
    pub fn with(site: &'a Site, bytes: u64, config: &CheckedConfig<A::Config>) -> Self {
        World {
            site,
            pool: reserve(site, bytes, config),
            slots: DeviceVec::zeroed(&site.device, SLOTS).expect("slots"),
        }
    }

    /// A launch in which lanes take steps.
    pub fn prepare(&self, kind: Kind, steps: &[LaneStep]) -> Prepared {
        let (steps, config) = self.site.steps(steps);
        let (kernels, pool, slots) = (&self.site.kernels, &self.pool, &self.slots);
        // SAFETY: the heap finds mistakes, and writes stay in it.
        unsafe {
            match kind {
                Kind::Malloc => kernels.mallocs_launch(pool, config, &steps, slots),
                Kind::Free => kernels.frees_launch(pool, config, &steps, slots),
                Kind::Realloc => kernels.reallocs_launch(pool, config, &steps, slots),
                Kind::Write => kernels.writes_launch(pool, config, &steps, slots),
            }
        }
    }

    /// The same, run.
    pub fn run(&self, kind: Kind, steps: &[LaneStep]) -> Result<LaunchReport, DeviceError> {
        self.prepare(kind, steps).run()
    }

    /// The same, in which nothing is wrong.
    pub fn right(&self, kind: Kind, steps: &[LaneStep]) {
        self.run(kind, steps).expect("nothing is wrong");
    }

    /// The same, in which the heap finds mistakes.
    pub fn wrong(&self, kind: Kind, steps: &[LaneStep]) -> Mistakes {
        mistakes(self.run(kind, steps))
    }

    /// The same, in which it finds one.
    pub fn one_wrong(&self, kind: Kind, steps: &[LaneStep]) -> Mistake {
        only(self.wrong(kind, steps))
    }

    /// The handle in a slot.
    pub fn handle(&self, slot: usize) -> DevicePtr<u8> {
        DevicePtr::from_granule(self.slots.to_vec().expect("slots")[slot])
    }

    /// Puts a handle into a slot.
    pub fn set_handle(&mut self, slot: usize, granule: u32) {
        self.slots.copy_range_from(slot, &[granule]).expect("slots");
    }

    /// A look through the heap.
    pub fn inspect(&self) -> HeapInspection {
        Checked::inspect(&self.pool).expect("the heap is read")
    }

    /// Bytes in use, by the inner allocator.
    pub fn used(&self) -> u64 {
        self.pool.stats().expect("stats").usage.used_bytes
    }
}

/// The mistakes that a launch ended with.
pub fn mistakes<T>(result: Result<T, DeviceError>) -> Mistakes {
    match result {
        Err(DeviceError::Mistakes(found)) => found.mistakes,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no mistake was found"),
    }
}

/// The one mistake that there is.
pub fn only(mistakes: Mistakes) -> Mistake {
    assert_eq!(mistakes.count, 1, "{mistakes:?}");
    mistakes.first.into_iter().next().expect("it is kept")
}

/// A step.
pub const fn step(slot: usize, size: u32, other: u32) -> Step {
    Step {
        slot: slot as u32,
        size,
        other,
    }
}

/// Functions that run a test with both allocators.
#[macro_export]
macro_rules! with_both {
    ($($name:ident => $test:ident),* $(,)?) => {$(
        fn $name(site: &$crate::Site) {
            $test::<warpheap_rt::alloc::WarpHeap>(site);
            $test::<warpheap_rt::alloc::ScatterAlloc>(site);
        }
    )*};
}

/// Tests that hand a function the emulator at five widths, under a few schedules in each, and GPUs.
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
                    for seed in 0..3 {
                        super::$test(&Site::explored(width, seed));
                    }
                }
            }

            #[test]
            fn modelled() {
                for width in [1, 4, 32] {
                    super::$test(&Site::modelled(width, 1));
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
