//! Buffers and the memory behind them.

#[cfg(test)]
pub(crate) mod tests;

use crate::gpu::Gpu;
use ash::vk;
use gpu_allocator::vulkan::{
    Allocation, AllocationCreateDesc, AllocationScheme, Allocator, AllocatorCreateDesc,
};
use gpu_allocator::{AllocationError, AllocationSizes, AllocatorDebugSettings, MemoryLocation};
use std::collections::HashMap;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use warpheap_api::host::{BufferId, BufferKind, DeviceError, KnownBuffer, Launch};

/// Buffers of at least this many bytes get memory of their own from the driver.
const DEDICATED_BYTES: u64 = 16 << 20;
/// Smaller ones share blocks that start at this size.
const BLOCK_BYTES: u64 = 8 << 20;
const MAX_BLOCK_BYTES: u64 = 64 << 20;

/// Counts up over all devices of the process, so that a buffer of one device is unknown to others.
static NEXT_ID: AtomicU64 = AtomicU64::new(1);

/// A number that no buffer and no module of this process has had.
pub(crate) fn fresh_id() -> u64 {
    NEXT_ID.fetch_add(1, Ordering::Relaxed)
}

/// A buffer as commands use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    pub(crate) raw: vk::Buffer,
    pub(crate) bytes: u64,
    /// Where kernels find it; 0 if the device has no addresses.
    pub(crate) address: u64,
}

/// A buffer that the host sees.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped {
    pub(crate) id: BufferId,
    pub(crate) buffer: Buffer,
    /// Where its bytes are.
    pub(crate) address: NonNull<u8>,
}

// SAFETY: the address is of mapped memory, valid in every thread, and only that of whoever has the buffer.
unsafe impl Send for Mapped {}

struct Owned {
    buffer: Buffer,
    allocation: Allocation,
    /// What it is called.
    known: KnownBuffer,
    /// As many bytes as it may come to have.
    most: u64,
    /// Calls that use it.
    pins: u32,
    /// It was given back while there were some.
    given_back: bool,
}

/// All buffers of a device.
pub(crate) struct Memory {
    buffers: HashMap<u64, Owned>,
    // Before the device: fields drop in this order.
    allocator: Allocator,
    gpu: Arc<Gpu>,
}

impl Memory {
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, DeviceError> {
        let sizes = AllocationSizes::new(BLOCK_BYTES, BLOCK_BYTES)
            .with_max_device_memblock_size(MAX_BLOCK_BYTES)
            .with_max_host_memblock_size(MAX_BLOCK_BYTES);
        let allocator = Allocator::new(&AllocatorCreateDesc {
            instance: gpu.instance.raw.clone(),
            device: gpu.device.clone(),
            physical_device: gpu.physical,
            // Leaks are logged, nothing else.
            debug_settings: AllocatorDebugSettings::default(),
            buffer_device_address: gpu.limits.features.addresses,
            allocation_sizes: sizes,
        });
        let allocator = allocator.map_err(|error| DeviceError::Driver {
            device: gpu.limits.name.clone(),
            call: "setting up memory",
            what: error.to_string(),
        })?;
        Ok(Memory {
            buffers: HashMap::new(),
            allocator,
            gpu: gpu.clone(),
        })
    }

    /// A buffer that only the device sees.
    pub(crate) fn alloc(&mut self, bytes: u64) -> Result<BufferId, DeviceError> {
        self.check_size(bytes)?;
        let (id, buffer) = self.make(bytes, MemoryLocation::GpuOnly)?;
        if self.gpu.labels().is_some() {
            // SAFETY: just made.
            unsafe {
                self.gpu
                    .name_new(buffer.raw, &BufferKind::Buffer.name(bytes))
            };
        }
        Ok(id)
    }

    /// The same, of a buffer that may come to have `most` bytes.
    pub(crate) fn reserve(&mut self, bytes: u64, most: u64) -> Result<BufferId, DeviceError> {
        let id = self.alloc(bytes)?;
        if let Some(owned) = self.buffers.get_mut(&id.0) {
            owned.most = most;
        }
        Ok(id)
    }

    /// How many bytes a buffer has that is to have `bytes`.
    pub(crate) fn resizable(&self, id: BufferId, bytes: u64) -> Result<u64, DeviceError> {
        let owned = self.buffers.get(&id.0).filter(|owned| !owned.given_back);
        let cannot = |what: String, why: String| DeviceError::CannotResize { what, bytes, why };
        match owned {
            None => Err(cannot(
                format!("a buffer of {}", self.gpu.limits.name),
                "it is another device's, or is gone".into(),
            )),
            Some(owned) if bytes > owned.most => Err(cannot(
                format!("a buffer of {} bytes", owned.buffer.bytes),
                format!("{} bytes were reserved for it", owned.most),
            )),
            Some(owned) => Ok(owned.buffer.bytes),
        }
    }

