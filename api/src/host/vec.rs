//! Typed device memory.

use super::contents::{Contents, Known};
use super::generation::HeapBlock;
use super::order::{Access, Demand};
use super::{Arg, Device, DeviceError, HostAlloc, Pool, RawBuffer, SliceArg};
use crate::{DevicePtr, HeapData, layout};
use core::marker::PhantomData;
use core::mem::{size_of, size_of_val};
use std::fmt;
use std::sync::Arc;
use std::vec::Vec;

/// Alignment of vectors that live in a heap: the offset alignment that Vulkan devices may ask of a
/// storage buffer at most.
const HEAP_ALIGN: usize = 256;

/// A vector of `T` in device memory, owned by the host. Kernels take it as `&[T]`, as `&mut T`, `PerLane<T>` or
/// `Scatter<T>`, or as `&mut [T]`.
///
/// It lies in a buffer of its own, or, from the `_in` constructors, inside a heap. The
/// length is fixed.
///
/// Elements that own memory of a heap, such as containers, begin as empty ones ([`zeroed`](Self::zeroed)) and are changed by
/// kernels. What copies elements is there for `Copy` ones alone, so that no container is there twice. Containers that lanes share are
/// `Copy` and may be read; the host does not write any, which does not compile.
pub struct DeviceVec<T> {
    storage: Storage,
    len: u32,
    contents: Contents,
    elements: PhantomData<T>,
}

enum Storage {
    Own { buffer: RawBuffer, offset: u64 },
    Heap(Arc<HeapBlock>),
}

