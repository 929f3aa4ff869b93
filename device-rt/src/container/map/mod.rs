//! A concurrent hash map.
//!
//! | module | what |
//! |---|---|
//! | `words` | keys and values as words |
//! | `shape` | what a root holds, by its size |
//! | `table` | a root: slots, and a trie for what has no room in them |
//! | `flat`, `tag`, `seek` | the slots, what they say, and finding a key's |
//! | `branch`, `filter` | more slots below those that are full; which keys are not above |
//! | `level`, `grow` | groups of slots, one below the other; hanging a branch in |
//! | `trie`, `path`, `slot` | finding a key's leaf and hanging one in; its way; what a slot of a node says |
//! | `leaf` | how lanes change what a leaf holds |
//! | `read` | reading values while others change them |
//! | `add` | sums on keys that many lanes hit |
//! | `walk`, `cursor` | going through all keys; through leaves |
//! | `clear` | taking a map apart; freeing leaves and nodes |
//! | `tidy` | giving the slots of removed keys back |

mod add;
mod branch;
mod clear;
mod cursor;
mod filter;
mod flat;
mod grow;
mod leaf;
mod level;
mod path;
mod read;
mod seek;
mod shape;
mod slot;
mod table;
mod tag;
mod tidy;
mod trie;
mod walk;
mod words;

pub use leaf::Before;
pub use path::NODE_SLOTS;
pub use table::Table;
pub use walk::{MapCursor, TableCursor};
pub use words::{Nothing, Stored, Typed, WordSource};

use super::handle::holds_shared;
use super::peek::Peek;
use crate::Heap;
use core::marker::PhantomData;
use flat::Flat;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout};

/// A hash map in a heap that any number of lanes read and change at once: two words.
///
/// Its root of size `root_bits` is for about `2^root_bits` keys. Most keys lie in the root, in slots of which there are twice
/// as many: tag, key and value side by side (a key of one word is its tag). Where all 32 places of a key are taken, a block
/// of 128 more slots ([`growth_layout`](Self::growth_layout)) hangs below them, and so on. So a map takes more keys than its root is for, at the
/// price of a malloc for about a hundred keys, and for each search of a trip to memory for every factor of four. Roots for less than 2^7
/// keys, and those of values of several words, are a trie of hashes instead: a leaf for each key, and nodes of 16 slots wherever
/// keys meet. So is what hangs where all bits of the hash are used up.
///
/// It holds no heap and does not free itself. Zeroed words are no map: nothing is found in it, and insertion is
/// `Unsupported`, as in heaps of more than 2^31 granules, 32 GiB with granules of 16 bytes. Copies are the same map.
///
/// # What lanes may rely on
/// Each call on one key happens at one moment between its begin and its end, as if alone. What a lane wrote before
/// it brought a key is seen by lanes that find the key. Calls need no company: lanes of a warp may come one
/// by one. No call waits for a lane that stands still: where one does in the middle of an insertion into a slot, others take the
/// slot away from it after a few looks. Calls that change the value of a
/// key, or its being there, try again up to 2^16 times where others do the same, then they are `Contended`.
///
/// The memory of a removed key is used again if the same key comes back; for other keys
/// [`tidy_part`](Self::tidy_part) gives it back.
#[derive(Debug)]
#[repr(C)]
pub struct HeapHashMap<K, V> {
    table: Table,
    entries: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Clone for HeapHashMap<K, V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for HeapHashMap<K, V> {}

// SAFETY: as Table, which it consists of.
unsafe impl<K: HeapData + Copy, V: HeapData + Copy> HeapData for HeapHashMap<K, V> {
    const WORDS: u32 = Table::WORDS;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = holds_shared(K::OF_HEAP | V::OF_HEAP);
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

impl<K: HeapData + Copy, V: HeapData + Copy> Default for HeapHashMap<K, V> {
    fn default() -> Self {
        Self::none()
    }
}

impl<K: HeapData + Copy, V: HeapData + Copy> HeapHashMap<K, V> {
    #[inline(always)]
    const fn of(table: Table) -> Self {
        HeapHashMap {
            table,
            entries: PhantomData,
        }
    }

    /// No map.
    #[inline(always)]
    pub const fn none() -> Self {
        Self::of(Table::NONE)
    }

    /// An empty map whose root is for about `2^root_bits` keys; this lane sets it to zero. Does not
    /// compile for Vulkan; there use [`init`](Self::init).
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and `Unsupported` in heaps of more than 2^31 granules.
    #[inline]
    pub fn new_in<A: DeviceAlloc>(heap: Heap<A>, root_bits: u32) -> Result<Self, AllocError> {
        let mut map = Self::none();
        map.init(heap, root_bits)?;
        Ok(map)
    }

    /// Makes this an empty map, as [`new_in`](Self::new_in). What it was before is left to itself.
    ///
    /// # Errors
    /// As there; then it is as it was.
    #[inline]
    pub fn init<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        root_bits: u32,
    ) -> Result<(), AllocError> {
        self.table.init(heap, root_bits, K::WORDS, V::WORDS)
    }

    /// The layout of a root for about `2^root_bits` keys; one that no heap serves if that is too many.
    #[inline(always)]
    pub const fn root_layout(root_bits: u32) -> Layout {
        Table::root_layout(root_bits, K::WORDS, V::WORDS)
    }

    /// The layout of the blocks by which a map grows, for sizing pools: the largest that it takes beside its root. A block for
    /// about a hundred keys; with values of several words, and in roots for less than 2^7 keys, a key takes a leaf and a
    /// part of a node.
    #[inline(always)]
    pub const fn growth_layout() -> Layout {
        Table::growth_layout(K::WORDS, V::WORDS)
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

    /// The map without its types.
    #[inline(always)]
    pub const fn table(self) -> Table {
        self.table
    }

    /// Whether there is no map.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.table.is_none()
    }

