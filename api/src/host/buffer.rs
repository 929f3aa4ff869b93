//! Raw device memory with an owner.

use super::{Backend, BufferId, Device, DeviceError};
use std::sync::Arc;

/// Raw memory of a device; clones share it, the last one gives it back.
#[derive(Clone, Debug)]
pub struct RawBuffer {
    owner: Arc<Owner>,
}

#[derive(Debug)]
struct Owner {
    backend: Arc<dyn Backend>,
    id: BufferId,
    bytes: u64,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.backend.dealloc(self.id);
    }
}

impl RawBuffer {
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Self, DeviceError> {
        // Backends want whole words and no empty buffers.
        let bytes = bytes.max(4).next_multiple_of(4);
        let backend = device.backend().clone();
        let id = backend.alloc(bytes)?;
        Ok(RawBuffer {
            owner: Arc::new(Owner { backend, id, bytes }),
        })
    }

    /// The backend's name for it.
    pub fn id(&self) -> BufferId {
        self.owner.id
    }

    /// Size in bytes, a multiple of 4.
    pub fn bytes(&self) -> u64 {
        self.owner.bytes
    }

    /// Writes `data` at byte `offset`; both are whole words.
    ///
    /// # Errors
    /// As [`Backend::write`].
    pub fn write(&self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.check("write", offset, data.len() as u64)?;
        self.owner.backend.write(self.owner.id, offset, data)
    }

    /// Reads from byte `offset` into `data`; both are whole words.
    ///
    /// # Errors
    /// As [`Backend::read`].
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.check("read", offset, data.len() as u64)?;
        self.owner.backend.read(self.owner.id, offset, data)
    }

    /// Sets `words` words from byte `offset` to `value`.
    ///
    /// # Errors
    /// As [`Backend::fill`].
    pub fn fill(&self, offset: u64, words: u64, value: u32) -> Result<(), DeviceError> {
        self.check("fill", offset, words.saturating_mul(4))?;
        self.owner.backend.fill(self.owner.id, offset, words, value)
    }

    fn check(&self, what: &'static str, offset: u64, bytes: u64) -> Result<(), DeviceError> {
        let end = offset.saturating_add(bytes);
        if end > self.bytes() || offset % 4 != 0 || bytes % 4 != 0 {
            return Err(DeviceError::OutOfRange {
                what,
                got: end,
                room: self.bytes(),
            });
        }
        Ok(())
    }
}