    /// Gives each of two buffers what is behind the other. Nobody uses them.
    pub(crate) fn exchange(&mut self, one: BufferId, other: BufferId) {
        let [Some(one), Some(other)] = self.buffers.get_disjoint_mut([&one.0, &other.0]) else {
            return;
        };
        std::mem::swap(&mut one.buffer, &mut other.buffer);
        std::mem::swap(&mut one.allocation, &mut other.allocation);
        std::mem::swap(&mut one.known, &mut other.known);
    }

    /// A device-only buffer for the backend itself, with a name for tools.
    pub(crate) fn internal(&mut self, bytes: u64, name: &str) -> Result<Buffer, DeviceError> {
        let (_, buffer) = self.make(bytes, MemoryLocation::GpuOnly)?;
        // SAFETY: just made.
        unsafe { self.gpu.name_new(buffer.raw, name) };
        Ok(buffer)
    }

    /// A buffer for the backend itself that the host sees, in cached and coherent memory: reads by the
    /// host are fast.
    pub(crate) fn mapped(&mut self, bytes: u64, name: &str) -> Result<Mapped, DeviceError> {
        let (id, buffer) = self.make(bytes, MemoryLocation::GpuToCpu)?;
        // SAFETY: just made.
        unsafe { self.gpu.name_new(buffer.raw, name) };
        let owned = self.buffers.get(&id.0);
        match owned.and_then(|owned| owned.allocation.mapped_ptr()) {
            Some(address) => Ok(Mapped {
                id,
                buffer,
                address: address.cast(),
            }),
            None => Err(DeviceError::Driver {
                device: self.gpu.limits.name.clone(),
                call: "vkMapMemory",
                what: "the driver mapped no address".to_string(),
            }),
        }
    }

    /// Gives buffers the names that a launch tells of them, if somebody may look.
    pub(crate) fn name_buffers(&mut self, launch: &Launch<'_>) {
        let Some(labels) = self.gpu.labels() else {
            return;
        };
        for (id, kind) in launch.buffer_kinds() {
            // Another thread may be using the handle of one that is pinned: a later launch tells the same.
            if let Some(owned) = self.buffers.get_mut(&id.0)
                && owned.pins == 0
                && let Some(name) = owned.known.learn(kind, owned.buffer.bytes)
            {
                // SAFETY: alive, since it is in the table. Who records or submits commands with it has the table, or has pinned it.
                unsafe { labels.name(owned.buffer.raw, &name) };
            }
        }
    }

    /// The buffer called `id`.
    pub(crate) fn get(&self, id: BufferId) -> Option<Buffer> {
        let owned = self.buffers.get(&id.0)?;
        (!owned.given_back).then_some(owned.buffer)
    }

    /// Gives a buffer back, now or when it is pinned no more; an unknown id is ignored. No work of a stream may be using it.
    pub(crate) fn dealloc(&mut self, id: BufferId) {
        match self.buffers.get_mut(&id.0) {
            Some(owned) if owned.pins > 0 => owned.given_back = true,
            _ => self.remove(id),
        }
    }

    /// Keeps buffers until as many calls of [`unpin`](Self::unpin): calls use them without holding the table.
    pub(crate) fn pin(&mut self, ids: &[BufferId]) {
        for id in ids {
            if let Some(owned) = self.buffers.get_mut(&id.0) {
                owned.pins += 1;
            }
        }
    }

    /// Keeps them no more.
    pub(crate) fn unpin(&mut self, ids: &[BufferId]) {
        for id in ids {
            let Some(owned) = self.buffers.get_mut(&id.0) else {
                continue;
            };
            owned.pins = owned.pins.saturating_sub(1);
            if owned.pins == 0 && owned.given_back {
                self.remove(*id);
            }
        }
    }

    fn remove(&mut self, id: BufferId) {
        if let Some(owned) = self.buffers.remove(&id.0) {
            self.release(owned);
        }
    }

    fn release(&mut self, owned: Owned) {
        // SAFETY: the buffer was made from this device, was just taken out of the table, and is given
        // back when the device does not use it any more: whoever queues work with it in a stream
        // promised that, and other calls have pinned it until then.
        unsafe { self.gpu.device.destroy_buffer(owned.buffer.raw, None) };
        if let Err(error) = self.allocator.free(owned.allocation) {
            tracing::warn!("giving memory back: {error}");
        }
    }

