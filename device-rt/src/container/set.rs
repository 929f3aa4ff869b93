//! A concurrent hash set: a hash map without values.

use super::handle::holds_shared;
use super::map::{Before, Nothing, Table, TableCursor, Typed};
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout};

/// A set of keys in a heap that any number of lanes read and change at once: two words. What holds for
/// [`HeapHashMap`](super::HeapHashMap) holds for it: growth, order, errors, memory of removed keys, and that
/// zeroed words are no set.
#[derive(Debug)]
#[repr(C)]
pub struct HeapHashSet<K> {
    table: Table,
    keys: PhantomData<fn() -> K>,
}

impl<K> Clone for HeapHashSet<K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for HeapHashSet<K> {}

// SAFETY: as Table, which it consists of.
unsafe impl<K: HeapData + Copy> HeapData for HeapHashSet<K> {
    const WORDS: u32 = Table::WORDS;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = holds_shared(K::OF_HEAP);
    #[inline(always)]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        Self::of(Table::get(memory, word))
    }
    #[inline(always)]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        self.table.put(memory, word);
    }
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        // SAFETY: the caller's promise.
        Self::of(unsafe { Table::from_args(args, at) })
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        self.table.word_at(index)
    }
}

impl<K: HeapData + Copy> Default for HeapHashSet<K> {
    fn default() -> Self {
        Self::none()
    }
}

impl<K: HeapData + Copy> HeapHashSet<K> {
    #[inline(always)]
    const fn of(table: Table) -> Self {
        HeapHashSet {
            table,
            keys: PhantomData,
        }
    }

    /// No set.
    #[inline(always)]
    pub const fn none() -> Self {
        Self::of(Table::NONE)
    }

    /// Makes this an empty set whose root has `2^root_bits` slots; see
    /// [`HeapHashMap::init`](super::HeapHashMap::init).
    ///
    /// # Errors
    /// As there.
    #[inline]
    pub fn init<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        root_bits: u32,
    ) -> Result<(), AllocError> {
        self.table.init(heap, root_bits, K::WORDS, 0)
    }

    /// The layout of a root.
    #[inline(always)]
    pub const fn root_layout(root_bits: u32) -> Layout {
        Table::root_layout(root_bits, K::WORDS, 0)
    }

    /// The layout of the blocks by which the set grows; see [`HeapHashMap::growth_layout`](super::HeapHashMap::growth_layout).
    #[inline(always)]
    pub const fn growth_layout() -> Layout {
        Table::growth_layout(K::WORDS, 0)
    }

    /// The empty set with this root.
    ///
    /// # Safety
    /// `root` is a block of [`root_layout`](Self::root_layout) that is the set's own, of zero words.
    #[inline(always)]
    pub const unsafe fn with_root(root: DevicePtr<u32>, root_bits: u32) -> Self {
        // SAFETY: the caller's promise.
        Self::of(unsafe { Table::with_root(root, root_bits) })
    }

    /// The set without its type.
    #[inline(always)]
    pub const fn table(self) -> Table {
        self.table
    }

    /// Whether there is no set.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.table.is_none()
    }

    /// Inserts a key.
    ///
    /// # Errors
    /// As [`HeapHashMap::insert`](super::HeapHashMap::insert).
    #[inline]
    pub fn insert<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Result<Before, AllocError> {
        self.table.bring(heap, Typed(key), Nothing, false)
    }

    /// Whether a key is there.
    #[inline]
    pub fn contains<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> bool {
        self.table.contains(heap.memory(), Typed(key), 0)
    }

    /// Removes a key. Its memory stays the set's.
    ///
    /// # Errors
    /// As [`HeapHashMap::remove`](super::HeapHashMap::remove).
    #[inline]
    pub fn remove<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Result<Before, AllocError> {
        self.table.remove(heap.memory(), Typed(key), 0)
    }

    /// Goes through share `index` of `count`; see [`HeapHashMap::cursor`](super::HeapHashMap::cursor).
    #[inline(always)]
    pub fn cursor<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) -> SetCursor<K> {
        SetCursor {
            at: TableCursor::new(heap.memory(), self.table, K::WORDS, 0, index, count),
            keys: PhantomData,
        }
    }

    /// Frees the memory of removed keys; see [`HeapHashMap::tidy_part`](super::HeapHashMap::tidy_part).
    ///
    /// # Safety
    /// Nobody else uses the set in this launch, shares are those of one number of shares, and the set is of this heap.
    #[inline]
    pub unsafe fn tidy_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.table.tidy_part(heap, K::WORDS, 0, index, count) };
    }

    /// Takes keys out and frees their memory; see
    /// [`HeapHashMap::free_part`](super::HeapHashMap::free_part).
    ///
    /// # Safety
    /// Nobody else uses the set in this launch, shares are those of one number of shares, and the set is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.table.free_part(heap, K::WORDS, 0, index, count) };
    }

    /// Frees the root; see [`HeapHashMap::free`](super::HeapHashMap::free).
    ///
    /// # Safety
    /// Nobody uses the set any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe { self.table.free(heap, K::WORDS, 0) };
    }

    /// Takes all keys out and frees everything, by one lane.
    ///
    /// # Safety
    /// Nobody uses the set any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free_all<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.free_part(heap, 0, 1);
            self.free(heap);
        }
    }
}

/// Where a lane is among its share of a set's keys. Plain words.
#[derive(Debug)]
pub struct SetCursor<K> {
    at: TableCursor,
    keys: PhantomData<fn() -> K>,
}

impl<K> Clone for SetCursor<K> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for SetCursor<K> {}

impl<K: HeapData + Copy> SetCursor<K> {
    /// On to the next key that is there; false if there is none.
    #[inline]
    pub fn advance<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> bool {
        self.at.step_present(heap.memory())
    }

    /// The key. Call it after an [`advance`](Self::advance) that found one.
    #[inline(always)]
    pub fn key<A: DeviceAlloc>(&self, heap: Heap<A>) -> K {
        self.at.key(heap.memory())
    }
}
