//! A concurrent hash map with a growing list of values for each key.

use super::handle::holds_shared;
use super::list::{HeapList, ListCursor};
use super::map::{Table, TableCursor, Typed};
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout, least, select,
};

/// A map in a heap from keys to lists of values, into which any number of lanes push at once: two words.
///
/// Keys grow like those of [`HeapHashMap`](super::HeapHashMap), and each has a [`HeapList`] of its own. Nothing is
/// removed. Keys whose list is empty, because memory ran out, are not there.
///
/// Reading ([`values`](Self::values), [`len`](Self::len), [`cursor`](Self::cursor)) is for lanes that are ordered after
/// the pushes: in a later launch, or behind a barrier. Zeroed words are no map.
#[derive(Debug)]
#[repr(C)]
pub struct HeapMultiMap<K, T> {
    table: Table,
    entries: PhantomData<fn() -> (K, T)>,
}

impl<K, T> Clone for HeapMultiMap<K, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, T> Copy for HeapMultiMap<K, T> {}

// SAFETY: as Table, which it consists of.
unsafe impl<K: HeapData + Copy, T: HeapData + Copy> HeapData for HeapMultiMap<K, T> {
    const WORDS: u32 = Table::WORDS;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = holds_shared(K::OF_HEAP | T::OF_HEAP);
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

impl<K: HeapData + Copy, T: HeapData + Copy> Default for HeapMultiMap<K, T> {
    fn default() -> Self {
        Self::none()
    }
}

impl<K: HeapData + Copy, T: HeapData + Copy> HeapMultiMap<K, T> {
    #[inline(always)]
    const fn of(table: Table) -> Self {
        HeapMultiMap {
            table,
            entries: PhantomData,
        }
    }

    /// No map.
    #[inline(always)]
    pub const fn none() -> Self {
        Self::of(Table::NONE)
    }

    /// Makes this an empty map whose root has `2^root_bits` slots; see
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
        self.table.init(heap, root_bits, K::WORDS, 1)
    }

    /// The layout of a root.
    #[inline(always)]
    pub const fn root_layout(root_bits: u32) -> Layout {
        Table::root_layout(root_bits, K::WORDS, 1)
    }

    /// The layout of the blocks by which the map grows; see [`HeapHashMap::growth_layout`](super::HeapHashMap::growth_layout).
    #[inline(always)]
    pub const fn growth_layout() -> Layout {
        Table::growth_layout(K::WORDS, 1)
    }

    /// The empty map with this root.
    ///
    /// # Safety
    /// `root` is a block of [`root_layout`](Self::root_layout) that is the map's own, of zero words.
    #[inline(always)]
    pub const unsafe fn with_root(root: DevicePtr<u32>, root_bits: u32) -> Self {
        // SAFETY: the caller's promise.
        Self::of(unsafe { Table::with_root(root, root_bits) })
    }

