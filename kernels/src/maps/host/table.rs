//! Hash tables in a heap that the host owns, whatever their keys and values are.

use super::super::{
    MapFillEntry, MapFreeEntry, MapGetEntry, MapMoveEntry, MapReadEntry, MapRemoveEntry,
};
use crate::Kernels;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use warpheap_rt::api::host::{
    Arg, BackendKind, DeviceError, DeviceVec, HostAlloc, HostEntry, IntoArg, LaunchConfig, Pool,
    Prepared, RawPool, SharedArg,
};
use warpheap_rt::container::map::{NODE_SLOTS, Table};
use warpheap_rt::device::*;

/// Heaps that the library has kernels of maps for.
pub trait MapAlloc:
    HostAlloc + MapFillEntry + MapFreeEntry + MapGetEntry + MapMoveEntry + MapReadEntry + MapRemoveEntry
{
}

impl<A> MapAlloc for A where
    A: HostAlloc
        + MapFillEntry
        + MapFreeEntry
        + MapGetEntry
        + MapMoveEntry
        + MapReadEntry
        + MapRemoveEntry
{
}

/// What a launch needs to know of a kernel.
type Entry = (&'static str, HostEntry, &'static str);

/// The kernel of a trait that `#[kernel]` made.
macro_rules! entry {
    ($entry:ident) => {
        (
            <A as $entry>::ENTRY,
            <A as $entry>::HOST,
            <A as $entry>::IMAGE,
        )
    };
}

/// A table that is freed when it is dropped.
pub(super) struct OwnedTable<A: MapAlloc> {
    kernels: Kernels,
    pool: RawPool,
    table: Table,
    key_words: u32,
    value_words: u32,
    allocator: PhantomData<fn() -> A>,
}

impl<A: MapAlloc> OwnedTable<A> {
    /// An empty table for about `2^root_bits` keys; keys and values have so many words.
    pub fn new(
        pool: &Pool<A>,
        root_bits: u32,
        [key_words, value_words]: [u32; 2],
    ) -> Result<Self, DeviceError> {
        Self::in_raw(pool.raw(), root_bits, [key_words, value_words])
    }

    fn in_raw(
        pool: &RawPool,
        root_bits: u32,
        [key_words, value_words]: [u32; 2],
    ) -> Result<Self, DeviceError> {
        let kernels = crate::calls::kernels_of(&pool.device)?;
        let layout = Table::root_layout(root_bits, key_words, value_words);
        if pool.words() > (32 << 30) / 4 {
            return Err(pool.refused(layout, AllocError::Unsupported));
        }
        let root = pool.malloc(layout)?.cast::<u32>();
        let this = OwnedTable {
            kernels,
            pool: pool.clone(),
            // SAFETY: the root is a block of this layout, and is zeroed before anybody uses the table.
            table: unsafe { Table::with_root(root, root_bits) },
            key_words,
            value_words,
            allocator: PhantomData,
        };
        let words = layout.size() as u64 / 4;
        // SAFETY: nobody else has this memory.
        unsafe { this.pool.buffer.fill(this.pool.offset_of(root), words, 0) }?;
        Ok(this)
    }

    /// The size of a root that fits so many keys.
    pub fn root_bits(keys: usize) -> u32 {
        keys.saturating_add(keys / 3).max(2).ilog2().min(26)
    }

    /// The table without its owner.
    pub fn table(&self) -> Table {
        self.table
    }

