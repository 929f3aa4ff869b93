//! The kernels of a device crate: as its build script leaves them, and on a device.

use super::{BackendKind, Device, DeviceError, HostAlloc, KernelImage, ModuleId, Pool};
use flate2::read::GzDecoder;
use std::fmt;
use std::format;
use std::io::{self, Read};
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::vec::Vec;

/// An image as it is embedded: which allocator's kernels it holds (empty for the image of all, or of the
/// remaining kernels), PTX and SPIR-V, each if it was built, compressed with gzip.
pub type PackedImage = (&'static str, Option<&'static [u8]>, Option<&'static [u8]>);

/// An image of a [`PackedImage`] as the driver takes it.
///
/// # Errors
/// The bytes are damaged.
pub fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let mut image = Vec::new();
    GzDecoder::new(packed).read_to_end(&mut image)?;
    Ok(image)
}

/// The images of one device crate, as `device_module!` embeds them.
#[derive(Clone, Copy)]
pub struct KernelImages {
    /// Name of the device crate.
    pub name: &'static str,
    /// One image for all kernels, or one for each allocator and one for the remaining kernels.
    pub packed: &'static [PackedImage],
}

impl fmt::Debug for KernelImages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<_> = self.packed.iter().map(|image| image.0).collect();
        f.debug_struct("KernelImages")
            .field("name", &self.name)
            .field("parts", &parts)
            .finish()
    }
}

/// Kernels on a device; clones name the same ones. They are loaded when a launch of one of them is run
/// first, since a driver may take its time to compile them.
#[derive(Clone, Debug)]
pub struct Module {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: &'static str,
    device: Device,
    packed: Option<&'static PackedImage>,
    id: OnceLock<ModuleId>,
    /// Held while it is loaded.
    loading: Mutex<()>,
}

impl Module {
    /// A module that is loaded.
    pub(super) fn loaded(device: &Device, name: &'static str, id: ModuleId) -> Self {
        Self::new(device, name, None, Some(id))
    }

    fn new(
        device: &Device,
        name: &'static str,
        packed: Option<&'static PackedImage>,
        id: Option<ModuleId>,
    ) -> Self {
        let inner = Inner {
            name,
            device: device.clone(),
            packed,
            id: id.map_or_else(OnceLock::new, OnceLock::from),
            loading: Mutex::default(),
        };
        Module {
            inner: Arc::new(inner),
        }
    }

    /// The backend's name for it; loads it if that has not been done.
    ///
    /// # Errors
    /// As [`Backend::load`](super::Backend::load); [`DeviceError::NoImage`] if the crate was built
    /// without code for this backend.
    pub fn id(&self) -> Result<ModuleId, DeviceError> {
        let Inner { name, device, .. } = &*self.inner;
        let known = || self.inner.id.get().copied();
        if let Some(id) = known() {
            return Ok(id);
        }
        // A panic elsewhere leaves the id as it was.
        let loading = self.inner.loading.lock();
        let _loading = loading.unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = known() {
            return Ok(id);
        }
        let packed = self.inner.packed.unwrap_or(&("", None, None));
        let damaged = |what: String| DeviceError::Driver {
            device: device.info().name.clone(),
            call: "unpacking kernels",
            what: format!("an image of `{name}` is damaged ({what}): build the program again"),
        };
        // The emulator needs neither.
        let unpacked = |packed: Option<&[u8]>, on: BackendKind| {
            let Some(packed) = packed.filter(|_| device.info().backend == on) else {
                return Ok::<_, DeviceError>(None);
            };
            let image = unpack(packed).map_err(|error| damaged(error.to_string()))?;
            Ok(Some(image))
        };
        let spirv = unpacked(packed.2, BackendKind::Vulkan)?;
        let ptx = match unpacked(packed.1, BackendKind::Cuda)?.map(String::from_utf8) {
            None => None,
            Some(Ok(text)) => Some(text),
            Some(Err(error)) => return Err(damaged(error.to_string())),
        };
        let loaded = device.backend().load(&KernelImage {
            name,
            ptx: ptx.as_deref(),
            spirv: spirv.as_deref(),
        })?;
        Ok(*self.inner.id.get_or_init(|| loaded))
    }