    /// Whether there is no map.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.table.is_none()
    }

    /// Appends a value to those of a key.
    ///
    /// # Errors
    /// As [`HeapHashMap::insert`](super::HeapHashMap::insert) and [`HeapList::push_at`]; then the key's values are
    /// as they were.
    #[inline]
    pub fn push<A: DeviceAlloc>(self, heap: Heap<A>, key: K, value: T) -> Result<(), AllocError> {
        // A zeroed word is an empty list.
        let list = self.table.enter(heap, Typed(key), Typed(0))?;
        // SAFETY: the word of a key's value stays where it is, and is the list of the key.
        unsafe { HeapList::push_at(heap, list, value) }
    }

    /// The list of a key's values, which the map still owns; an empty one if it has none.
    #[inline]
    fn list<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> HeapList<T> {
        let word = self.table.find(heap.memory(), Typed(key), 1);
        let mut list = HeapList::new();
        if word != 0 {
            list = HeapList::get(heap.memory(), word);
        }
        list
    }

    /// Goes through the values of a key.
    #[inline]
    pub fn values<'a, A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> ListCursor<'a, T> {
        self.list(heap, key).kept_cursor(heap)
    }

    /// Number of values of a key.
    #[inline]
    pub fn len<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> u32 {
        self.list(heap, key).len(heap)
    }

    /// Goes through share `index` of `count` of the keys; see
    /// [`HeapHashMap::cursor`](super::HeapHashMap::cursor).
    #[inline(always)]
    pub fn cursor<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        index: u32,
        count: u32,
    ) -> MultiMapCursor<K, T> {
        MultiMapCursor {
            at: TableCursor::new(heap.memory(), self.table, K::WORDS, 1, index, count),
            entries: PhantomData,
        }
    }

    /// Takes share `index` of `count` of the keys out and frees their memory and that of their lists, not what
    /// values own. Every share by one lane, in a launch in which nobody uses the map otherwise. There is
    /// work for as many lanes as the root has slots.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // Shares of whole slots: a list and its leaf are freed by the same lane.
        let shares = least(count, self.table.most_shares(1));
        let memory = heap.memory();
        let mut cursor = TableCursor::new(memory, self.table, K::WORDS, 1, index, shares);
        // Without a share there is nothing under the cursor either.
        let mut on = (index < shares) & !self.is_none();
        while on {
            on = cursor.step(memory);
            if on {
                let mut list = HeapList::<T>::get(memory, cursor.value_word(memory));
                list.free(heap);
            }
        }
        let index = select(index < shares, index, u32::MAX);
        // SAFETY: the caller's promise.
        unsafe { self.table.free_part(heap, K::WORDS, 1, index, shares) };
    }

    /// Frees the root, from which all has been taken by [`free_part`](Self::free_part); by one lane.
    ///
    /// # Safety
    /// Nobody uses the map any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe { self.table.free(heap, K::WORDS, 1) };
    }

    /// Takes all keys out and frees everything, by one lane.
    ///
    /// # Safety
    /// Nobody uses the map any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free_all<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe {
            self.free_part(heap, 0, 1);
            self.free(heap);
        }
    }
}

/// Where a lane is among its share of the keys. Plain words.
#[derive(Debug)]
pub struct MultiMapCursor<K, T> {
    at: TableCursor,
    entries: PhantomData<fn() -> (K, T)>,
}

impl<K, T> Clone for MultiMapCursor<K, T> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, T> Copy for MultiMapCursor<K, T> {}

impl<K: HeapData + Copy, T: HeapData + Copy> MultiMapCursor<K, T> {
    /// On to the next key; false if there is none.
    #[inline]
    pub fn advance<A: DeviceAlloc>(&mut self, heap: Heap<A>) -> bool {
        let mut on = true;
        let mut found = false;
        while on {
            on = self.at.step(heap.memory());
            if on {
                found = !self.list(heap).is_empty();
                on = !found;
            }
        }
        found
    }

    /// The key. Call it after an [`advance`](Self::advance) that found one.
    #[inline(always)]
    pub fn key<A: DeviceAlloc>(&self, heap: Heap<A>) -> K {
        self.at.key(heap.memory())
    }

    /// Goes through the values of the key.
    #[inline(always)]
    pub fn values<'a, A: DeviceAlloc>(&self, heap: Heap<A>) -> ListCursor<'a, T> {
        self.list(heap).kept_cursor(heap)
    }

    /// Number of values of the key.
    #[inline(always)]
    pub fn len<A: DeviceAlloc>(&self, heap: Heap<A>) -> u32 {
        self.list(heap).len(heap)
    }

    /// Whether the key has no values: never, after an [`advance`](Self::advance) that found it.
    #[inline(always)]
    pub fn is_empty<A: DeviceAlloc>(&self, heap: Heap<A>) -> bool {
        self.list(heap).is_empty()
    }

    /// The list of the key's values, which the map still owns.
    #[inline(always)]
    fn list<A: DeviceAlloc>(&self, heap: Heap<A>) -> HeapList<T> {
        HeapList::get(heap.memory(), self.at.value_word(heap.memory()))
    }
}
