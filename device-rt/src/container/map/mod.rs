//! A concurrent hash map.
//!
//! | module | what |
//! |---|---|
//! | `words` | keys and values as words |
//! | `path`, `slot` | the way of a key from the root; what a slot says |
//! | `trie` | finding a key's leaf, and hanging one in |
//! | `leaf` | how lanes change what a leaf holds |
//! | `add` | sums on keys that many lanes hit |
//! | `cursor`, `clear` | going through all keys; freeing |

mod add;
mod clear;
mod cursor;
mod leaf;
mod path;
mod slot;
mod trie;
mod words;

pub use cursor::{MapCursor, TrieCursor};
pub use leaf::Before;
pub use path::NODE_SLOTS;
pub use trie::{FRESH, MOST_ROOT_BITS, Trie};
pub use words::{Nothing, Typed, WordSource};

use super::handle::holds_shared;
use super::peek::Peek;
use crate::Heap;
use core::marker::PhantomData;
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, Layout, select};

/// A hash map in a heap that any number of lanes read and change at once: two words.
///
/// It is a trie of hashes: a root of `2^root_bits` slots, from which nodes of 16 slots hang wherever keys
/// meet, so it grows by one small block at a time, and nobody waits for that. A root of about as many
/// slots as there will be keys makes it a flat table; a small one costs a node for every few keys and a
/// trip to memory for every factor of sixteen.
///
/// It holds no heap and does not free itself. Zeroed words are no map: nothing is found in it, and insertion is
/// `Unsupported`, as in heaps of more than 32 GiB. Copies are the same map.
///
/// # What lanes may rely on
/// Each call on one key happens at one moment between its begin and its end, as if alone. What a lane wrote before
/// it brought a key is seen by lanes that find the key. Calls need no company: lanes of a warp may come one
/// by one. `insert` of keys that were never there is wait-free but for the heap; calls that change the value of a
/// key, or its being there, try again up to 2^16 times where others do the same, then they are `Contended`.
///
/// The memory of a removed key is used again if the same key comes back; otherwise
/// [`tidy_part`](Self::tidy_part) frees it.
#[derive(Debug)]
#[repr(C)]
pub struct HeapHashMap<K, V> {
    trie: Trie,
    entries: PhantomData<fn() -> (K, V)>,
}

impl<K, V> Clone for HeapHashMap<K, V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<K, V> Copy for HeapHashMap<K, V> {}

// SAFETY: as Trie, which it consists of.
unsafe impl<K: HeapData + Copy, V: HeapData + Copy> HeapData for HeapHashMap<K, V> {
    const WORDS: u32 = Trie::WORDS;
    const OF_HEAP: bool = true;
    const HOLDS_SHARED: bool = holds_shared(K::OF_HEAP | V::OF_HEAP);
    #[inline(always)]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        Self::of(Trie::get(memory, word))
    }
    #[inline(always)]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        self.trie.put(memory, word);
    }
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        // SAFETY: the caller's promise.
        Self::of(unsafe { Trie::from_args(args, at) })
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        self.trie.word_at(index)
    }
}

impl<K: HeapData + Copy, V: HeapData + Copy> Default for HeapHashMap<K, V> {
    fn default() -> Self {
        Self::none()
    }
}

impl<K: HeapData + Copy, V: HeapData + Copy> HeapHashMap<K, V> {
    #[inline(always)]
    const fn of(trie: Trie) -> Self {
        HeapHashMap {
            trie,
            entries: PhantomData,
        }
    }

    /// No map.
    #[inline(always)]
    pub const fn none() -> Self {
        Self::of(Trie::NONE)
    }

