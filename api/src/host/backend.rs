//! What a backend implements.

use super::{DeviceError, HeapArg, Launch, LaunchReport, Lent, Streams};
use crate::abi::ArgBlock;
use core::any::Any;
use std::fmt;
use std::string::String;
use std::time::Duration;
use std::vec::Vec;

/// The kinds of backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BackendKind {
    /// The emulator on CPU threads.
    Host,
    /// CUDA.
    Cuda,
    /// Vulkan 1.2 and later.
    Vulkan,
}

impl BackendKind {
    /// The name that users choose a backend by: `host`, `cuda`, `vulkan`.
    pub const fn name(self) -> &'static str {
        match self {
            BackendKind::Host => "host",
            BackendKind::Cuda => "cuda",
            BackendKind::Vulkan => "vulkan",
        }
    }
}

impl fmt::Display for BackendKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is known of an opened device.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    /// Which backend drives it.
    pub backend: BackendKind,
    /// Name of the device.
    pub name: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Lanes of a warp (subgroup).
    pub warp_width: u32,
    /// Most lanes of a block.
    pub max_block_dim: u32,
    /// Most blocks of a launch.
    pub max_grid_dim: u32,
    /// Largest buffer, in bytes.
    pub max_buffer_bytes: u64,
    /// Memory of the device, in bytes; 0 if unknown.
    pub memory_bytes: u64,
}

/// Names a buffer of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BufferId(pub u64);

/// Names a loaded module of a backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ModuleId(pub u64);

/// Kernels of one device crate, compiled.
#[derive(Clone, Copy)]
pub struct KernelImage<'a> {
    /// Name of the device crate.
    pub name: &'static str,
    /// PTX text, if it was built for CUDA.
    pub ptx: Option<&'a str>,
    /// SPIR-V module, if it was built for Vulkan.
    pub spirv: Option<&'a [u8]>,
}

impl fmt::Debug for KernelImage<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelImage")
            .field("name", &self.name)
            .field("ptx_bytes", &self.ptx.map(str::len))
            .field("spirv_bytes", &self.spirv.map(<[u8]>::len))
            .finish()
    }
}

/// What a driver's compiler made of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KernelResources {
    /// 32-bit registers of a lane.
    pub registers: u32,
    /// Bytes of local memory of a lane: what did not fit into registers, and arrays.
    pub local_bytes: u32,
    /// Bytes of machine code, where the driver tells them.
    pub code_bytes: Option<u64>,
}

/// A kernel entry compiled for the host: what one lane runs.
///
/// # Safety
/// Called inside the emulator with a block of arguments that matches the kernel's parameters, whose
/// addresses are valid for the launch.
pub type HostEntry = unsafe fn(&ArgBlock);

/// Drives one device.
///
/// All calls are synchronous: when one returns, its effect has happened; [`Streams`] are what is not. Calls may come from any
/// thread; a backend serialises them itself. Launches of two threads run one after the other. Who waits for some keeps no other
/// thread from [`Streams`], nor, on a GPU, from calls that do not launch.
pub trait Backend: Any + Send + Sync + fmt::Debug {
    /// What is known of the device.
    fn info(&self) -> &DeviceInfo;

    /// Most bytes that the lanes of a block can share: on CUDA 48 KiB of a kernel that asks for nothing special.
    fn max_shared_bytes(&self) -> u32 {
        48 << 10
    }

    /// Allocates a buffer of `bytes` (at least 1; a multiple of 4) with unspecified contents, at an
    /// address that is a multiple of 64 KiB where buffers have addresses.
    ///
    /// # Errors
    /// [`DeviceError::TooLarge`], [`DeviceError::OutOfMemory`], [`DeviceError::Driver`].
    fn alloc(&self, bytes: u64) -> Result<BufferId, DeviceError>;

    /// Allocates a buffer of `bytes` bytes as [`alloc`](Self::alloc) does that [`resize`](Self::resize) can make as large as
    /// `most`, which may be more than the device has. Only what it has is taken from the device's memory, where that can be.
    ///
    /// # Errors
    /// As `alloc`; [`DeviceError::CannotResize`] if the device has no such buffers.
    fn reserve(&self, bytes: u64, _most: u64) -> Result<BufferId, DeviceError> {
        Err(self.cannot_resize(bytes, "its backend has no buffers that grow"))
    }

    /// Gives a buffer of [`reserve`](Self::reserve) `bytes` bytes (at least 1; a multiple of 4), more or fewer. What lies in both
    /// sizes keeps its contents, and on CUDA and the host its address; what is new has unspecified contents. Nobody uses the
    /// buffer meanwhile.
    ///
    /// # Errors
    /// [`DeviceError::CannotResize`] beyond what was reserved, or for another buffer; otherwise as `alloc`. The buffer is
    /// as before then.
    fn resize(&self, _buffer: BufferId, bytes: u64) -> Result<(), DeviceError> {
        Err(self.cannot_resize(bytes, "its backend has no buffers that grow"))
    }

    /// The error of [`reserve`](Self::reserve) and [`resize`](Self::resize).
    fn cannot_resize(&self, bytes: u64, why: &str) -> DeviceError {
        DeviceError::CannotResize {
            what: std::format!("a buffer of {}", self.info().name),
            bytes,
            why: why.into(),
        }
    }

    /// Gives a buffer back. Unknown ids are ignored; failures are logged.
    fn dealloc(&self, buffer: BufferId);