impl<T: HeapData> DeviceVec<T> {
    /// An empty vector.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        Self::zeroed(device, 0)
    }

    /// `len` elements of zero words.
    ///
    /// # Errors
    /// [`DeviceError::TooLarge`] and [`DeviceError::OutOfMemory`].
    pub fn zeroed(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let vec = Self::made(device, len)?;
        vec.fill_zero()?;
        Ok(vec)
    }

    /// Like [`zeroed`](Self::zeroed), inside the heap of `pool`.
    ///
    /// # Errors
    /// As [`Pool::malloc`].
    pub fn zeroed_in<A: HostAlloc>(pool: &Pool<A>, len: usize) -> Result<Self, DeviceError> {
        let vec = Self::made_in(pool, len)?;
        vec.fill_zero()?;
        Ok(vec)
    }

    /// `len` elements of whatever the memory holds.
    pub(super) fn made(device: &Device, len: usize) -> Result<Self, DeviceError> {
        let len = checked_len::<T>(len)?;
        let buffer = device.alloc(byte_len::<T>(len))?;
        Ok(DeviceVec {
            storage: Storage::Own { buffer, offset: 0 },
            len,
            contents: Contents::default(),
            elements: PhantomData,
        })
    }

    /// The same in the heap of `pool`.
    pub(super) fn made_in<A: HostAlloc>(pool: &Pool<A>, len: usize) -> Result<Self, DeviceError> {
        let len = checked_len::<T>(len)?;
        let layout = layout::aligned(byte_len::<T>(len).max(1) as usize, HEAP_ALIGN);
        let ptr = pool.malloc(layout)?;
        Ok(DeviceVec {
            storage: Storage::Heap(Arc::new(HeapBlock {
                pool: pool.raw().clone(),
                ptr,
                layout,
            })),
            len,
            contents: Contents::default(),
            elements: PhantomData,
        })
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sets all words to zero.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fill_zero(&self) -> Result<(), DeviceError> {
        let words = byte_len::<T>(self.len) / 4;
        self.buffer()
            .fill_in(self.block(), self.offset(), words, 0, || {
                self.contents.take()
            })?;
        Ok(())
    }

    /// The vector as an argument of a kernel that takes it as `&[T]`.
    pub fn arg(&self) -> Arg {
        self.slice(false)
    }

    /// The vector as an argument of a kernel that changes its elements.
    pub fn arg_mut(&self) -> Arg {
        self.slice(true)
    }

    fn slice(&self, mutable: bool) -> Arg {
        Arg::Slice(SliceArg {
            buffer: self.buffer().clone(),
            offset: self.offset(),
            len: self.len,
            stride: size_of::<T>() as u32,
            mutable,
            block: match &self.storage {
                Storage::Own { .. } => None,
                Storage::Heap(block) => Some(block.clone()),
            },
            contents: T::OF_HEAP.then(|| self.contents.clone()),
            holds_shared: T::HOLDS_SHARED,
        })
    }

    /// Copies of all elements, of containers too, which each are there twice then.
    ///
    /// # Safety
    /// Of each element and its copy one alone is used as what owns memory: the other is only looked at, or forgotten.
    ///
    /// # Errors
    /// Errors of the device.
    pub unsafe fn peek(&self) -> Result<Vec<T>, DeviceError> {
        filled_by(self.len(), |bytes| self.read_at(0, bytes))
    }

    /// The handle of the first element, if the vector lives in a heap.
    pub fn heap_ptr(&self) -> Option<DevicePtr<T>> {
        match &self.storage {
            Storage::Own { .. } => None,
            Storage::Heap(block) => Some(block.ptr.cast()),
        }
    }

    /// Takes the vector apart: memory, byte offset of the first element, number of elements.
    /// A vector in a heap leaves its block allocated there.
    pub fn into_raw_parts(self) -> (RawBuffer, u64, u32) {
        let parts = (self.buffer().clone(), self.offset(), self.len);
        if let Storage::Heap(block) = self.storage {
            // Leaked on purpose, with the pool that it names: nobody frees it.
            core::mem::forget(block);
        }
        parts
    }

    /// A vector of `len` elements at byte `offset` of `buffer`.
    ///
    /// # Safety
    /// The memory is no part of a heap but a block that this vector has alone, and holds elements of this type.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if they do not fit, or `offset` is not a multiple of 256.
    pub unsafe fn from_raw_parts(
        buffer: RawBuffer,
        offset: u64,
        len: u32,
    ) -> Result<Self, DeviceError> {
        let end = offset.saturating_add(byte_len::<T>(len));
        if end > buffer.bytes() || offset % HEAP_ALIGN as u64 != 0 {
            return Err(DeviceError::OutOfRange {
                what: "DeviceVec::from_raw_parts",
                got: end,
                room: buffer.bytes(),
            });
        }
        Ok(DeviceVec {
            storage: Storage::Own { buffer, offset },
            len,
            contents: Contents::default(),
            elements: PhantomData,
        })
    }

    pub(super) fn buffer(&self) -> &RawBuffer {
        match &self.storage {
            Storage::Own { buffer, .. } => buffer,
            Storage::Heap(block) => &block.pool.buffer,
        }
    }

    /// The block of a heap that it lies in, if it does.
    pub(super) fn block(&self) -> Option<&HeapBlock> {
        match &self.storage {
            Storage::Own { .. } => None,
            Storage::Heap(block) => Some(block),
        }
    }

    /// Of which heap its containers are.
    pub(super) fn contents(&self) -> &Contents {
        &self.contents
    }

    /// What is about to be done with all of it.
    pub(super) fn demand(&self, access: Access) -> Demand {
        let bytes = byte_len::<T>(self.len);
        Demand::new(self.buffer().id(), self.offset(), bytes, access)
    }

    fn offset(&self) -> u64 {
        match &self.storage {
            Storage::Own { offset, .. } => *offset,
            Storage::Heap(block) => block.ptr.byte_offset(),
        }
    }

    pub(super) fn offset_of(&self, element: usize) -> u64 {
        self.offset() + byte_len::<T>(element as u32)
    }

    pub(super) fn write_at(&self, first: usize, data: &[T]) -> Result<(), DeviceError> {
        let offset = self.offset_of(first);
        self.buffer().write_in(self.block(), offset, bytes_of(data))
    }

    pub(super) fn read_at(&self, first: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let offset = self.offset_of(first);
        self.buffer().read_in(self.block(), offset, bytes, || ())
    }

    /// Reads elements that are containers, with what is known of them.
    pub(super) fn read_known(&self, first: usize, bytes: &mut [u8]) -> Result<Known, DeviceError> {
        let (offset, now) = (self.offset_of(first), || self.contents.now());
        self.buffer().read_in(self.block(), offset, bytes, now)
    }

    pub(super) fn in_range(
        &self,
        what: &'static str,
        first: usize,
        len: usize,
    ) -> Result<(), DeviceError> {
        let end = first.saturating_add(len);
        if end > self.len() {
            return Err(DeviceError::OutOfRange {
                what,
                got: end as u64,
                room: self.len as u64,
            });
        }
        Ok(())
    }

    pub(super) fn same_len(&self, what: &'static str, len: usize) -> Result<(), DeviceError> {
        if len != self.len() {
            return Err(DeviceError::OutOfRange {
                what,
                got: len as u64,
                room: self.len as u64,
            });
        }
        Ok(())
    }
}

