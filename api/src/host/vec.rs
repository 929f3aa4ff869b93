//! Typed device memory.

use super::buffer::aligned;
use super::bytes::{Zeros, byte_len, bytes_of, filled_by, padded};
use super::contents::{Contents, Known};
use super::generation::HeapBlock;
use super::order::{Access, Demand};
use super::{Arg, Device, DeviceError, HostAlloc, Pool, RawBuffer, RawPool, SliceArg};
use crate::{DevicePtr, Element, layout};
use core::marker::PhantomData;
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
/// Elements are [`Element`]s. Vectors of numbers of 8, 16 and 64 bits are memory on every device, and arguments of kernels on CUDA
/// and the host. Devices are given whole words: a vector has the rest of its last one for itself, and a copy that begins or ends in the
/// midst of a word reads that word and writes it back with the elements beside it as they were.
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

impl<T: Element> DeviceVec<T> {
    /// An empty vector.
    ///
    /// # Errors
    /// As [`zeroed`](Self::zeroed).
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        Self::zeroed(device, 0)
    }

    /// `len` elements that stand for nothing: zeros, empty containers, null handles.
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
        let len = checked_len(len)?;
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
        let len = checked_len(len)?;
        let bytes = padded(byte_len::<T>(len)).max(1);
        let layout = layout::aligned(bytes as usize, HEAP_ALIGN);
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

    /// Sets all elements to what stands for nothing: zero, an empty container, a null handle.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn fill_zero(&self) -> Result<(), DeviceError> {
        let words = padded(byte_len::<T>(self.len)) / 4;
        let zeros = Zeros::of::<T>(self.len());
        let word = match zeros {
            Zeros::Of(word) => word,
            Zeros::Bytes(_) => 0,
        };
        self.buffer()
            .fill_in(self.block(), self.offset(), words, word, || {
                self.contents.take()
            })?;
        if let Zeros::Bytes(bytes) = zeros {
            self.buffer()
                .write_in(self.block(), self.offset(), &bytes)?;
        }
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
            contents: T::CONTAINERS.then(|| self.contents.clone()),
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
        filled_by(self.len(), |bytes| self.read_all(bytes))
    }

    /// Refuses a heap that the containers in this vector are not of.
    ///
    /// # Errors
    /// [`DeviceError::BadHeap`] if kernels filled it in another heap, [`DeviceError::Stale`] if that was made fresh since.
    pub fn check_heap(&self, pool: &RawPool) -> Result<(), DeviceError> {
        self.contents.check(pool, byte_len::<T>(self.len))
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
    /// The memory, to the end of its last word, is no part of a heap but a block that this vector has alone, and holds elements of
    /// this type.
    ///
    /// # Errors
    /// [`DeviceError::OutOfRange`] if they do not fit, [`DeviceError::Misaligned`] if `offset` is not a multiple of 256.
    pub unsafe fn from_raw_parts(
        buffer: RawBuffer,
        offset: u64,
        len: u32,
    ) -> Result<Self, DeviceError> {
        let end = offset.saturating_add(padded(byte_len::<T>(len)));
        aligned("DeviceVec::from_raw_parts", offset, HEAP_ALIGN as u64)?;
        if end > buffer.bytes() {
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

    /// What is about to be done with all of it, and with the rest of its last word, which is nobody else's.
    pub(super) fn demand(&self, access: Access) -> Demand {
        let bytes = padded(byte_len::<T>(self.len));
        Demand::new(self.buffer().id(), self.offset(), bytes, access)
    }

    fn offset(&self) -> u64 {
        match &self.storage {
            Storage::Own { offset, .. } => *offset,
            Storage::Heap(block) => block.pool.offset_of(block.ptr),
        }
    }

    pub(super) fn offset_of(&self, element: usize) -> u64 {
        self.offset() + byte_len::<T>(element as u32)
    }

    pub(super) fn write_at(&self, first: usize, data: &[T]) -> Result<(), DeviceError> {
        let offset = self.offset_of(first);
        self.buffer()
            .write_bytes(self.block(), offset, bytes_of(data))
    }

    /// Reads all elements, to the end of the last word.
    pub(super) fn read_all(&self, words: &mut [u8]) -> Result<(), DeviceError> {
        self.buffer()
            .read_in(self.block(), self.offset(), words, || ())
    }

    pub(super) fn read_at(&self, first: usize, bytes: &mut [u8]) -> Result<(), DeviceError> {
        let offset = self.offset_of(first);
        self.buffer().read_bytes(self.block(), offset, bytes)
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

fn checked_len(len: usize) -> Result<u32, DeviceError> {
    u32::try_from(len).map_err(|_| DeviceError::OutOfRange {
        what: "number of elements of a device vector",
        got: len as u64,
        room: u32::MAX as u64,
    })
}

/// Does not compile for containers of a heap: for what writes elements into memory of a device, or takes it as it is.
/// The host could take containers from anywhere, and no launch could tell of which heap they are and who frees them.
#[track_caller]
pub const fn assert_plain<T: Element>() {
    assert!(
        !T::CONTAINERS && !T::HOLDS_SHARED,
        "the host does not write containers of a heap into memory of a device: begin with zeros, and let kernels make them"
    );
}
