//! The backend: what `warpheap_api::host::Backend` asks of a GPU. Its streams are in [`streams`](crate::streams).

use crate::bulk::Share;
use crate::config::CudaConfig;
use crate::context::{Context, set_limit};
use crate::discover;
use crate::fences::Fences;
use crate::globals;
use crate::ids::next_id;
use crate::mapped;
use crate::memory::Allocation;
use crate::module::Loaded;
use crate::nvtx;
use crate::own::Own;
use crate::recent::Recent;
use crate::session::Session;
use crate::state::State;
use crate::status::{Refused, Status, no_device};
use crate::stream::Shared;
use crate::sys::limit::MALLOC_HEAP_SIZE;
use crate::table::Table;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use warpheap_api::host::{
    Backend, BufferId, DeviceError, DeviceInfo, HeapArg, KernelImage, KernelResources, Launch,
    LaunchReport, Lent, ModuleId, Streams, Work,
};

/// Drives one GPU through CUDA.
pub struct CudaBackend {
    pub(crate) info: DeviceInfo,
    pub(crate) capability: (u32, u32),
    fences: Fences,
    /// Of lanes that use Rust's own collections.
    stack_bytes: usize,
    /// How long one launch may run.
    pub(crate) timeout: Duration,
    /// Dropped by hand: after a loss, most of it must not be.
    state: Mutex<ManuallyDrop<State>>,
    /// Told when work may be queued again that had to wait for another call; see [`Turn`](crate::waiting::Turn).
    pub(crate) turns: Condvar,
    pub(crate) own: Own,
    /// Which copies go through pinned memory.
    pub(crate) bulk: Share,
}

/// The state, for the length of a call.
pub(crate) type Entered<'a> = MutexGuard<'a, ManuallyDrop<State>>;

impl CudaBackend {
    /// Opens a GPU, without trying whether it computes right: the self-test of whoever opens it for
    /// users does that.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`] with what to do if there is no driver or no such GPU;
    /// [`DeviceError::Driver`] or [`DeviceError::Lost`] if the driver refuses.
    pub fn new(config: &CudaConfig) -> Result<Self, DeviceError> {
        let (gpu, found, info) = discover::find(config)?;
        let opened = || {
            // Retains the device's primary context and makes it current on this thread.
            let context = Context::retain(gpu.0)?;
            nvtx::attach();
            if let Some(bytes) = config.malloc_heap_bytes {
                set_limit(MALLOC_HEAP_SIZE, bytes)?;
            }
            let session = Session::new(context, info.name.clone(), config.timeout)?;
            let shared = Shared::new()?;
            Ok((session, shared))
        };
        let (session, shared) = opened().map_err(|status: Status| {
            let hint = match status.is_fatal() {
                true => "; after a fault in this process, drop every device of this GPU first, or start the program again",
                false => "",
            };
            no_device(format!("GPU {} cannot be opened: {}{hint}", info.name, status.explained()))
        })?;
        tracing::debug!(device = %info.name, driver = %info.driver, "opened");
        Ok(CudaBackend {
            info,
            capability: found.capability,
            fences: Fences::best(found.capability, config),
            stack_bytes: config.stack_bytes,
            timeout: config.timeout,
            state: Mutex::new(ManuallyDrop::new(State {
                modules: BTreeMap::new(),
                recent: Recent::new(),
                buffers: Table::new(),
                retired: Vec::new(),
                streams: Table::new(),
                spare: Vec::new(),
                lent: Vec::new(),
                shared,
                settling: 0,
                reserved: Vec::new(),
                paused: 0,
                session,
            })),
            turns: Condvar::new(),
            own: Own::default(),
            bulk: Share::default(),
        })
    }

