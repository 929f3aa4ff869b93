//! Raw device memory with an owner.

use super::device::Shared;
use super::generation::HeapBlock;
use super::order::{Access, Demand};
use super::{BufferId, Device, DeviceError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Raw memory of a device; clones share it, the last one gives it back.
#[derive(Clone, Debug)]
pub struct RawBuffer {
    owner: Arc<Owner>,
}

#[derive(Debug)]
struct Owner {
    shared: Arc<Shared>,
    id: BufferId,
    /// Who changes it holds all of the memory meanwhile.
    bytes: AtomicU64,
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.shared.bound.forget(self.id);
        self.shared.backend.dealloc(self.id);
    }
}

impl RawBuffer {
    pub(crate) fn new(device: &Device, bytes: u64) -> Result<Self, DeviceError> {
        // Backends want whole words and no empty buffers.
        let bytes = bytes.max(4).next_multiple_of(4);
        let shared = device.shared().clone();
        let id = shared.backend.alloc(bytes)?;
        Ok(Self::owned(shared, id, bytes))
    }

    /// Memory that may come to have `most` bytes; both are whole words, and there is at least one.
    pub(super) fn growing(device: &Device, bytes: u64, most: u64) -> Result<Self, DeviceError> {
        let shared = device.shared().clone();
        let id = shared.backend.reserve(bytes, most)?;
        Ok(Self::owned(shared, id, bytes))
    }

    fn owned(shared: Arc<Shared>, id: BufferId, bytes: u64) -> Self {
        let bytes = AtomicU64::new(bytes);
        RawBuffer {
            owner: Arc::new(Owner { shared, id, bytes }),
        }
    }