impl<T> fmt::Debug for DeviceVec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceVec").field("len", &self.len).finish()
    }
}

fn checked_len<T: HeapData>(len: usize) -> Result<u32, DeviceError> {
    const { assert!(size_of::<T>() == T::WORDS as usize * 4) }
    u32::try_from(len).map_err(|_| DeviceError::OutOfRange {
        what: "number of elements of a device vector",
        got: len as u64,
        room: u32::MAX as u64,
    })
}

/// Does not compile for containers of a heap: for what writes elements into memory of a device, or takes it as it is.
/// The host could take containers from anywhere, and no launch could tell of which heap they are and who frees them.
#[track_caller]
pub const fn assert_plain<T: HeapData>() {
    assert!(
        !T::OF_HEAP && !T::HOLDS_SHARED,
        "the host does not write containers of a heap into memory of a device: begin with zeros, and let kernels make them"
    );
}

pub(super) fn byte_len<T: HeapData>(len: u32) -> u64 {
    len as u64 * T::WORDS as u64 * 4
}

/// `len` elements whose bytes a function writes.
pub(super) fn filled_by<T: HeapData>(
    len: usize,
    write: impl FnOnce(&mut [u8]) -> Result<(), DeviceError>,
) -> Result<Vec<T>, DeviceError> {
    let mut data: Vec<T> = Vec::with_capacity(len);
    let room = &mut data.spare_capacity_mut()[..len];
    // SAFETY: HeapData is valid for every bit pattern; the bytes are zeroed before they are
    // seen as initialised.
    let bytes = unsafe {
        core::ptr::write_bytes(room.as_mut_ptr(), 0, room.len());
        core::slice::from_raw_parts_mut(room.as_mut_ptr().cast::<u8>(), size_of_val(room))
    };
    write(bytes)?;
    // SAFETY: the first len elements were initialised above.
    unsafe { data.set_len(len) };
    Ok(data)
}

/// The bytes of plain data.
pub(crate) fn bytes_of<T: HeapData>(data: &[T]) -> &[u8] {
    // SAFETY: HeapData has no padding, so every byte is initialised.
    unsafe { core::slice::from_raw_parts(data.as_ptr().cast(), size_of_val(data)) }
}

/// The bytes of plain data, to be overwritten.
pub(crate) fn bytes_of_mut<T: HeapData>(data: &mut [T]) -> &mut [u8] {
    // SAFETY: as in bytes_of; any bytes are valid values.
    unsafe { core::slice::from_raw_parts_mut(data.as_mut_ptr().cast(), size_of_val(data)) }
}

/// The words of plain data.
pub(crate) fn words_of<T: HeapData>(data: &[T]) -> Vec<u32> {
    bytes_of(data)
        .chunks_exact(4)
        .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
        .collect()
}