    /// The state, whatever happened to the device.
    pub(crate) fn lock(&self) -> Entered<'_> {
        // A panic in another thread leaves nothing half done: the state changes after the driver's
        // calls have succeeded.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a call: the state of a device that was not lost, whose context is current on this thread from here on.
    #[inline]
    pub(crate) fn enter(&self, during: &'static str) -> Result<Entered<'_>, DeviceError> {
        let mut state = self.lock();
        state.session.enter(during)?;
        Ok(state)
    }

    /// Checks the shapes of launches.
    #[inline]
    pub(crate) fn check_shapes(&self, launches: &[Launch<'_>]) -> Result<(), DeviceError> {
        let (blocks, lanes) = (self.info.max_grid_dim, self.info.max_block_dim);
        for launch in launches {
            launch.config.check(launch.entry, blocks, lanes)?;
        }
        Ok(())
    }
}

impl Backend for CudaBackend {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError> {
        const DURING: &str = "allocating a buffer";
        if bytes > self.info.max_buffer_bytes {
            return Err(DeviceError::TooLarge {
                device: self.info.name.clone(),
                bytes,
                limit: self.info.max_buffer_bytes,
                what: "all its memory",
            });
        }
        let call = "cuMemAlloc";
        let entered = self.enter(DURING)?;
        self.with_room(entered, bytes, DURING, |state| {
            let allocated = Allocation::new(bytes.max(4));
            let allocation = allocated.map_err(|status| Refused { call, status })?;
            Ok(state.keep(allocation))
        })
    }

    fn reserve(&self, bytes: u64, most: u64) -> Result<BufferId, DeviceError> {
        const DURING: &str = "reserving a buffer";
        let state = self.enter(DURING)?;
        let device = state.session.device();
        if !mapped::is_supported(device) {
            let why = "the GPU or its driver does not map memory at reserved addresses: take a newer driver, or allocate the most at once";
            return Err(self.cannot_resize(bytes, why));
        }
        self.with_room(state, bytes, DURING, |state| {
            let allocation = Allocation::reserve(device, bytes.max(4), most)?;
            Ok(state.keep(allocation))
        })
    }

    fn resize(&self, buffer: BufferId, bytes: u64) -> Result<(), DeviceError> {
        const DURING: &str = "resizing a buffer";
        let mut state = self.enter(DURING)?;
        let Some(found) = state.buffers.get(buffer.0) else {
            return Err(self.cannot_resize(bytes, "it is another device's, or is gone"));
        };
        let most = found.most();
        if bytes > most {
            let why = format!("there are addresses for {most} bytes, which were reserved for it");
            return Err(self.cannot_resize(bytes, &why));
        }
        if bytes < found.bytes {
            // The driver may wait for all streams when memory is given back.
            drop(state);
            state = self.settle(DURING)?;
        }
        self.with_room(state, bytes, DURING, |state| {
            match state.buffers.get_mut(buffer.0) {
                // SAFETY: the caller's promise: nobody uses the buffer.
                Some(found) => unsafe { found.resize(bytes) },
                None => Ok(()),
            }
        })
    }

    fn dealloc(&self, buffer: BufferId) {
        const DURING: &str = "freeing a buffer";
        // After a loss the memory goes with the context, or cannot be freed at all.
        let Ok(mut state) = self.enter(DURING) else {
            return;
        };
        if state.is_bound(buffer) {
            // Kernels find this buffer without being given it.
            drop(state);
            let settled = self.settle("unbinding a heap");
            state = match settled.and_then(|mut state| state.unbind(buffer).map(|()| state)) {
                Ok(state) => state,
                Err(error) => {
                    tracing::warn!(%error, "a heap could not be unbound, its memory stays");
                    return;
                }
            };
        }
        let Some(allocation) = state.buffers.remove(buffer.0) else {
            return;
        };
        // No work of a stream uses it, and every other call has waited for what it queued.
        state.retired.push(allocation);
        if let Err(error) = state.bury(DURING) {
            tracing::warn!(%error, "a buffer could not be freed");
        }
    }

    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        const DURING: &str = "a copy to the device";
        if self.bulk.takes(data.len()) {
            return self.write_bulk((buffer, offset), data);
        }
        let mut state = self.enter(DURING)?;
        let address = state.range("write", buffer, offset, data.len() as u64)?;
        if data.is_empty() {
            return Ok(());
        }
        let stream = &state.session.stream;
        // SAFETY: the range was checked to lie in the buffer, and `finish` waits for the copy, while `data` is borrowed.
        unsafe { stream.to_device(address, data.as_ptr(), data.len()) }
            .map_err(|refused| state.refuse(refused, DURING))?;
        state.finish(DURING)
    }

    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        const DURING: &str = "a copy from the device";
        if self.bulk.takes(data.len()) {
            return self.read_bulk((buffer, offset), data);
        }
        let mut state = self.enter(DURING)?;
        let address = state.range("read", buffer, offset, data.len() as u64)?;
        if data.is_empty() {
            return Ok(());
        }
        let stream = &state.session.stream;
        // SAFETY: the range was checked to lie in the buffer, and `finish` waits for the copy, while `data` is borrowed.
        unsafe { stream.to_host(data.as_mut_ptr(), address, data.len()) }
            .map_err(|refused| state.refuse(refused, DURING))?;
        state.finish(DURING)
    }

    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError> {
        let bytes = words.saturating_mul(4);
        self.enter("filling a buffer")?
            .range("fill", buffer, offset, bytes)?;
        if words == 0 {
            return Ok(());
        }
        self.transfer(Work::Fill {
            buffer,
            offset,
            words,
            value,
        })
    }

