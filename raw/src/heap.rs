//! Which heap: what crosses from the host into a kernel.

use crate::{Heap, HeapHandle, Words};
use warpheap_api::{HeapParams, LAYOUT_VERSION};

/// Which heap, as plain words: 56 bytes, 8 of alignment, no padding, the same on host and device.
///
/// The host makes it (`host::Layout::heap`) and passes it to a kernel as it passes any structure, by value or in memory. All
/// zero is no heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RawHeap {
    /// Address of the heap on the device.
    address: u64,
    /// Number of 32-bit words of the heap.
    words: u64,
    /// The allocator's parameters.
    params: HeapParams,
    /// Names the allocator and the version of the layout; zero of no heap.
    tag: u32,
    /// Zero.
    reserved: u32,
}

impl RawHeap {
    /// Bytes of the value.
    pub const BYTES: usize = size_of::<RawHeap>();

    /// No heap: attaching it gives none.
    pub const NONE: RawHeap = RawHeap {
        address: 0,
        words: 0,
        params: [0; warpheap_api::abi::HEAP_PARAMS],
        tag: 0,
        reserved: 0,
    };

    #[cfg(feature = "host")]
    pub(crate) fn new<A: HeapHandle>(address: u64, words: u64, params: HeapParams) -> Self {
        RawHeap {
            address,
            words,
            params,
            tag: tag::<A>(),
            reserved: 0,
        }
    }

    /// The heap, to allocate from with the allocator `A`. `None` if this is no heap, or was laid out for another allocator or
    /// by a host program with another version of the layout. Allocators are told apart by their names, which adaptors such as
    /// [`Counted`](crate::Counted) share with what they are around.
    ///
    /// # Safety
    /// The memory is there and was set as the layout says that this value is of, before the kernel began; nothing but
    /// allocators of this heap has written to it since, but to blocks that were given out. If `A` is an
    /// [`FdgMalloc`](crate::FdgMalloc), the heap was laid out for one over the same allocator: those have one name.
    #[inline(always)]
    pub unsafe fn attach<A: HeapHandle<Memory = Words>>(self) -> Option<Heap<A>> {
        if self.tag != tag::<A>() {
            return None;
        }
        // SAFETY: the caller's promise: the words lie there, and are a heap of `A`, as the tag says.
        Some(unsafe { Heap::attach(Words::from_address(self.address, self.words), self.params) })
    }

    /// Address of the heap on the device; 0 of no heap.
    pub const fn address(&self) -> u64 {
        self.address
    }

    /// Bytes of the heap.
    pub const fn bytes(&self) -> u64 {
        self.words * 4
    }

    /// The value as it lies in the device's memory, to be copied to a static by programs that copy bytes.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        let halves = |wide: u64| [wide as u32, (wide >> 32) as u32];
        let fields = [halves(self.address), halves(self.words)];
        let words = fields.iter().flatten().chain(&self.params);
        let words = words.chain([&self.tag, &self.reserved]);
        for (to, word) in bytes.chunks_exact_mut(4).zip(words) {
            to.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

/// Names an allocator with the version of the layout, from its name: host and device compute it alike. Not zero.
const fn tag<A: HeapHandle>() -> u32 {
    // FNV-1a.
    let mut tag = 0x811c_9dc5 ^ LAYOUT_VERSION;
    let name = A::NAME.as_bytes();
    let mut i = 0;
    while i < name.len() {
        tag = (tag ^ name[i] as u32).wrapping_mul(0x0100_0193);
        i += 1;
    }
    tag | 1
}