    /// Writes `data` at byte `offset` (a multiple of 4, like its length).
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn write(&self, buffer: BufferId, offset: u64, data: &[u8]) -> Result<(), DeviceError>;

    /// Reads into `data` from byte `offset` (a multiple of 4, like its length).
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn read(&self, buffer: BufferId, offset: u64, data: &mut [u8]) -> Result<(), DeviceError>;

    /// Sets `words` 32-bit words from byte `offset` (a multiple of 4) to `value`.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn fill(
        &self,
        buffer: BufferId,
        offset: u64,
        words: u64,
        value: u32,
    ) -> Result<(), DeviceError>;

    /// Copies `bytes` bytes between ranges of buffers, each given by its buffer and byte offset, that do not overlap; all numbers
    /// are multiples of 4.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn copy(
        &self,
        from: (BufferId, u64),
        to: (BufferId, u64),
        bytes: u64,
    ) -> Result<(), DeviceError>;

    /// Copies `bytes` bytes to memory of another device without the host between them, and says whether it did. If the two cannot
    /// do that, nothing was copied. Numbers are as for [`copy`](Self::copy); nobody else uses either range meanwhile.
    ///
    /// # Errors
    /// As [`write`](Self::write), of either device.
    fn copy_to(
        &self,
        _from: (BufferId, u64),
        _other: &dyn Backend,
        _to: (BufferId, u64),
        _bytes: u64,
    ) -> Result<bool, DeviceError> {
        Ok(false)
    }

    /// Calls `work` with the addresses of these buffers and a stream for what it queues, on this thread, where the device is the current
    /// one for other libraries; waits for that, and says whether it did. Without such addresses `work` is not called.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    fn lend(
        &self,
        _buffers: &[BufferId],
        _work: &mut dyn FnMut(Lent<'_>),
    ) -> Result<bool, DeviceError> {
        Ok(false)
    }

    /// The streams of the device; `None` if it has none, as devices of tests may.
    fn streams(&self) -> Option<&dyn Streams> {
        None
    }

    /// Loads the kernels of an image. Loading an image twice may return the same id. Modules stay
    /// until the backend is dropped.
    ///
    /// # Errors
    /// [`DeviceError::NoImage`], [`DeviceError::Driver`].
    fn load(&self, image: &KernelImage<'_>) -> Result<ModuleId, DeviceError>;

    /// Loads a kernel of a module that is loaded, for blocks of `_block_dim` lanes; see [`Module::load_kernel`](super::Module::load_kernel).
    /// Does nothing where no launch waits for that, and where it takes a launch to know what to load.
    ///
    /// # Errors
    /// [`DeviceError::LayoutMismatch`] if the module has no such entry; [`DeviceError::Lost`],
    /// [`DeviceError::Driver`].
    fn load_kernel(
        &self,
        _module: ModuleId,
        _entry: &str,
        _block_dim: u32,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Loads the kernel of a launch and runs nothing; see [`Prepared::load`](super::Prepared::load).
    ///
    /// # Errors
    /// As [`load_kernel`](Self::load_kernel), and as [`submit`](Self::submit) of a launch with something wrong.
    fn load_launch(&self, launch: &Launch<'_>) -> Result<(), DeviceError> {
        self.load_kernel(launch.module, launch.entry, launch.config.block_dim)
    }

    /// How long kernels took to load since the device was opened: reading images, and waiting for the driver's compiler
    /// or for what it kept. Some backends compile a kernel when it is first launched; the times of launches on the device
    /// have none of it. Zero where nothing is compiled.
    fn load_time(&self) -> Duration {
        Duration::ZERO
    }

    /// Makes `heap` the one that Rust's own collections in the kernels of a module take from, until another
    /// one is bound or its buffer is given back. Does nothing on a backend where they take from elsewhere.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] if the module has no place for a heap, or module or heap are another
    /// device's; [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn bind_heap(&self, _module: ModuleId, _heap: &HeapArg) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Waits for launches that use a heap without being given it, if it is bound to a module.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn await_bound(&self, _heap: BufferId) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Tells the modules to which a heap is bound that it has another size, or other parameters. Nobody uses it meanwhile.
    ///
    /// # Errors
    /// As [`bind_heap`](Self::bind_heap).
    fn rebind_heap(&self, _heap: &HeapArg) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Runs launches in order, each after the one before has finished and with its writes visible,
    /// queued together so that the device does not wait for the host between them. Returns one
    /// report per launch, with device times.
    ///
    /// Lanes that return errors make no error here: the report says so.
    ///
    /// # Errors
    /// [`DeviceError::BadLaunch`] (nothing was run), [`DeviceError::LayoutMismatch`],
    /// [`DeviceError::Panic`], [`DeviceError::Emulator`], [`DeviceError::Lost`], [`DeviceError::Driver`].
    fn submit(&self, launches: &[Launch<'_>]) -> Result<Vec<LaunchReport>, DeviceError>;

    /// Whether launches wait until the device's clock is up; see [`Device::keep_pace`](super::Device::keep_pace). Does nothing
    /// where the clock does not fall.
    fn keep_pace(&self, _on: bool) {}

    /// What the driver's compiler made of a kernel; `None` where there is no such compiler, or it does
    /// not tell.
    ///
    /// # Errors
    /// [`DeviceError::LayoutMismatch`] if the module has no such entry; [`DeviceError::Lost`],
    /// [`DeviceError::Driver`].
    fn kernel_resources(
        &self,
        _module: ModuleId,
        _entry: &str,
    ) -> Result<Option<KernelResources>, DeviceError> {
        Ok(None)
    }
}