    fn copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let state = self.enter("a copy on the device")?;
        state.range("copy", from.0, from.1, bytes)?;
        state.range("copy", to.0, to.1, bytes)?;
        drop(state);
        if bytes == 0 {
            return Ok(());
        }
        self.transfer(Work::Copy { from, to, bytes })
    }

    fn copy_to(
        &self,
        from: (BufferId, u64),
        other: &dyn Backend,
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<bool, DeviceError> {
        let other: &dyn Any = other;
        match other.downcast_ref::<CudaBackend>() {
            Some(other) => self.copy_to_gpu(from, other, to, bytes),
            None => Ok(false),
        }
    }

    fn lend(
        &self,
        buffers: &[BufferId],
        work: &mut dyn FnMut(Lent<'_>),
    ) -> Result<bool, DeviceError> {
        self.lend_to(buffers, work).map(|()| true)
    }

    fn streams(&self) -> Option<&dyn Streams> {
        Some(self)
    }

    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError> {
        let mut state = self.enter("loading kernels")?;
        if let Some((id, _)) = state.modules.iter().find(|(_, loaded)| loaded.is(image)) {
            return Ok(ModuleId(*id));
        }
        let loaded = Loaded::new(&mut state.session, image, self.capability, self.fences)?;
        if loaded.reports_panics || globals::calls_by_pointer(&loaded.ptx) {
            globals::enlarge_stacks(&mut state.session, self.stack_bytes)?;
        }
        let id = next_id();
        state.modules.insert(id, loaded);
        Ok(ModuleId(id))
    }

    fn load_kernel(&self, module: ModuleId, entry: &str, lanes: u32) -> Result<(), DeviceError> {
        self.load_alone(module, entry, lanes)
    }

    fn load_time(&self) -> Duration {
        let state = self.lock();
        state.modules.values().map(|loaded| loaded.load_time).sum()
    }

    fn await_bound(&self, heap: BufferId) -> Result<(), DeviceError> {
        const DURING: &str = "waiting for kernels that a heap is bound to";
        if self.enter(DURING)?.is_bound(heap) {
            drop(self.settle(DURING)?);
        }
        Ok(())
    }

    fn rebind_heap(&self, heap: &HeapArg) -> Result<(), DeviceError> {
        const DURING: &str = "binding a heap again";
        if self.enter(DURING)?.is_bound(heap.buffer.id()) {
            self.settle(DURING)?.rebind(heap)?;
        }
        Ok(())
    }

    fn bind_heap(&self, module: ModuleId, heap: &HeapArg) -> Result<(), DeviceError> {
        // The module's kernels find the heap without being given it.
        self.settle("binding a heap")?.bind(module, heap)
    }

    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError> {
        self.run(launches)
    }

    fn kernel_resources(
        &self,
        module: ModuleId,
        entry: &str,
    ) -> Result<Option<KernelResources>, DeviceError> {
        let info = self.function_info(module, entry)?;
        Ok(Some(KernelResources {
            registers: info.registers,
            local_bytes: info.local_bytes,
            code_bytes: info.code_bytes,
        }))
    }
}

impl Drop for CudaBackend {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: taken once, here, and never used again.
        unsafe { ManuallyDrop::take(state) }.close();
    }
}

impl fmt::Debug for CudaBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CudaBackend")
            .field("info", &self.info)
            .field("capability", &self.capability)
            .finish_non_exhaustive()
    }
}