    /// What is made of the table as an argument, which keeps `owner`.
    ///
    /// # Safety
    /// It is this table with the types of its keys and values, and `owner` has this value.
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
        self.wait_for_streams()?;
        let device = &self.pool.device;
        let keys = DeviceVec::from_slice(device, keys)?;
        let values = DeviceVec::from_slice(device, values)?;
        let entry = entry!(MapFillEntry);
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
        self.wait_for_streams()?;
        let device = &self.pool.device;
        let found = self.read_into(&DeviceVec::new(device)?, &DeviceVec::new(device)?, 0)?;
        let count = self.numbered(found as usize)?;
        let keys = DeviceVec::uninit(device, (count * self.key_words) as usize)?;
        let values = DeviceVec::uninit(device, (count * self.value_words) as usize)?;
        self.read_into(&keys, &values, count)?;
        Ok([keys.to_vec()?, values.to_vec()?])
    }

    /// The words of the values of `count` keys, and for each key whether it is there.
    pub fn get(&self, keys: &[u32], count: usize) -> Result<[Vec<u32>; 2], DeviceError> {
        let count = self.numbered(count)?;
        if count == 0 {
            return Ok([Vec::new(), Vec::new()]);
        }
        self.wait_for_streams()?;
        let device = &self.pool.device;
        let keys = DeviceVec::from_slice(device, keys)?;
        let values = DeviceVec::<u32>::zeroed(device, (count * self.value_words) as usize)?;
        let found = DeviceVec::<u32>::zeroed(device, count as usize)?;
        let args = [
            keys.arg(),
            values.arg_mut(),
            found.arg_mut(),
            self.key_words.into_arg(),
            self.value_words.into_arg(),
            count.into_arg(),
        ];
        // SAFETY: these are the parameters of map_get behind the heap and the map.
        unsafe { self.run(entry!(MapGetEntry), count, args.into()) }?;
        Ok([values.to_vec()?, found.to_vec()?])
    }

    /// Removes `count` keys; how many of them were there.
    pub fn remove(&self, keys: &[u32], count: usize) -> Result<usize, DeviceError> {
        let count = self.numbered(count)?;
        if count == 0 {
            return Ok(0);
        }
        self.wait_for_streams()?;
        let device = &self.pool.device;
        let keys = DeviceVec::from_slice(device, keys)?;
        let removed = DeviceVec::<u32>::zeroed(device, 1)?;
        let args = [
            keys.arg(),
            removed.arg(),
            self.key_words.into_arg(),
            self.value_words.into_arg(),
            count.into_arg(),
        ];
        // SAFETY: these are the parameters of map_remove behind the heap and the map.
        unsafe { self.run(entry!(MapRemoveEntry), count, args.into()) }?;
        Ok(removed.to_vec()?.iter().sum::<u32>() as usize)
    }

    /// A table for about `2^root_bits` keys with all that is in this one.
    pub fn resized(&self, root_bits: u32) -> Result<Self, DeviceError> {
        self.wait_for_streams()?;
        let new = Self::in_raw(&self.pool, root_bits, [self.key_words, self.value_words])?;
        // SAFETY: both are owned, and this call waits for the launch.
        let to = unsafe { SharedArg::assume_of_raw(&self.pool, new.table) };
        let args = [
            to.into_arg(),
            self.key_words.into_arg(),
            self.value_words.into_arg(),
        ];
        // SAFETY: these are the parameters of map_move behind the heap and the map.
        unsafe { self.run(entry!(MapMoveEntry), self.lanes(), args.into()) }?;
        Ok(new)
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
        let entry = entry!(MapReadEntry);
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

    /// Waits for what streams do in this heap, which may be to this table: two launches that share a heap do not wait for each
    /// other, but who reads its memory waits for them.
    fn wait_for_streams(&self) -> Result<(), DeviceError> {
        let root = self.pool.offset_of(self.table.root());
        self.pool.read(root, &mut [0; 4])
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
    unsafe fn run(&self, entry: Entry, lanes: u32, args: Vec<Arg>) -> Result<(), DeviceError> {
        let heap = Arg::Heap(self.pool.heap_arg());
        // SAFETY: this value owns it, and waits for the launch.
        let table = unsafe { SharedArg::assume_of_raw(&self.pool, self.table) };
        let mut all = vec![heap, table.into_arg()];
        all.extend(args);
        let module = self.kernels.module(entry.2).clone();
        let config = LaunchConfig::for_num_elems(lanes);
        // SAFETY: the caller's promise; the entry belongs to this crate's module.
        unsafe { Prepared::new(module, entry.0, entry.1, config, all) }.run()?;
        Ok(())
    }

    fn free(&self) -> Result<(), DeviceError> {
        let entry = entry!(MapFreeEntry);
        let table = self.table;
        let slots = table.most_shares(self.value_words);
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
        let layout = Table::root_layout(table.root_bits(), self.key_words, self.value_words);
        // SAFETY: the root came from this heap with this layout, and nothing hangs from it any more.
        unsafe { self.pool.free(table.root().cast(), layout) }
    }
}

impl<A: MapAlloc> Drop for OwnedTable<A> {
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

impl<A: MapAlloc> fmt::Debug for OwnedTable<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedTable")
            .field("allocator", &self.pool.allocator)
            .field("table", &self.table)
            .finish()
    }
}
