//! An opened device.

use super::bound::Bound;
use super::order::{Demand, Order, Permit};
use super::watch::Watched;
use super::{
    Backend, DeviceError, DeviceInfo, HeapCalls, HostAlloc, KernelImage, LaunchReport, Module,
    Pool, Prepared, RawBuffer, Stream, told,
};
use std::string::String;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use std::vec::Vec;

/// An opened device; clones name the same one. Everything else is made from it.
#[derive(Clone, Debug)]
pub struct Device {
    shared: Arc<Shared>,
    calls: Option<Arc<dyn HeapCalls>>,
}

/// What all that is made from a device shares.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) order: Order,
    pub(super) bound: Bound,
    /// Which of its backend's devices it is.
    pub(super) number: OnceLock<usize>,
}

impl Shared {
    /// Begins a call that uses memory so, when all that has to come first has ended.
    pub(super) fn permit<'a>(&'a self, demands: &'a [Demand]) -> Result<Permit<'a>, DeviceError> {
        let permit = self.order.begin(demands);
        if let Some(streams) = self.backend.streams() {
            for &mark in permit.after() {
                streams.wait(mark)?;
                self.order.reached(mark);
            }
        }
        Ok(permit)
    }
}

impl Device {
    /// A device driven by `backend`. One for each: it is clones of it that know of each other's streams.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        let order = Order::default();
        Device {
            shared: Arc::new(Shared {
                backend,
                order,
                bound: Bound::default(),
                number: OnceLock::new(),
            }),
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
        self.shared.backend.info()
    }

    /// The backend that drives it.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.shared.backend
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    pub(super) fn order(&self) -> &Order {
        &self.shared.order
    }

    /// Whether the two are clones of one.
    pub(super) fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Refuses what is of another device.
    pub(super) fn owns(
        &self,
        of: &Device,
        what: impl FnOnce() -> String,
        how: &'static str,
    ) -> Result<(), DeviceError> {
        match self.is(of) {
            true => Ok(()),
            false => Err(self.refuses(what(), of.shared(), how)),
        }
    }

    /// The error for what is of another device.
    pub(super) fn refuses(&self, what: String, other: &Shared, how: &'static str) -> DeviceError {
        let [device, other] = self.shared.told_apart(other);
        DeviceError::OtherDevice {
            what,
            other,
            device,
            how,
        }
    }

    /// How long kernels took to load since the device was opened, which device times of launches have none of; see
    /// [`Backend::load_time`].
    pub fn load_time(&self) -> Duration {
        self.shared.backend.load_time()
    }

    /// Whether launches wait until the device runs at its full clock; they do not unless told so. For programs that time
    /// launches: a GPU may run at a fraction of its clock when it had nothing to do for a while. An H200 under Vulkan takes 5.6
    /// times its time for the first 0.2 to 0.35 s behind a pause of 2 s.
    ///
    /// It costs 0.4 s of work on the device before a launch, once a second at most, on Vulkan alone: CUDA keeps the clock up by
    /// itself, and the emulator has none.
    pub fn keep_pace(&self, on: bool) {
        self.shared.backend.keep_pace(on);
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

    /// Lays out a heap of `bytes` bytes that [`Pool::grow_to`] can make as large as `most`, with the allocator's default settings.
    ///
    /// `most` may be more than the device has. What it costs is the metadata of a heap of that size, which are there from the
    /// beginning: of WarpHeap 0.9 % of `most`, taken from the `bytes`. On CUDA and the host nothing else is taken
    /// before the heap grows, and nothing is copied then; on Vulkan a heap that grows is copied on the device.
    ///
    /// # Errors
    /// As [`reserve`](Self::reserve); [`PlanError::CannotGrow`](super::PlanError::CannotGrow) if heaps of the
    /// allocator have one size; [`DeviceError::CannotResize`] if the device cannot reserve memory without taking it.
    pub fn reserve_growing<A: HostAlloc>(
        &self,
        bytes: u64,
        most: u64,
    ) -> Result<Pool<A>, DeviceError> {
        Pool::growing(self, bytes, most, &A::Config::default())
    }

    /// Like [`reserve_growing`](Self::reserve_growing), with settings.
    ///
    /// # Errors
    /// As `reserve_growing`; [`PlanError::BadSetting`](super::PlanError::BadSetting) for settings out of range.
    pub fn reserve_growing_with<A: HostAlloc>(
        &self,
        bytes: u64,
        most: u64,
        config: &A::Config,
    ) -> Result<Pool<A>, DeviceError> {
        Pool::growing(self, bytes, most, config)
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
        let id = self.shared.backend.load(image)?;
        Ok(Module::loaded(self, image.name, id))
    }

    /// Opens a stream: a queue of launches and copies that the host does not wait for. On CUDA and Vulkan streams are those of
    /// the driver, where Vulkan has queues to spare; on the host each is a thread.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Lost`], [`DeviceError::Driver`].
    pub fn stream(&self) -> Result<Stream, DeviceError> {
        Stream::open(self, false)
    }

    /// Opens a stream whose kernels go first: where others have more blocks than fit on the device, those of this stream are the next that
    /// begin. What runs is not stopped. For short work that others wait for, beside long work that nobody does.
    ///
    /// On CUDA alone it is more than a [stream](Self::stream).
    ///
    /// # Errors
    /// As [`stream`](Self::stream).
    pub fn urgent_stream(&self) -> Result<Stream, DeviceError> {
        Stream::open(self, true)
    }

    /// Runs launches in order on the device, queued together: each sees what the ones before wrote,
    /// and the device does not wait for the host between them. Reports tell of lanes that returned
    /// errors; they are no error here.
    ///
    /// Work of streams that changes the same memory comes first: it is waited for.
    ///
    /// # Errors
    /// As [`Module::id`] and [`Backend::submit`]; [`DeviceError::OtherDevice`] if a launch or what it is given is another device's;
    /// [`DeviceError::BadLaunch`] if a launch is given the same memory twice, of which
    /// it changes one; [`DeviceError::Stale`] for vectors in a heap that was reset since; [`DeviceError::Mistakes`] if a heap found
    /// some, when all launches have run.
    pub fn run_all(&self, launches: &[Prepared]) -> Result<Vec<LaunchReport>, DeviceError> {
        let ready: Result<Vec<_>, _> = launches.iter().map(|one| one.ready_for(self)).collect();
        let ready = ready?;
        let demands = Demand::of_all(&ready);
        let _permit = self.shared.permit(&demands)?;
        for launch in &ready {
            launch.check_memory(self)?;
        }
        let reports = self.shared.backend.submit(&ready)?;
        told::ended(&ready, &reports);
        let failure = || {
            let mut all = reports.iter().zip(&ready);
            all.find_map(|(report, launch)| report.failure(launch.entry))
        };
        Watched::of(&ready).ask(self, failure)?;
        Ok(reports)
    }
}
