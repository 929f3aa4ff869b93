//! Maps from keys to lists of values, in a heap, that the host owns.

use super::table::{MapAlloc, OwnedTable};
use super::{values_of, words_of};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_rt::api::host::{DeviceError, Pool, SharedArg, assert_plain};
use warpheap_rt::device::*;
use warpheap_rt::host::container::{free_lists, make_lists, read_lists};

/// A [`HeapMultiMap`] that the host owns: it makes one in a heap, with lists or without, passes it to kernels, reads it
/// back, and frees it with its lists when it is dropped. What values own themselves is not freed with it.
///
/// Lists are made, read and freed one by one, each with requests to the device: kernels do it faster.
pub struct DeviceMultiMap<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> {
    owned: Arc<Owned<K, T, A>>,
}

/// What is freed when the last launch with the map has ended.
struct Owned<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> {
    table: OwnedTable<A>,
    types: PhantomData<fn() -> (K, T)>,
}

impl<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> DeviceMultiMap<K, T, A> {
    /// An empty map; see [`DeviceHashMap::new`](super::DeviceHashMap::new).
    ///
    /// # Errors
    /// As there.
    pub fn new(pool: &Pool<A>, root_bits: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<K>() }
        const { assert_plain::<T>() }
        let owned = Owned {
            table: OwnedTable::new(pool, root_bits, [K::WORDS, HeapList::<T>::WORDS])?,
            types: PhantomData,
        };
        Ok(DeviceMultiMap {
            owned: Arc::new(owned),
        })
    }

    /// A map of these keys, each of which is named once, with their values; keys without values are not there.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`Pool::malloc`]; errors of the device.
    pub fn from_groups(pool: &Pool<A>, groups: &[(K, Vec<T>)]) -> Result<Self, DeviceError> {
        let map = Self::new(pool, OwnedTable::<A>::root_bits(groups.len()))?;
        let groups = groups.iter().filter(|(_, values)| !values.is_empty());
        let (keys, values): (Vec<K>, Vec<&[T]>) = groups
            .map(|(key, values)| (*key, values.as_slice()))
            .unzip();
        let lists = make_lists(pool.raw(), &values)?;
        let key_words: Vec<u32> = keys.iter().flat_map(|key| words_of(*key)).collect();
        if let Err(error) = map.owned.table.fill(&key_words, &lists, keys.len()) {
            // Lists that are in the map already go too, so nobody may look at them.
            map.owned.table.forget_values()?;
            // SAFETY: they were made here, and the map does not name them any more.
            unsafe { free_lists::<T>(pool.raw(), &lists) }?;
            return Err(error);
        }
        Ok(map)
    }

    /// All keys with their values, in any order.
    ///
    /// # Errors
    /// Errors of the device; [`DeviceError::BadHeap`] if a list was written over.
    pub fn to_vec(&self) -> Result<Vec<(K, Vec<T>)>, DeviceError> {
        let table = &self.owned.table;
        let [keys, lists] = table.read()?;
        let pairs = values_of(&keys).zip(read_lists(table.pool(), &lists)?);
        Ok(pairs.filter(|(_, values)| !values.is_empty()).collect())
    }

    /// What a launch takes for a kernel's `HeapMultiMap<K, T>`.
    pub fn map(&self) -> SharedArg<HeapMultiMap<K, T>> {
        let table = self.owned.table.table();
        // SAFETY: the root is this map's own, and holds keys and lists of these types alone.
        let map = unsafe { HeapMultiMap::with_root(table.root(), table.root_bits()) };
        // SAFETY: it is this table.
        unsafe { self.owned.table.shared(map, &self.owned) }
    }
}

impl<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> Owned<K, T, A> {
    fn free_values(&self) -> Result<(), DeviceError> {
        let [_, lists] = self.table.read()?;
        // SAFETY: the map owns its lists, and nobody uses it any more.
        unsafe { free_lists::<T>(self.table.pool(), &lists) }
    }
}

impl<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> Drop for Owned<K, T, A> {
    fn drop(&mut self) {
        let pool = self.table.pool();
        // In a heap that was made fresh since there is nothing to free.
        if pool.is_over() {
            return;
        }
        if let Err(error) = self.free_values() {
            pool.not_freed(&error);
        }
    }
}

impl<K: HeapData + Copy, T: HeapData + Copy, A: MapAlloc> fmt::Debug for DeviceMultiMap<K, T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceMultiMap")
            .field(&self.owned.table)
            .finish()
    }
}
