//! Hash sets in a heap that the host owns.

use super::table::{MapAlloc, OwnedTable};
use super::{values_of, words_of};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_rt::api::host::{DeviceError, Pool, SharedArg, assert_plain};
use warpheap_rt::device::*;

/// A [`HeapHashSet`] that the host owns, as [`DeviceHashMap`](super::DeviceHashMap) a map.
pub struct DeviceHashSet<K: HeapData + Copy, A: MapAlloc> {
    table: Arc<OwnedTable<A>>,
    types: PhantomData<fn() -> K>,
}

impl<K: HeapData + Copy, A: MapAlloc> DeviceHashSet<K, A> {
    /// An empty set; see [`DeviceHashMap::new`](super::DeviceHashMap::new).
    ///
    /// # Errors
    /// As there.
    pub fn new(pool: &Pool<A>, root_bits: u32) -> Result<Self, DeviceError> {
        const { assert_plain::<K>() }
        Ok(DeviceHashSet {
            table: Arc::new(OwnedTable::new(pool, root_bits, [K::WORDS, 0])?),
            types: PhantomData,
        })
    }

    /// A set of these keys, with a root that fits their number.
    ///
    /// # Errors
    /// As [`new`](Self::new) and [`fill`](Self::fill).
    pub fn from_keys(pool: &Pool<A>, keys: &[K]) -> Result<Self, DeviceError> {
        let set = Self::new(pool, OwnedTable::<A>::root_bits(keys.len()))?;
        set.fill(keys)?;
        Ok(set)
    }

    /// Inserts keys.
    ///
    /// # Errors
    /// [`DeviceError::Kernel`] if memory runs out: then some of them are in; errors of the device.
    pub fn fill(&self, keys: &[K]) -> Result<(), DeviceError> {
        let words: Vec<u32> = keys.iter().flat_map(|key| words_of(*key)).collect();
        self.table.fill(&words, &[], keys.len())
    }

    /// All keys, in any order.
    ///
    /// # Errors
    /// Errors of the device.
    pub fn to_vec(&self) -> Result<Vec<K>, DeviceError> {
        let [keys, _] = self.table.read()?;
        Ok(values_of(&keys).collect())
    }

    /// What a launch takes for a kernel's `HeapHashSet<K>`.
    pub fn set(&self) -> SharedArg<HeapHashSet<K>> {
        let table = self.table.table();
        // SAFETY: the root is this set's own, and holds keys of this type alone.
        let set = unsafe { HeapHashSet::with_root(table.root(), table.root_bits()) };
        // SAFETY: it is this table.
        unsafe { self.table.shared(set, &self.table) }
    }
}

impl<K: HeapData + Copy, A: MapAlloc> fmt::Debug for DeviceHashSet<K, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DeviceHashSet").field(&self.table).finish()
    }
}
