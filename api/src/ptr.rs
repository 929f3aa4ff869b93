//! Handles to memory inside a heap.

use core::marker::PhantomData;

/// What a [`DevicePtr`] to `Self` consists of: one word for a sized type, pointer and length for a
/// slice. Implemented for every sized type and for slices; there is nothing to implement outside.
pub trait HeapPointee {
    /// The plain words of the handle.
    type Repr: Copy + PartialEq + Eq + core::fmt::Debug;
}

impl<T> HeapPointee for T {
    type Repr = u32;
}

impl<T> HeapPointee for [T] {
    type Repr = ArrayHandle;
}

/// The two words of a `DevicePtr<[T]>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct ArrayHandle {
    /// Granule index of the first element, [`DevicePtr::NULL_GRANULE`] for null.
    pub granule: u32,
    /// Number of elements.
    pub len: u32,
}

/// A handle to memory in a heap: the index of a granule, of 16 bytes in most heaps
/// ([`DeviceAlloc::GRANULE_SHIFT`](crate::DeviceAlloc::GRANULE_SHIFT)).
///
/// A handle is 32 bits, reaches 64 GiB with granules of 16 bytes, can be stored inside the heap or a device buffer, and can
/// be swapped by a 32-bit compare-and-swap. The null handle is `u32::MAX`. It means something only
/// together with the heap it came from; `Heap` in the device runtime resolves it.
///
/// `DevicePtr<[T]>` carries the number of elements in a second word.
#[repr(transparent)]
pub struct DevicePtr<T: ?Sized + HeapPointee> {
    repr: T::Repr,
    pointee: PhantomData<fn() -> PhantomData<T>>,
}

impl<T: ?Sized + HeapPointee> Clone for DevicePtr<T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized + HeapPointee> Copy for DevicePtr<T> {}

impl<T: ?Sized + HeapPointee> PartialEq for DevicePtr<T> {
    #[inline(always)]
    fn eq(&self, other: &Self) -> bool {
        self.repr == other.repr
    }
}

impl<T: ?Sized + HeapPointee> Eq for DevicePtr<T> {}

impl<T: ?Sized + HeapPointee> core::fmt::Debug for DevicePtr<T> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "DevicePtr({:?})", self.repr)
    }
}

impl DevicePtr<u8> {
    /// The granule index of the null handle.
    pub const NULL_GRANULE: u32 = u32::MAX;
    /// Bytes of a granule: the smallest block and the smallest alignment of any heap.
    pub const GRANULE_BYTES: usize = 16;
    /// 32-bit words of a granule.
    pub const GRANULE_WORDS: usize = 4;
}

impl<T> DevicePtr<T> {
    /// The handle that points nowhere.
    pub const NULL: Self = Self::from_granule(u32::MAX);

    /// The handle of the granule with this index.
    #[inline(always)]
    pub const fn from_granule(granule: u32) -> Self {
        DevicePtr {
            repr: granule,
            pointee: PhantomData,
        }
    }

    /// Index of the granule, from the start of the heap.
    #[inline(always)]
    pub const fn granule(self) -> u32 {
        self.repr
    }

    /// Bytes from the start of a heap whose granules have 16 bytes times two to this power.
    #[inline(always)]
    pub const fn byte_offset(self, granule_shift: u32) -> u64 {
        (self.repr as u64 * 16) << granule_shift
    }

    /// Whether this is the null handle.
    #[inline(always)]
    pub const fn is_null(self) -> bool {
        self.repr == u32::MAX
    }

    /// The same handle, to another type.
    #[inline(always)]
    pub const fn cast<U>(self) -> DevicePtr<U> {
        DevicePtr::from_granule(self.repr)
    }

    /// The handle of an array of `len` elements that begins here.
    #[inline(always)]
    pub const fn with_len(self, len: u32) -> DevicePtr<[T]> {
        DevicePtr {
            repr: ArrayHandle {
                granule: self.repr,
                len,
            },
            pointee: PhantomData,
        }
    }
}

impl<T> DevicePtr<[T]> {
    /// The handle of the first element.
    #[inline(always)]
    pub const fn first(self) -> DevicePtr<T> {
        DevicePtr::from_granule(self.repr.granule)
    }

    /// Number of elements.
    #[inline(always)]
    pub const fn len(self) -> u32 {
        self.repr.len
    }

    /// Whether the array has no elements.
    #[inline(always)]
    pub const fn is_empty(self) -> bool {
        self.repr.len == 0
    }
}

static_assertions::assert_eq_size!(DevicePtr<u64>, u32);
static_assertions::assert_eq_size!(DevicePtr<[u64]>, [u32; 2]);
static_assertions::assert_eq_align!(DevicePtr<u64>, u32);
