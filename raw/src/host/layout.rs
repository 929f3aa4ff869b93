//! What a heap of some size is made of.

use crate::{RawHeap, Words};
use core::fmt;
use core::marker::PhantomData;
use std::vec::Vec;
use thiserror::Error;
use warpheap_api::HeapParams;
use warpheap_api::host::{BackendKind, HeapPlan, HostAlloc, PlanError};

/// Words of a heap that have one value when it is fresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// Where they begin, in bytes from the start of the heap; a multiple of 4.
    pub offset: u64,
    /// How many 32-bit words they are; not 0.
    pub words: u64,
    /// Their value.
    pub value: u32,
}

/// Why there is no heap.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LayoutError {
    /// The allocator cannot make a heap of this size, or with these settings.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The address is not one where a heap can begin.
    #[error(
        "a heap cannot begin at address {address:#x}: it must be a multiple of {} and not 0; allocate {} bytes more than the \
         heap has and round the address up", Layout::<crate::WarpHeap>::ALIGN, Layout::<crate::WarpHeap>::ALIGN - 1
    )]
    Address {
        /// The address.
        address: u64,
    },
    /// The heap would end behind the last address.
    #[error(
        "a heap of {bytes} bytes at address {address:#x} ends behind the last address there is: pass the address that the device's memory was allocated at"
    )]
    Beyond {
        /// The address.
        address: u64,
        /// Bytes of the heap.
        bytes: u64,
    },
}

/// What a heap of some size is made of, for the allocator `A`. It is laid out by setting the [`ranges`](Layout::ranges), and
/// kernels get to know it by the [`heap`](Layout::heap).
///
/// ```
/// use warpheap_raw::{WarpHeap, host::Layout};
///
/// # fn main() -> Result<(), warpheap_raw::host::LayoutError> {
/// let layout = Layout::<WarpHeap>::of(1 << 20)?;
/// // let memory = cuMemAlloc(layout.bytes() + Layout::<WarpHeap>::ALIGN - 1), rounded up to a multiple of ALIGN
/// let memory = 0x7f00_0000_0000;
/// for range in layout.ranges() {
///     let _at = memory + range.offset; // cuMemsetD32(at, range.value, range.words)
/// }
/// let heap = layout.heap(memory)?; // an argument of kernels
/// assert_eq!(heap.bytes(), 1 << 20);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Layout<A> {
    bytes: u64,
    params: HeapParams,
    metadata_bytes: u64,
    ranges: Vec<Range>,
    allocator: PhantomData<fn() -> A>,
}

impl<A> Layout<A> {
    /// What the address of a heap is a multiple of: the greatest alignment that allocators keep, in bytes.
    pub const ALIGN: u64 = 64 << 10;
}

impl<A: HostAlloc<Memory = Words>> Layout<A> {
    /// A heap of so many bytes, with the allocator's usual settings.
    ///
    /// # Errors
    /// As [`with`](Layout::with).
    pub fn of(bytes: u64) -> Result<Self, LayoutError> {
        Self::with(bytes, &A::Config::default())
    }

    /// A heap of so many bytes, metadata included, rounded down to a multiple of 16; less than 64 GiB.
    ///
    /// # Errors
    /// [`LayoutError::Plan`] if a heap of this allocator cannot have this size or these settings.
    pub fn with(bytes: u64, config: &A::Config) -> Result<Self, LayoutError> {
        let bytes = bytes & !15;
        let plan = HeapPlan::of::<A>(bytes, config, BackendKind::Cuda)?;
        let head = HeapPlan::head::<A>();
        let range = |offset, words, value| Range {
            offset,
            words,
            value,
        };
        let tables = plan
            .ranges()
            .map(|fill| range(fill.word * 4, fill.words, fill.value));
        // The header was set to zero with the tables.
        let head = head.into_iter().zip(0u64..).filter(|(word, _)| *word != 0);
        let head = head.map(|(word, at)| range(at * 4, 1, word));
        let ranges = tables
            .chain(head)
            .filter(|range| range.words != 0)
            .collect();
        Ok(Layout {
            bytes,
            params: plan.params,
            metadata_bytes: plan.metadata_bytes,
            ranges,
            allocator: PhantomData,
        })
    }

    /// Bytes of the heap.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Bytes of it that can never be handed out.
    pub fn metadata_bytes(&self) -> u64 {
        self.metadata_bytes
    }

    /// What is to be set before a kernel uses the heap, in this order: later ones win where they overlap. Setting all of it
    /// again, while no kernel uses the heap, makes it fresh, and whatever was allocated in it is gone. All other words may
    /// hold anything.
    pub fn ranges(&self) -> &[Range] {
        &self.ranges
    }

    /// Sets the ranges in memory that the program itself can write to, such as that of an emulator, or an image of the heap
    /// that it copies as a whole. Words that do not fit into `memory` are left out; a heap has `bytes / 4`.
    pub fn set(&self, memory: &mut [u32]) {
        let len = memory.len() as u64;
        for range in &self.ranges {
            let first = (range.offset / 4).min(len);
            let last = first.saturating_add(range.words).min(len);
            // Both are at most a length.
            memory[first as usize..last as usize].fill(range.value);
        }
    }

    /// The heap at this address of the device, as kernels get to know it.
    ///
    /// # Errors
    /// [`LayoutError::Address`] if the address is not a multiple of [`ALIGN`](Layout::ALIGN), or 0;
    /// [`LayoutError::Beyond`] if the heap does not end before the last address.
    pub fn heap(&self, address: u64) -> Result<RawHeap, LayoutError> {
        if address == 0 || address % Self::ALIGN != 0 {
            return Err(LayoutError::Address { address });
        }
        if address.checked_add(self.bytes).is_none() {
            return Err(LayoutError::Beyond {
                address,
                bytes: self.bytes,
            });
        }
        Ok(RawHeap::new::<A>(address, self.bytes / 4, self.params))
    }

    pub(super) fn params(&self) -> &HeapParams {
        &self.params
    }
}

impl<A> fmt::Debug for Layout<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Layout")
            .field("bytes", &self.bytes)
            .field("ranges", &self.ranges)
            .finish_non_exhaustive()
    }
}