    fn check_size(&self, bytes: u64) -> Result<(), DeviceError> {
        let limits = &self.gpu.limits;
        let (limit, what) = limits.max_buffer();
        if bytes > limit {
            return Err(DeviceError::TooLarge {
                device: limits.name.clone(),
                bytes,
                limit,
                what,
            });
        }
        // Drivers that lend host memory may accept more and fail when it is touched.
        if limits.memory_bytes != 0 && bytes > limits.memory_bytes {
            return Err(self.out_of_memory(bytes, "its memory is smaller"));
        }
        Ok(())
    }

    fn make(
        &mut self,
        bytes: u64,
        location: MemoryLocation,
    ) -> Result<(BufferId, Buffer), DeviceError> {
        let device = &self.gpu.device;
        let bytes = bytes.max(4).next_multiple_of(4);
        let mut usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        if self.gpu.limits.features.addresses {
            usage |= vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS;
        }
        let info = vk::BufferCreateInfo::default()
            .size(bytes)
            .usage(usage)
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the device is alive; the size is above zero and within its limits.
        let raw = match unsafe { device.create_buffer(&info, None) } {
            Ok(raw) => raw,
            Err(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY) => {
                return Err(self.out_of_memory(bytes, "the driver has no room"));
            }
            Err(error) => return self.gpu.check("vkCreateBuffer", Err(error)),
        };
        match self.back(raw, bytes, location) {
            Ok(allocation) => {
                let buffer = Buffer {
                    raw,
                    bytes,
                    address: self.address(raw),
                };
                let id = fresh_id();
                let owned = Owned {
                    buffer,
                    allocation,
                    known: KnownBuffer::default(),
                    most: bytes,
                    pins: 0,
                    given_back: false,
                };
                self.buffers.insert(id, owned);
                Ok((BufferId(id), buffer))
            }
            Err(error) => {
                // SAFETY: made above, used by nothing.
                unsafe { self.gpu.device.destroy_buffer(raw, None) };
                Err(error)
            }
        }
    }

    /// Where kernels find a buffer that has memory.
    fn address(&self, raw: vk::Buffer) -> u64 {
        if !self.gpu.limits.features.addresses {
            return 0;
        }
        let info = vk::BufferDeviceAddressInfo::default().buffer(raw);
        // SAFETY: made from this device, for this use, and bound to memory.
        unsafe { self.gpu.device.get_buffer_device_address(&info) }
    }

    /// Finds memory for a buffer and binds it.
    fn back(
        &mut self,
        raw: vk::Buffer,
        bytes: u64,
        location: MemoryLocation,
    ) -> Result<Allocation, DeviceError> {
        // SAFETY: the buffer was just made from this device.
        let requirements = unsafe { self.gpu.device.get_buffer_memory_requirements(raw) };
        let scheme = if bytes >= DEDICATED_BYTES {
            AllocationScheme::DedicatedBuffer(raw)
        } else {
            AllocationScheme::GpuAllocatorManaged
        };
        let given = self.allocator.allocate(&AllocationCreateDesc {
            name: "buffer",
            requirements,
            location,
            linear: true,
            allocation_scheme: scheme,
        });
        let allocation = given.map_err(|error| match error {
            AllocationError::OutOfMemory => self.out_of_memory(bytes, "the driver has no more"),
            other => DeviceError::Driver {
                device: self.gpu.limits.name.clone(),
                call: "allocating memory",
                what: other.to_string(),
            },
        })?;
        // SAFETY: memory and offset come from the allocator for exactly these requirements.
        let bound = unsafe {
            let device = &self.gpu.device;
            device.bind_buffer_memory(raw, allocation.memory(), allocation.offset())
        };
        if let Err(error) = bound {
            if let Err(error) = self.allocator.free(allocation) {
                tracing::warn!("giving memory back: {error}");
            }
            return match error {
                vk::Result::ERROR_OUT_OF_DEVICE_MEMORY => {
                    Err(self.out_of_memory(bytes, "the driver has no more"))
                }
                _ => self.gpu.check("vkBindBufferMemory", Err(error)),
            };
        }
        Ok(allocation)
    }

    fn out_of_memory(&self, bytes: u64, why: &str) -> DeviceError {
        let limits = &self.gpu.limits;
        DeviceError::OutOfMemory {
            device: limits.name.clone(),
            bytes,
            why: format!(
                "{why} ({} bytes in all, {} in use here): ask for less, or free some",
                limits.memory_bytes,
                self.in_use()
            ),
        }
    }

    fn in_use(&self) -> u64 {
        self.buffers.values().map(|owned| owned.buffer.bytes).sum()
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        for (_, owned) in std::mem::take(&mut self.buffers) {
            self.release(owned);
        }
    }
}
