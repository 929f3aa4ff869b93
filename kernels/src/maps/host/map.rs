//! Hash maps in a heap that the host owns.

use super::trie::{MapAlloc, OwnedTrie};
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
    trie: Arc<OwnedTrie<A>>,
    types: PhantomData<fn() -> (K, V)>,
}

impl<K: HeapData + Copy, V: HeapData + Copy, A: MapAlloc> DeviceHashMap<K, V, A> {
    /// An empty map in the heap of `pool`, whose root has `2^root_bits` slots: about as many as there will be keys
    /// make a flat table, fewer make one that is deeper and takes no memory ahead.
    ///
    /// # Errors
    /// As [`Pool::malloc`]; a heap of more than 32 GiB has no maps.
    pub fn new(pool: &Pool<A>, root_bits: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<K>() }
        const { assert_plain::<V>() }
        Ok(DeviceHashMap {
            trie: Arc::new(OwnedTrie::new(pool, root_bits, [K::WORDS, V::WORDS])?),
            types: PhantomData,
        })
    }

    /// A map of these pairs, with a root that fits their number; of pairs with the same key one stays.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`fill`](Self::fill).
    pub fn from_pairs(pool: &Pool<A>, pairs: &[(K, V)]) -> Result<Self, DeviceError> {
        let map = Self::new(pool, OwnedTrie::<A>::root_bits(pairs.len()))?;
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
        self.trie.fill(&keys, &values, pairs.len())
    }

    /// All pairs, in any order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_vec(&self) -> Result<Vec<(K, V)>, DeviceError> {
        let [keys, values] = self.trie.read()?;
        Ok(values_of(&keys).zip(values_of(&values)).collect())
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
        let trie = self.trie.trie();
        // SAFETY: the root is this map's own, and holds keys and values of these types alone.
        let map = unsafe { HeapHashMap::with_root(trie.root(), trie.root_bits()) };
        // SAFETY: it is this trie.
        unsafe { self.trie.shared(map, &self.trie) }
    }
}

impl<K: HeapData + Copy, V: HeapData + Copy, A: MapAlloc> fmt::Debug for DeviceHashMap<K, V, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceHashMap").field(&self.trie).finish()
    }
}
