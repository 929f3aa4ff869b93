//! Hash maps in a heap that the host owns.

use super::{MapFillEntry, MapFreeEntry, MapReadEntry};
use crate::Kernels;
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use warpheap_rt::api::host::{
    Arg, BackendKind, DeviceError, DeviceVec, HeapArg, HostAlloc, HostEntry, IntoArg, LaunchConfig,
    Pool, Prepared, RawPool,
};
use warpheap_rt::container::map::Trie;
use warpheap_rt::device::*;

/// Heaps that the library has kernels of maps for.
pub trait MapAlloc: HostAlloc + MapFillEntry + MapReadEntry + MapFreeEntry {}

impl<A: HostAlloc + MapFillEntry + MapReadEntry + MapFreeEntry> MapAlloc for A {}

/// A [`HeapHashMap`] that the host owns: it makes one in a heap, fills it, passes it to kernels
/// ([`map`](Self::map)), reads it back and frees it when it is dropped.
///
/// What values own themselves, such as vectors, is not freed with it.
pub struct DeviceHashMap<K: HeapData, V: HeapData, A: MapAlloc> {
    kernels: Kernels,
    pool: RawPool,
    map: HeapHashMap<K, V>,
    allocator: PhantomData<fn() -> A>,
}

impl<K: HeapData, V: HeapData, A: MapAlloc> DeviceHashMap<K, V, A> {
    /// An empty map in the heap of `pool`, whose root has `2^root_bits` slots: about as many as there will be keys
    /// make a flat table, fewer make one that is deeper and takes no memory ahead.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; a heap of more than 32 GiB has no maps.
    pub fn new(pool: &Pool<A>, root_bits: u32) -> Result<Self, DeviceError> {
        let kernels = crate::calls::kernels_of(&pool.raw().device)?;
        let layout = Trie::root_layout(root_bits);
        if pool.bytes() > 32 << 30 {
            return Err(pool.raw().refused(layout, AllocError::Unsupported));
        }
        let root = pool.malloc(layout)?.cast::<u32>();
        let map = DeviceHashMap {
            kernels,
            pool: pool.raw().clone(),
            // SAFETY: the root is a block of this layout, and is zeroed before anybody uses the map.
            map: unsafe { HeapHashMap::with_root(root, root_bits) },
            allocator: PhantomData,
        };
        let words = layout.size() as u64 / 4;
        map.pool.buffer.fill(root.byte_offset(), words, 0)?;
        Ok(map)
    }

    /// A map of these pairs, with a root that fits their number; of pairs with the same key one stays.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`fill`](Self::fill).
    pub fn from_pairs(pool: &Pool<A>, pairs: &[(K, V)]) -> Result<Self, DeviceError> {
        let map = Self::new(pool, pairs.len().max(2).ilog2().min(24))?;
        map.fill(pairs)?;
        Ok(map)
    }

    /// Inserts pairs, overwriting the values of keys that are there; of pairs with the same key one stays.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] if memory runs out: then some of them are in; errors of the device.
    pub fn fill(&self, pairs: &[(K, V)]) -> Result<(), DeviceError> {
        let count = self.numbered(pairs.len(), K::WORDS.max(V::WORDS))?;
        if count == 0 {
            return Ok(());
        }
        let device = &self.pool.device;
        let keys: Vec<u32> = pairs.iter().flat_map(|pair| words_of(pair.0)).collect();
        let values: Vec<u32> = pairs.iter().flat_map(|pair| words_of(pair.1)).collect();
        let keys = DeviceVec::from_slice(device, &keys)?;
        let values = DeviceVec::from_slice(device, &values)?;
        let entry = (
            <A as MapFillEntry>::ENTRY,
            <A as MapFillEntry>::HOST,
            <A as MapFillEntry>::IMAGE,
        );
        let args = [
            keys.arg(),
            values.arg(),
            K::WORDS.into_arg(),
            V::WORDS.into_arg(),
            count.into_arg(),
        ];
        // SAFETY: these are the parameters of map_fill behind the heap and the map.
        unsafe { self.run(entry, count, args.into()) }
    }