    /// Loads the module, if that has not been done, and a kernel of it, which its first launch does otherwise. With CUDA that first launch
    /// takes as long as the driver compiles the kernel, once on a machine, and it waits until all that runs on the device has ended. So
    /// kernels that wait for each other while they run, on several streams, are loaded before. What takes part in a measurement is, too.
    /// `entry` is the constant `ENTRY` of the trait that `#[kernel]` makes, and `block_dim` the lanes of a block that it will be launched
    /// with ([`LaunchConfig::for_num_elems`](super::LaunchConfig::for_num_elems): 256), since the driver may have to compile it once more
    /// for blocks of more than 768.
    ///
    /// # Errors
    /// As [`id`](Self::id); [`DeviceError::LayoutMismatch`] if there is no such kernel.
    pub fn load_kernel(&self, entry: &str, block_dim: u32) -> Result<(), DeviceError> {
        let id = self.id()?;
        let device = self.device();
        device.backend().load_kernel(id, entry, block_dim)
    }

    /// Makes `pool` the heap that Rust's own collections in these kernels take from, until another one is
    /// bound or the pool's memory is given back. The method `bind_heap` of a crate's `Kernels` does it for
    /// the allocator that the crate was compiled for.
    ///
    /// # Errors
    /// [`DeviceError::OtherDevice`] if the pool is another device's; as [`id`](Self::id) and
    /// [`Backend::bind_heap`](super::Backend::bind_heap).
    pub fn bind_heap<A: HostAlloc>(&self, pool: &Pool<A>) -> Result<(), DeviceError> {
        let heap = pool.raw().heap_arg();
        if !heap.buffer.is_of(self.device()) {
            return Err(self.device().refuses(
                format!("the heap for the collections of `{}`", self.name()),
                heap.buffer.shared(),
                "reserve a pool on the device on which the kernels are loaded",
            ));
        }
        let id = self.id()?;
        self.device().backend().bind_heap(id, &heap)?;
        self.device().shared().bound.bind(id, heap.buffer.id());
        Ok(())
    }

    /// Name of the device crate.
    pub fn name(&self) -> &'static str {
        self.inner.name
    }

    /// The device that it is for.
    pub fn device(&self) -> &Device {
        &self.inner.device
    }
}

/// All kernels of a device crate on a device; clones name the same ones.
#[derive(Clone, Debug)]
pub struct Modules {
    by_allocator: Arc<[(&'static str, Module)]>,
    rest: Module,
}

impl Modules {
    /// Loads what is not one allocator's alone; the rest follows when it is needed.
    ///
    /// # Errors
    /// As [`Module::id`].
    pub fn new(device: &Device, images: &'static KernelImages) -> Result<Self, DeviceError> {
        let module = |packed| Module::new(device, images.name, packed, None);
        let mut rest = None;
        let mut by_allocator = Vec::new();
        for image in images.packed {
            match image.0 {
                "" => rest = Some(image),
                name => by_allocator.push((name, module(Some(image)))),
            }
        }
        // A crate may have nothing but kernels of allocators.
        let is_divided = !by_allocator.is_empty();
        let is_there = rest.is_some();
        let rest = module(rest);
        if is_there || !is_divided {
            rest.id()?;
        }
        Ok(Modules {
            by_allocator: by_allocator.into(),
            rest,
        })
    }

    /// The module that holds the kernels for an allocator: its own if there is one, else that of all or
    /// of the remaining kernels, as for the empty name.
    pub fn of(&self, allocator: &str) -> &Module {
        let mut own = self.by_allocator.iter();
        let found = own.find(|(name, _)| *name == allocator);
        found.map_or(&self.rest, |(_, module)| module)
    }
}

#[cfg(test)]
mod tests;