    /// The word in which a leaf's value begins.
    #[inline(always)]
    fn value_word<M: HeapMemory>(memory: M, leaf: u32) -> usize {
        leaf_value(memory, leaf, K::WORDS)
    }

    /// Inserts a key that is not there; a value that is there stays.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], `Unsupported`, `Contended`; then the map is as it was.
    #[inline]
    pub fn insert<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
    ) -> Result<Before, AllocError> {
        self.table.bring(heap, Typed(key), Typed(value), false)
    }

    /// Inserts a key, or overwrites its value.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn set<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
    ) -> Result<Before, AllocError> {
        self.table.bring(heap, Typed(key), Typed(value), true)
    }

    /// Inserts a key, or replaces its value by `combine(old, value)`.
    ///
    /// `combine` may be called more often than its answer is used, and lanes come in any order: it should be
    /// associative and commutative. For sums of words on keys that many lanes hit, [`add`](HeapHashMap::add) is
    /// far faster.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    #[inline]
    pub fn upsert<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
        combine: impl Fn(V, V) -> V,
    ) -> Result<Before, AllocError> {
        let memory = heap.memory();
        let in_slot = |flat: Flat, slot: usize| {
            let mut done = true;
            if V::WORDS > 0 {
                let word = flat.value_word(slot);
                let old = V::get(Peek(memory), word);
                memory.acquire();
                let (old, new) = (old.word_at(0), combine(old, value).word_at(0));
                memory.release();
                done = memory.compare_exchange(word, old, new) == old;
                flat::changed(memory);
            }
            done
        };
        let in_leaf = |leaf: u32, seen: u32| {
            let (state, first) = (
                slot::first_word(memory, leaf),
                Self::value_word(memory, leaf),
            );
            if seen & leaf::LOCKED != 0 {
                return false;
            }
            let old = V::get(Peek(memory), first);
            memory.acquire();
            let new = combine(old, value);
            if V::WORDS > 1 {
                return leaf::revive(memory, state, seen, first, Typed(new));
            }
            if V::WORDS == 0 {
                return true;
            }
            memory.release();
            let current = old.word_at(0);
            let done = memory.compare_exchange(first, current, new.word_at(0)) == current;
            if done {
                leaf::changed(memory, state);
            }
            done
        };
        self.table
            .change(heap, Typed(key), Typed(value), in_slot, in_leaf)
    }

    /// The value of a key, `otherwise` if it is not there. Waits for nobody but writers of this very value, if
    /// it has more than one word; where they never leave it alone for 2^16 looks, that is counted as `Contended` in
    /// the heap's header, and the answer is `otherwise`. A lane that brings the key back after a removal has the time of 64 looks
    /// to be done.
    #[inline]
    pub fn get_or<A: DeviceAlloc>(self, heap: Heap<A>, key: K, otherwise: V) -> V {
        read::value_or(heap, self.table, Typed(key), otherwise).0
    }

    /// The value of a key. On Vulkan an `Option` of a value with more than one word does not compile; there
    /// use [`get_or`](Self::get_or).
    #[inline]
    pub fn get<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Option<V>
    where
        V: Default,
    {
        let (value, found) = read::value_or(heap, self.table, Typed(key), V::default());
        if found != 0 { Some(value) } else { None }
    }

    /// Whether a key is there.
    #[inline]
    pub fn contains<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> bool {
        self.table.contains(heap.memory(), Typed(key), V::WORDS)
    }

    /// Removes a key; whether it was there. Its memory stays the map's.
    ///
    /// # Errors
    /// `Contended`, with values of one word only if lanes that set them come late again and again.
    #[inline]
    pub fn remove<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Result<Before, AllocError> {
        self.table.remove(heap.memory(), Typed(key), V::WORDS)
    }

    /// Goes through share `index` of `count` of the keys; every lane of a launch its own. Nothing is
    /// copied: a key that is there all the time comes exactly once, one that comes or goes meanwhile at most once.
    #[inline(always)]
    pub fn cursor<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) -> MapCursor<K, V> {
        MapCursor::new(TableCursor::new(
            heap.memory(),
            self.table,
            K::WORDS,
            V::WORDS,
            index,
            count,
        ))
    }

    /// Gives the memory of removed keys in share `index` of `count` back: slots to other keys, leaves and nodes without keys to
    /// the heap. Every share by one lane, in a launch in which nobody uses the map otherwise. With slots there is work for
    /// [`Table::most_shares`]; without, a few blocks stay with more shares than that until it is done with fewer.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn tidy_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.table.tidy_part(heap, K::WORDS, V::WORDS, index, count) };
    }

    /// Takes all keys of share `index` of `count` out and frees their memory; not what values own. Rules as
    /// for [`tidy_part`](Self::tidy_part): with more shares than [`Table::most_shares`], nodes at the top stay
    /// until it is done with fewer.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.table.free_part(heap, K::WORDS, V::WORDS, index, count) };
    }

    /// Frees the root, from which all has been taken by [`free_part`](Self::free_part) with no more shares than
    /// [`Table::most_shares`]. One lane, and there is no map afterwards.
    ///
    /// # Safety
    /// Nobody uses the map any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe { self.table.free(heap, K::WORDS, V::WORDS) };
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

/// The word in which the value of a leaf begins.
#[inline(always)]
pub(super) fn leaf_value<M: HeapMemory>(memory: M, leaf: u32, key_words: u32) -> usize {
    leaf::value_word(slot::first_word(memory, leaf), key_words)
}
