//! Hash tries in a heap that the host owns, whatever their keys and values are.

use super::super::{MapFillEntry, MapFreeEntry, MapReadEntry};
use crate::Kernels;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_rt::api::host::{
    Arg, BackendKind, DeviceError, DeviceVec, HostAlloc, HostEntry, IntoArg, LaunchConfig, Pool,
    Prepared, RawPool, SharedArg,
};
use warpheap_rt::container::map::{NODE_SLOTS, Trie};
use warpheap_rt::device::*;

/// Heaps that the library has kernels of maps for.
pub trait MapAlloc: HostAlloc + MapFillEntry + MapReadEntry + MapFreeEntry {}

impl<A: HostAlloc + MapFillEntry + MapReadEntry + MapFreeEntry> MapAlloc for A {}

/// A trie that is freed when it is dropped.
pub(super) struct OwnedTrie<A: MapAlloc> {
    kernels: Kernels,
    pool: RawPool,
    trie: Trie,
    key_words: u32,
    value_words: u32,
    allocator: PhantomData<fn() -> A>,
}

impl<A: MapAlloc> OwnedTrie<A> {
    /// An empty trie of keys and values of so many words.
    pub fn new(
        pool: &Pool<A>,
        root_bits: u32,
        [key_words, value_words]: [u32; 2],
    ) -> Result<Self, DeviceError> {
        let kernels = crate::calls::kernels_of(&pool.raw().device)?;
        let layout = Trie::root_layout(root_bits);
        if pool.bytes() > 32 << 30 {
            return Err(pool.raw().refused(layout, AllocError::Unsupported));
        }
        let root = pool.malloc(layout)?.cast::<u32>();
        let this = OwnedTrie {
            kernels,
            pool: pool.raw().clone(),
            // SAFETY: the root is a block of this layout, and is zeroed before anybody uses the trie.
            trie: unsafe { Trie::with_root(root, root_bits) },
            key_words,
            value_words,
            allocator: PhantomData,
        };
        let words = layout.size() as u64 / 4;
        // SAFETY: nobody else has this memory.
        unsafe { this.pool.buffer.fill(root.byte_offset(), words, 0) }?;
        Ok(this)
    }

    /// The size of a root that fits so many keys.
    pub fn root_bits(keys: usize) -> u32 {
        keys.max(2).ilog2().min(24)
    }

    /// The trie without its owner.
    pub fn trie(&self) -> Trie {
        self.trie
    }