    /// Gives memory that may grow another size. The caller holds all of it.
    pub(super) fn resize(&self, bytes: u64) -> Result<(), DeviceError> {
        self.owner.shared.backend.resize(self.id(), bytes)?;
        self.owner.bytes.store(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Whether it is memory of this device.
    pub(super) fn is_of(&self, device: &Device) -> bool {
        Arc::ptr_eq(&self.owner.shared, device.shared())
    }

    /// Whether both are memory of one device.
    pub(super) fn shares_device(&self, other: &RawBuffer) -> bool {
        Arc::ptr_eq(&self.owner.shared, &other.owner.shared)
    }

    /// What it shares with all that is made from its device.
    pub(super) fn shared(&self) -> &Shared {
        &self.owner.shared
    }

    /// The backend's name for it.
    pub fn id(&self) -> BufferId {
        self.owner.id
    }

    /// Size in bytes, a multiple of 4.
    pub fn bytes(&self) -> u64 {
        self.owner.bytes.load(Ordering::Relaxed)
    }

    /// Writes `data` at byte `offset`; both are whole words. Work of streams with these bytes is waited for.
    ///
    /// # Safety
    /// The bytes are no metadata of a heap and no live block of somebody else, and what they are used as may have these
    /// values.
    ///
    /// # Errors
    /// As [`Backend::write`](super::Backend::write).
    pub unsafe fn write(&self, offset: u64, data: &[u8]) -> Result<(), DeviceError> {
        self.write_in(None, offset, data)
    }

    /// The same for bytes of a heap's block, if it is one.
    pub(super) fn write_in(
        &self,
        block: Option<&HeapBlock>,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        let demands = [self.demand("write", offset, data.len() as u64, Access::Overwrite)?];
        let Owner { shared, id, .. } = &*self.owner;
        let _permit = shared.permit(&demands)?;
        block.map_or(Ok(()), HeapBlock::check)?;
        shared.backend.write(*id, offset, data)
    }

    /// Reads from byte `offset` into `data`; both are whole words. Work of streams with these bytes is waited for.
    ///
    /// # Errors
    /// As [`Backend::read`](super::Backend::read).
    pub fn read(&self, offset: u64, data: &mut [u8]) -> Result<(), DeviceError> {
        self.read_in(None, offset, data, || ())
    }

    /// The same for bytes of a heap's block, if it is one. When they are read, and before anybody changes them, `done` is called,
    /// whose answer is given back.
    pub(super) fn read_in<D>(
        &self,
        block: Option<&HeapBlock>,
        offset: u64,
        data: &mut [u8],
        done: impl FnOnce() -> D,
    ) -> Result<D, DeviceError> {
        let demands = [self.demand("read", offset, data.len() as u64, Access::Snapshot)?];
        let Owner { shared, id, .. } = &*self.owner;
        let _permit = shared.permit(&demands)?;
        block.map_or(Ok(()), HeapBlock::check)?;
        shared.backend.read(*id, offset, data)?;
        Ok(done())
    }

    /// Sets `words` words from byte `offset` to `value`. Work of streams with these words is waited for.
    ///
    /// # Safety
    /// As for [`write`](Self::write).
    ///
    /// # Errors
    /// As [`Backend::fill`](super::Backend::fill).
    pub unsafe fn fill(&self, offset: u64, words: u64, value: u32) -> Result<(), DeviceError> {
        self.fill_in(None, offset, words, value, || ())
    }

    /// The same for words of a heap's block, if they are one's. When they are set, and before anybody else has them, `done` is
    /// called, whose answer is given back.
    pub(super) fn fill_in<D>(
        &self,
        block: Option<&HeapBlock>,
        offset: u64,
        words: u64,
        value: u32,
        done: impl FnOnce() -> D,
    ) -> Result<D, DeviceError> {
        let bytes = words.saturating_mul(4);
        let demands = [self.demand("fill", offset, bytes, Access::Overwrite)?];
        let Owner { shared, id, .. } = &*self.owner;
        let _permit = shared.permit(&demands)?;
        block.map_or(Ok(()), HeapBlock::check)?;
        shared.backend.fill(*id, offset, words, value)?;
        Ok(done())
    }

    /// Copies `bytes` bytes from byte `offset` to byte `to_offset` of another buffer, of this device or of another one; all are whole
    /// words. Work of streams with these bytes is waited for.
    ///
    /// # Safety
    /// As for [`write`](Self::write), of what is copied over.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`], also if the two ranges overlap; as [`Backend::copy`](super::Backend::copy) and
    /// [`Backend::copy_to`](super::Backend::copy_to).
    pub unsafe fn copy(
        &self,
        offset: u64,
        to: &RawBuffer,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        self.copy_in([None, None], offset, to, to_offset, bytes)
    }

    /// The same for bytes of heaps' blocks, where they are some.
    pub(super) fn copy_in(
        &self,
        blocks: [Option<&HeapBlock>; 2],
        offset: u64,
        to: &RawBuffer,
        to_offset: u64,
        bytes: u64,
    ) -> Result<(), DeviceError> {
        let source = self.demand("copy", offset, bytes, Access::Snapshot)?;
        let target = to.demand("copy", to_offset, bytes, Access::Overwrite)?;
        if !self.shares_device(to) {
            return self.copy_across(blocks, offset, to, to_offset, bytes);
        }
        source.apart(&target)?;
        let Owner { shared, id, .. } = &*self.owner;
        let demands = [source, target];
        let _permit = shared.permit(&demands)?;
        for block in blocks.into_iter().flatten() {
            block.check()?;
        }
        shared
            .backend
            .copy((*id, offset), (to.id(), to_offset), bytes)
    }

    /// What a call is about to do with a range, which lies inside.
    pub(super) fn demand(
        &self,
        what: &'static str,
        offset: u64,
        bytes: u64,
        access: Access,
    ) -> Result<Demand, DeviceError> {
        let end = offset.saturating_add(bytes);
        if end > self.bytes() {
            return Err(DeviceError::OutOfRange {
                what,
                got: end,
                room: self.bytes(),
            });
        }
        aligned(what, offset, 4)?;
        aligned(what, bytes, 4)?;
        Ok(Demand::new(self.id(), offset, bytes, access))
    }
}

/// Checks that a place or a length is a multiple of what it has to be one of: memory of a device is words.
///
/// # Errors
/// [`DeviceError::Misaligned`].
pub fn aligned(what: &'static str, got: u64, of: u64) -> Result<(), DeviceError> {
    match got % of {
        0 => Ok(()),
        _ => Err(DeviceError::Misaligned { what, got, of }),
    }
}