    /// All pairs, in any order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_vec(&self) -> Result<Vec<(K, V)>, DeviceError> {
        let device = &self.pool.device;
        let found = self.read(&DeviceVec::new(device)?, &DeviceVec::new(device)?, 0)?;
        let count = self.numbered(found as usize, K::WORDS.max(V::WORDS))?;
        let keys = DeviceVec::uninit(device, (count * K::WORDS) as usize)?;
        let values = DeviceVec::uninit(device, (count * V::WORDS) as usize)?;
        self.read(&keys, &values, count)?;
        let (keys, values) = (keys.to_vec()?, values.to_vec()?);
        let pair = |i: u32| {
            let key = value_of::<K>(&keys[(i * K::WORDS) as usize..]);
            (key, value_of::<V>(&values[(i * V::WORDS) as usize..]))
        };
        Ok((0..count).map(pair).collect())
    }

    /// All pairs as a map of `std`.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_map(&self) -> Result<HashMap<K, V>, DeviceError>
    where
        K: Eq + Hash,
    {
        Ok(self.to_vec()?.into_iter().collect())
    }

    /// The map as kernels use it: a scalar argument. It is valid for as long as this owner is.
    pub fn map(&self) -> HeapHashMap<K, V> {
        self.map
    }

    /// Writes as many pairs as there is room for; gives how many there are.
    fn read(
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
            keys.arg(),
            values.arg(),
            found.arg(),
            K::WORDS.into_arg(),
            V::WORDS.into_arg(),
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
    fn numbered(&self, count: usize, words: u32) -> Result<u32, DeviceError> {
        let room = u32::MAX / words.max(1);
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
        let heap = Arg::Heap(HeapArg {
            buffer: self.pool.buffer.clone(),
            words: self.pool.words,
            params: self.pool.params,
        });
        let mut all = vec![heap, self.map.trie().into_arg()];
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
        let trie = self.map.trie();
        let slots = 1 << trie.root_bits();
        // Many shares, then fewer for the nodes above those, in the end no more than the root has slots.
        let mut shares = self.lanes().max(slots).min(1 << 20);
        let mut on = true;
        while on {
            on = shares > slots;
            let args = [K::WORDS.into_arg(), V::WORDS.into_arg(), shares.into_arg()];
            // SAFETY: these are the parameters of map_free behind the heap and the map.
            unsafe { self.run(entry, shares, args.into()) }?;
            shares = (shares / 8).max(slots.min(shares));
        }
        let layout = Trie::root_layout(trie.root_bits());
        // SAFETY: the root came from this heap with this layout, and nothing hangs from it any more.
        unsafe { self.pool.free(trie.root().cast(), layout) }
    }
}

/// The words of a value.
fn words_of<T: HeapData>(value: T) -> impl Iterator<Item = u32> {
    (0..T::WORDS).map(move |i| value.word_at(i))
}

/// The value that begins `words`.
fn value_of<T: HeapData>(words: &[u32]) -> T {
    const { assert!(size_of::<T>() == T::WORDS as usize * 4) }
    assert!(words.len() >= T::WORDS as usize);
    // SAFETY: HeapData is valid for every bit pattern, and there are enough words.
    unsafe { words.as_ptr().cast::<T>().read_unaligned() }
}

impl<K: HeapData, V: HeapData, A: MapAlloc> Drop for DeviceHashMap<K, V, A> {
    fn drop(&mut self) {
        if let Err(error) = self.free() {
            tracing::warn!(%error, "a device hash map could not be freed in its heap");
        }
    }
}

impl<K: HeapData, V: HeapData, A: MapAlloc> fmt::Debug for DeviceHashMap<K, V, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DeviceHashMap")
            .field("allocator", &self.pool.allocator)
            .field("map", &self.map.trie())
            .finish()
    }
}