    /// What is made of the trie as an argument, which keeps `owner`.
    ///
    /// # Safety
    /// It is this trie with the types of its keys and values, and `owner` has this value.
    pub unsafe fn shared<C: HeapData + Copy, O: Send + Sync + 'static>(
        &self,
        container: C,
        owner: &Arc<O>,
    ) -> SharedArg<C> {
        // SAFETY: it is of this heap, and is freed when this value is dropped.
        unsafe { SharedArg::owned(&self.pool, container, owner.clone()) }
    }

    /// The pool that it lies in.
    pub fn pool(&self) -> &RawPool {
        &self.pool
    }

    /// Inserts `count` keys with their values, or overwrites those.
    pub fn fill(&self, keys: &[u32], values: &[u32], count: usize) -> Result<(), DeviceError> {
        let count = self.numbered(count)?;
        if count == 0 {
            return Ok(());
        }
        let device = &self.pool.device;
        let keys = DeviceVec::from_slice(device, keys)?;
        let values = DeviceVec::from_slice(device, values)?;
        let entry = (
            <A as MapFillEntry>::ENTRY,
            <A as MapFillEntry>::HOST,
            <A as MapFillEntry>::IMAGE,
        );
        let args = [
            keys.arg(),
            values.arg(),
            self.key_words.into_arg(),
            self.value_words.into_arg(),
            count.into_arg(),
        ];
        // SAFETY: these are the parameters of map_fill behind the heap and the map.
        unsafe { self.run(entry, count, args.into()) }
    }

    /// The words of all keys, and of their values in the same order.
    pub fn read(&self) -> Result<[Vec<u32>; 2], DeviceError> {
        let device = &self.pool.device;
        let found = self.read_into(&DeviceVec::new(device)?, &DeviceVec::new(device)?, 0)?;
        let count = self.numbered(found as usize)?;
        let keys = DeviceVec::uninit(device, (count * self.key_words) as usize)?;
        let values = DeviceVec::uninit(device, (count * self.value_words) as usize)?;
        self.read_into(&keys, &values, count)?;
        Ok([keys.to_vec()?, values.to_vec()?])
    }

    /// Makes all values zero.
    pub fn forget_values(&self) -> Result<(), DeviceError> {
        let [keys, values] = self.read()?;
        let count = keys.len() / self.key_words.max(1) as usize;
        self.fill(&keys, &vec![0; values.len()], count)
    }

    /// Writes as many pairs as there is room for; gives how many there are.
    fn read_into(
        &self,
        keys: &DeviceVec<u32>,
        values: &DeviceVec<u32>,
        room: u32,
    ) -> Result<u32, DeviceError> {
        let found = DeviceVec::<u32>::zeroed(&self.pool.device, 1)?;
        let entry = (
            <A as MapReadEntry>::ENTRY,
            <A as MapReadEntry>::HOST,
            <A as MapReadEntry>::IMAGE,
        );
        let args = [
            keys.arg_mut(),
            values.arg_mut(),
            found.arg(),
            self.key_words.into_arg(),
            self.value_words.into_arg(),
            room.into_arg(),
        ];
        // SAFETY: these are the parameters of map_read behind the heap and the map.
        unsafe { self.run(entry, self.lanes(), args.into()) }?;
        let mut count = [0];
        found.copy_to(&mut count)?;
        Ok(count[0])
    }

    /// Lanes that share what concerns the whole map.
    fn lanes(&self) -> u32 {
        match self.pool.device.info().backend {
            BackendKind::Host => 256,
            _ => 1 << 16,
        }
    }

    /// A number of elements whose words have 32-bit indices.
    fn numbered(&self, count: usize) -> Result<u32, DeviceError> {
        let room = u32::MAX / self.key_words.max(self.value_words).max(1);
        match u32::try_from(count) {
            Ok(number) if number <= room => Ok(number),
            _ => Err(DeviceError::OutOfRange {
                what: "number of pairs of a device hash map",
                got: count as u64,
                room: room as u64,
            }),
        }
    }

    /// Runs an entry with the heap, the map and `args`.
    ///
    /// # Safety
    /// The entry is one of this allocator's, and takes these.
    unsafe fn run(
        &self,
        entry: (&'static str, HostEntry, &'static str),
        lanes: u32,
        args: Vec<Arg>,
    ) -> Result<(), DeviceError> {
        let heap = Arg::Heap(self.pool.heap_arg());
        // SAFETY: this value owns it, and waits for the launch.
        let trie = unsafe { SharedArg::assume_of_raw(&self.pool, self.trie) };
        let mut all = vec![heap, trie.into_arg()];
        all.extend(args);
        let module = self.kernels.module(entry.2).clone();
        let config = LaunchConfig::for_num_elems(lanes);
        // SAFETY: the caller's promise; the entry belongs to this crate's module.
        unsafe { Prepared::new(module, entry.0, entry.1, config, all) }.run()?;
        Ok(())
    }

    fn free(&self) -> Result<(), DeviceError> {
        let entry = (
            <A as MapFreeEntry>::ENTRY,
            <A as MapFreeEntry>::HOST,
            <A as MapFreeEntry>::IMAGE,
        );
        let trie = self.trie;
        let slots = 1 << trie.root_bits();
        // Many shares, then fewer for the nodes above those, in the end no more than the root has slots.
        let mut shares = self.lanes().max(slots).min(1 << 20);
        let mut on = true;
        while on {
            on = shares > slots;
            let args = [
                self.key_words.into_arg(),
                self.value_words.into_arg(),
                shares.into_arg(),
            ];
            // SAFETY: these are the parameters of map_free behind the heap and the map.
            unsafe { self.run(entry, shares, args.into()) }?;
            shares = (shares / NODE_SLOTS).max(slots.min(shares));
        }
        let layout = Trie::root_layout(trie.root_bits());
        // SAFETY: the root came from this heap with this layout, and nothing hangs from it any more.
        unsafe { self.pool.free(trie.root().cast(), layout) }
    }
}

impl<A: MapAlloc> Drop for OwnedTrie<A> {
    fn drop(&mut self) {
        // In a heap that was made fresh since there is nothing to free.
        if self.pool.is_over() {
            return;
        }
        if let Err(error) = self.free() {
            self.pool.not_freed(&error);
        }
    }
}

impl<A: MapAlloc> fmt::Debug for OwnedTrie<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedTrie")
            .field("allocator", &self.pool.allocator)
            .field("trie", &self.trie)
            .finish()
    }
}