    /// An empty map whose root has `2^root_bits` slots, at most 2^28; this lane sets them to zero. Does not
    /// compile for Vulkan; there use [`init`](Self::init).
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and `Unsupported` in heaps of more than 32 GiB.
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
        self.trie.init(heap, root_bits)
    }

    /// The layout of a root.
    #[inline(always)]
    pub const fn root_layout(root_bits: u32) -> Layout {
        Trie::root_layout(root_bits)
    }

    /// The empty map with this root.
    ///
    /// # Safety
    /// `root` is a block of [`root_layout`](Self::root_layout) that is the map's own, of zero words.
    #[inline(always)]
    pub const unsafe fn with_root(root: DevicePtr<u32>, root_bits: u32) -> Self {
        // SAFETY: the caller's promise.
        Self::of(unsafe { Trie::with_root(root, root_bits) })
    }

    /// The map without its types.
    #[inline(always)]
    pub const fn trie(self) -> Trie {
        self.trie
    }

    /// Whether there is no map.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        self.trie.is_none()
    }

    /// The word in which a leaf's value begins.
    #[inline(always)]
    fn value_word(leaf: u32) -> usize {
        leaf_value(leaf, K::WORDS)
    }

    #[inline(always)]
    fn change<A: DeviceAlloc>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
        live: impl Fn(u32, u32) -> bool,
    ) -> Result<Before, AllocError> {
        let leaf = self.trie.enter(heap, Typed(key), Typed(value))?;
        if leaf & FRESH != 0 {
            return Ok(Before::Absent);
        }
        leaf::settle(heap.memory(), leaf, K::WORDS, Typed(value), |seen| {
            live(leaf, seen)
        })
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
        self.trie.bring(heap, Typed(key), Typed(value), false)
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
        self.trie.bring(heap, Typed(key), Typed(value), true)
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
        self.change(heap, key, value, |leaf, seen| {
            let (state, first) = (slot::first_word(leaf), Self::value_word(leaf));
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
        })
    }

    /// The value of a key, `otherwise` if it is not there. Waits for nobody but writers of this very value, if
    /// it has more than one word; where they never leave it alone for 2^16 looks, that is counted as `Contended` in
    /// the heap's header, and the answer is `otherwise`.
    #[inline]
    pub fn get_or<A: DeviceAlloc>(self, heap: Heap<A>, key: K, otherwise: V) -> V {
        let leaf = self.trie.find(heap.memory(), Typed(key));
        read_or(heap, leaf, K::WORDS, otherwise).0
    }

    /// The value of a key. On Vulkan an `Option` of a value with more than one word does not compile; there
    /// use [`get_or`](Self::get_or).
    #[inline]
    pub fn get<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Option<V>
    where
        V: Default,
    {
        let leaf = self.trie.find(heap.memory(), Typed(key));
        let (value, found) = read_or(heap, leaf, K::WORDS, V::default());
        if found != 0 { Some(value) } else { None }
    }

    /// Whether a key is there.
    #[inline]
    pub fn contains<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> bool {
        self.trie.contains(heap.memory(), Typed(key))
    }

    /// Removes a key; whether it was there. Its memory stays the map's.
    ///
    /// # Errors
    /// `Contended`, with values of one word only if lanes that set them come late again and again.
    #[inline]
    pub fn remove<A: DeviceAlloc>(self, heap: Heap<A>, key: K) -> Result<Before, AllocError> {
        self.trie.remove(heap.memory(), Typed(key))
    }

    /// Goes through share `index` of `count` of the keys; every lane of a launch its own. Nothing is
    /// copied: a key that is there all the time comes exactly once, one that comes or goes meanwhile at most once.
    #[inline(always)]
    pub fn cursor(self, index: u32, count: u32) -> MapCursor<K, V> {
        MapCursor::new(TrieCursor::new(self.trie, K::WORDS, index, count))
    }

    /// Frees the memory of removed keys in share `index` of `count`, and of nodes without keys. Every share
    /// by one lane, in a launch in which nobody uses the map otherwise. With more shares than the root has slots a
    /// few blocks stay until it is done with fewer.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn tidy_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.trie.tidy_part(heap, K::WORDS, V::WORDS, index, count) };
    }

    /// Takes all keys of share `index` of `count` out and frees their memory; not what values own. Rules as
    /// for [`tidy_part`](Self::tidy_part): with more shares than the root has slots, nodes at the top stay
    /// until it is done with fewer.
    ///
    /// # Safety
    /// Nobody else uses the map in this launch, shares are those of one number of shares, and the map is of this heap.
    #[inline]
    pub unsafe fn free_part<A: DeviceAlloc>(self, heap: Heap<A>, index: u32, count: u32) {
        // SAFETY: the caller's promise.
        unsafe { self.trie.free_part(heap, K::WORDS, V::WORDS, index, count) };
    }

    /// Frees the root, from which all has been taken by [`free_part`](Self::free_part) with no more shares than
    /// the root has slots. One lane, and there is no map afterwards.
    ///
    /// # Safety
    /// Nobody uses the map any more, also by a copy of this handle, and it is of this heap.
    #[inline]
    pub unsafe fn free<A: DeviceAlloc>(&mut self, heap: Heap<A>) {
        // SAFETY: the caller's promise.
        unsafe { self.trie.free(heap) };
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
pub(super) fn leaf_value(leaf: u32, key_words: u32) -> usize {
    leaf::value_word(slot::first_word(leaf), key_words)
}

/// The value of a leaf, and 1; `otherwise` and 0 if the key is not there.
#[inline(always)]
fn read_or<A: DeviceAlloc, V: HeapData>(
    heap: Heap<A>,
    leaf: u32,
    key_words: u32,
    otherwise: V,
) -> (V, u32) {
    let memory = heap.memory();
    let state = slot::first_word(leaf);
    let first = leaf::value_word(state, key_words);
    let mut value = otherwise;
    // 1: it is there; 2: it is not.
    let mut answer = select(leaf == slot::EMPTY, 2, 0);
    let mut round = 0;
    while (answer == 0) & (round < leaf::MOST_ROUNDS) {
        round += 1;
        let before = memory.load(state);
        memory.acquire();
        if before & leaf::PRESENT == 0 {
            answer = 2;
        } else if before & leaf::LOCKED == 0 {
            let found = V::get(Peek(memory), first);
            memory.acquire();
            if memory.load(state) == before {
                value = found;
                answer = 1;
            }
        }
        leaf::give_way(before);
    }
    if answer == 0 {
        let code = AllocError::Contended.code() as usize;
        // SAFETY: the header's counters are atomic.
        let header = unsafe { heap.allocator() }.header();
        header.fetch_add(warpheap_api::header::WORD_FAILURES + code, 1);
    }
    (value, select(answer == 1, 1, 0))
}
