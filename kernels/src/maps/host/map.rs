//! Hash maps in a heap that the host owns.

use super::pairs::pairs_of;
use super::table::{MapAlloc, OwnedTable};
use super::{values_of, words_of};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_rt::api::host::{DeviceError, Pool, SharedArg, assert_plain};
use warpheap_rt::device::*;

/// A [`HeapHashMap`] that the host owns: it makes one in a heap, fills it, passes it to kernels
/// ([`map`](Self::map)), reads it back and frees it when it is dropped.
///
/// What values own themselves, such as vectors, is not freed with it.
pub struct DeviceHashMap<K: HeapData + Copy, V: HeapData + Copy, A: MapAlloc> {
    table: Arc<OwnedTable<A>>,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: HeapData + Copy, V: HeapData + Copy, A: MapAlloc> DeviceHashMap<K, V, A> {
    /// An empty map in the heap of `pool`, whose root is for about `2^root_bits` keys: as many as there will be make the
    /// quickest, fewer one that takes no memory ahead.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; a heap of more than 32 GiB has no maps.
    pub fn new(pool: &Pool<A>, root_bits: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<K>() }
        const { assert_plain::<V>() }
        Ok(DeviceHashMap {
            table: Arc::new(OwnedTable::new(pool, root_bits, [K::WORDS, V::WORDS])?),
            types: PhantomData,
        })
    }

    /// An empty map for about this many keys.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_capacity(pool: &Pool<A>, keys: usize) -> Result<Self, DeviceError> {
        Self::new(pool, OwnedTable::<A>::root_bits(keys))
    }

    /// A map of these pairs, with a root that fits their number; of pairs with the same key one stays.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`fill`](Self::fill).
    pub fn from_pairs(pool: &Pool<A>, pairs: &[(K, V)]) -> Result<Self, DeviceError> {
        let map = Self::new(pool, OwnedTable::<A>::root_bits(pairs.len()))?;
        map.fill(pairs)?;
        Ok(map)
    }

    /// Inserts pairs, overwriting the values of keys that are there; of pairs with the same key one stays.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] if memory runs out: then some of them are in; errors of the device.
    pub fn fill(&self, pairs: &[(K, V)]) -> Result<(), DeviceError> {
        let keys: Vec<u32> = pairs.iter().flat_map(|pair| words_of(pair.0)).collect();
        let values: Vec<u32> = pairs.iter().flat_map(|pair| words_of(pair.1)).collect();
        self.table.fill(&keys, &values, pairs.len())
    }

    /// The values of these keys, in their order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn get_all(&self, keys: &[K]) -> Result<Vec<Option<V>>, DeviceError> {
        let words: Vec<u32> = keys.iter().flat_map(|key| words_of(*key)).collect();
        let [values, found] = self.table.get(&words, keys.len())?;
        let values = values_of(&values).zip(found);
        Ok(values
            .map(|(value, found)| (found != 0).then_some(value))
            .collect())
    }

    /// Removes keys; how many of them were there.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn remove_all(&self, keys: &[K]) -> Result<usize, DeviceError> {
        let words: Vec<u32> = keys.iter().flat_map(|key| words_of(*key)).collect();
        self.table.remove(&words, keys.len())
    }

    /// Gives the map a root for this many keys, if it has a smaller one: a map that has grown beyond its root is as quick
    /// afterwards as one that was made for so many, and what removed keys left behind is freed. Launches that were given the map
    /// before have the old one, which nobody sees any more: wait for them first.
    ///
    /// # Errors
    /// As [`Pool::malloc`]: old and new root are there at the same time. Then the map is as it was.
    pub fn reserve(&mut self, keys: usize) -> Result<(), DeviceError> {
        let root_bits = OwnedTable::<A>::root_bits(keys);
        if root_bits > self.table.table().root_bits() {
            self.table = Arc::new(self.table.resized(root_bits)?);
        }
        Ok(())
    }

    /// All pairs, in any order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_vec(&self) -> Result<Vec<(K, V)>, DeviceError> {
        let [keys, values] = self.table.read()?;
        Ok(pairs_of(&keys, &values))
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

    /// What a launch takes for a kernel's `HeapHashMap<K, V>`.
    pub fn map(&self) -> SharedArg<HeapHashMap<K, V>> {
        let table = self.table.table();
        // SAFETY: the root is this map's own, and holds keys and values of these types alone.
        let map = unsafe { HeapHashMap::with_root(table.root(), table.root_bits()) };
        // SAFETY: it is this table.
        unsafe { self.table.shared(map, &self.table) }
    }
}

impl<K: HeapData + Copy, V: HeapData + Copy, A: MapAlloc> fmt::Debug for DeviceHashMap<K, V, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceHashMap").field(&self.table).finish()
    }
}
