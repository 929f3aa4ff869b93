//! A map without the types of its keys and values: slots, and a trie for what has no room in them.

use super::flat::{self, Entered, Flat};
use super::leaf::{self, Before, MOST_ROUNDS};
use super::read;
use super::shape::{has_slots, slots_words, trie_bits};
use super::slot::first_word;
use super::tag::EMPTY;
use super::trie::{FRESH, Trie, too_large};
use super::words::WordSource;
use crate::{Heap, arch};
use warpheap_api::abi::ArgBlock;
use warpheap_api::{AllocError, DeviceAlloc, DevicePtr, HeapData, HeapMemory, select};

/// The root of a map and its size. Plain words; zeroed ones are no map.
///
/// A root of `2^root_bits` is for about as many keys. If values have one word or none, and `root_bits` is 7 or more, it begins with
/// twice as many slots. Behind them are a link for each group of slots, and the root of a trie.
///
/// Widths of keys and values come with each call and must always be the same for a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Table {
    root: DevicePtr<u32>,
    root_bits: u32,
}

// SAFETY: two words, repr(C), no padding, every bit pattern allowed.
unsafe impl HeapData for Table {
    const WORDS: u32 = 2;
    const OF_HEAP: bool = true;
    #[inline(always)]
    fn get<M: HeapMemory>(memory: M, word: usize) -> Self {
        Table {
            root: DevicePtr::get(memory, word),
            root_bits: memory.read(word + 1),
        }
    }
    #[inline(always)]
    fn put<M: HeapMemory>(self, memory: M, word: usize) {
        self.root.put(memory, word);
        memory.write(word + 1, self.root_bits);
    }
    #[inline(always)]
    unsafe fn from_args(args: &ArgBlock, at: usize) -> Self {
        Table {
            // SAFETY: the caller's promise.
            root: unsafe { DevicePtr::from_args(args, at) },
            root_bits: args.words[at + 1],
        }
    }
    #[inline(always)]
    fn word_at(self, index: u32) -> u32 {
        HeapData::word_at(self.root, index) | select(index == 1, self.root_bits, 0)
    }
}

impl Table {
    /// No map: it finds nothing and takes nothing.
    pub const NONE: Table = Table {
        root: DevicePtr::from_granule(0),
        root_bits: 0,
    };

    /// The map with this root.
    ///
    /// # Safety
    /// `root` is a block of [`root_layout`](Self::root_layout) that is the map's own, of zero words.
    #[inline(always)]
    pub const unsafe fn with_root(root: DevicePtr<u32>, root_bits: u32) -> Self {
        Table { root, root_bits }
    }

    /// Makes a map with an empty root; leaves what was there before to itself.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], and `Unsupported` in heaps of more than 2^31 granules; then nothing changed.
    #[inline]
    pub fn init<A: DeviceAlloc>(
        &mut self,
        heap: Heap<A>,
        root_bits: u32,
        key_words: u32,
        value_words: u32,
    ) -> Result<(), AllocError> {
        if too_large(heap) {
            return Err(AllocError::Unsupported);
        }
        let layout = Self::root_layout(root_bits, key_words, value_words);
        self.root = heap.calloc(layout)?.cast();
        self.root_bits = root_bits;
        Ok(())
    }

    /// Whether there is no map.
    #[inline(always)]
    pub const fn is_none(self) -> bool {
        // Every heap begins with its header.
        self.root.granule() == 0
    }

    /// The root.
    #[inline(always)]
    pub fn root(self) -> DevicePtr<u32> {
        self.root
    }

    /// Bits of the size of the root.
    #[inline(always)]
    pub fn root_bits(self) -> u32 {
        self.root_bits
    }

    /// The most shares of which each is alone in its parts of the trie, all the way up.
    #[inline(always)]
    pub fn most_shares(self, value_words: u32) -> u32 {
        1 << trie_bits(self.root_bits, value_words)
    }

    /// The slots.
    #[inline(always)]
    pub fn flat<M: HeapMemory>(self, memory: M, key_words: u32, value_words: u32) -> Flat {
        let slots = has_slots(self.root_bits, value_words) & !self.is_none();
        Flat {
            first: memory.word_of(self.root),
            // Two slots for a key, four to a bucket.
            bits: select(slots, self.root_bits.wrapping_sub(1), 0),
            key_words,
            value_words,
        }
    }

    /// The trie.
    #[inline(always)]
    pub fn trie<M: HeapMemory>(self, memory: M, key_words: u32, value_words: u32) -> Trie {
        // Where there are slots, few come here.
        let root_bits = arch::late(self.root_bits);
        let words = slots_words(root_bits, key_words, value_words);
        let granules = (words / (DevicePtr::GRANULE_WORDS << memory.granule_shift())) as u32;
        let root = DevicePtr::from_granule(self.root.granule() + granules);
        let bits = trie_bits(root_bits, value_words);
        if self.is_none() {
            Trie::NONE
        } else {
            Trie {
                root,
                root_bits: bits,
            }
        }
    }

    /// Brings `value` to a key. Where the key is there, `in_slot` or `in_leaf` does with the value what it likes, given
    /// the slot, or the leaf and its state, and says whether that is done.
    ///
    /// # Errors
    /// As [`DeviceAlloc::malloc`], `Unsupported`, `Contended`; then the map is as it was.
    #[inline(always)]
    pub fn change<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
        in_slot: impl Fn(Flat, usize) -> bool,
        in_leaf: impl Fn(u32, u32) -> bool,
    ) -> Result<Before, AllocError> {
        if self.is_none() | too_large(heap) {
            return Err(AllocError::Unsupported);
        }
        let flat = self.flat(heap.memory(), key.words(), value.words());
        let mut how = select(flat.bits == 0, Entered::NO_ROOM, Entered::CONTENDED);
        let mut code = AllocError::Contended.code();
        let mut round = 0;
        while (how == Entered::CONTENDED) & (round < MOST_ROUNDS) {
            round += 1;
            let entered = flat.enter_or_grow(heap, key, value);
            how = entered.how;
            if how == Entered::FAILED {
                code = entered.slot as u32;
            }
            if (how == Entered::THERE) && !in_slot(flat, entered.slot) {
                how = Entered::CONTENDED;
            }
        }
        if (how == Entered::CONTENDED) | (how == Entered::FAILED) {
            return Err(AllocError::from_code(code));
        }
        if how == Entered::NO_ROOM {
            let trie = self.trie(heap.memory(), key.words(), value.words());
            return trie.change(heap, key, value, in_leaf);
        }
        Ok(Before::of(how == Entered::THERE))
    }

    /// Inserts a key with its value. If it is there, `replace` says whether the value is overwritten.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    #[inline(always)]
    pub fn bring<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
        replace: bool,
    ) -> Result<Before, AllocError> {
        let memory = heap.memory();
        let in_slot = move |flat: Flat, slot: usize| {
            if replace & (value.words() > 0) {
                memory.release();
                memory.exchange(flat.value_word(slot), value.word(0));
                flat::changed(memory);
            }
            true
        };
        let in_leaf = move |leaf: u32, seen: u32| {
            let state = first_word(memory, leaf);
            let first = leaf::value_word(state, key.words());
            let mut done = true;
            if replace & (value.words() > 1) {
                done = seen & leaf::LOCKED == 0;
                if done {
                    done = leaf::revive(memory, state, seen, first, value);
                }
            } else if replace & (value.words() == 1) {
                memory.release();
                memory.exchange(first, value.word(0));
                leaf::changed(memory, state);
            }
            done
        };
        self.change(heap, key, value, in_slot, in_leaf)
    }

    /// The word in which the value of a key begins, which stays where it is; a key that is not there gets this value.
    /// For maps from which no key is removed.
    ///
    /// # Errors
    /// As [`change`](Self::change).
    #[inline(always)]
    pub fn enter<A: DeviceAlloc, K: WordSource, V: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value: V,
    ) -> Result<usize, AllocError> {
        if self.is_none() | too_large(heap) {
            return Err(AllocError::Unsupported);
        }
        let flat = self.flat(heap.memory(), key.words(), value.words());
        let mut how = select(flat.bits == 0, Entered::NO_ROOM, Entered::CONTENDED);
        let mut slot = AllocError::Contended.code() as usize;
        let mut round = 0;
        while (how == Entered::CONTENDED) & (round < MOST_ROUNDS) {
            round += 1;
            let entered = flat.enter_or_grow(heap, key, value);
            how = entered.how;
            if how != Entered::CONTENDED {
                slot = entered.slot;
            }
        }
        if (how == Entered::CONTENDED) | (how == Entered::FAILED) {
            return Err(AllocError::from_code(slot as u32));
        }
        if how != Entered::NO_ROOM {
            return Ok(flat.value_word(slot));
        }
        let trie = self.trie(heap.memory(), key.words(), value.words());
        let leaf = trie.enter(heap, key, value)? & !FRESH;
        Ok(leaf::value_word(
            first_word(heap.memory(), leaf),
            key.words(),
        ))
    }

    /// The word in which the value of a key begins; 0 if it is not there. For maps from which no key is removed.
    #[inline(always)]
    pub fn find<M: HeapMemory, K: WordSource>(self, memory: M, key: K, value_words: u32) -> usize {
        let flat = self.flat(memory, key.words(), value_words);
        let mut word = 0;
        let mut elsewhere = true;
        if flat.bits != 0 {
            let found = flat.find(memory, key);
            elsewhere = found.elsewhere;
            if found.slot != 0 {
                word = flat.value_word(found.slot);
            }
        }
        if elsewhere {
            let leaf = self
                .trie(memory, key.words(), value_words)
                .find(memory, key);
            if leaf != EMPTY {
                word = leaf::value_word(first_word(memory, leaf), key.words());
            }
        }
        word
    }

    /// Gives `take` each word of a key's value with its number, perhaps several times: what it had last counts. 1 if the key
    /// is there, else 0.
    #[inline(always)]
    pub fn words<A: DeviceAlloc, K: WordSource>(
        self,
        heap: Heap<A>,
        key: K,
        value_words: u32,
        take: impl FnMut(u32, u32),
    ) -> u32 {
        read::words(heap, self, key, value_words, take)
    }

    /// Whether a key is there.
    #[inline(always)]
    pub fn contains<M: HeapMemory, K: WordSource>(
        self,
        memory: M,
        key: K,
        value_words: u32,
    ) -> bool {
        let flat = self.flat(memory, key.words(), value_words);
        let mut there = false;
        let mut elsewhere = true;
        if flat.bits != 0 {
            let found = flat.find(memory, key);
            there = found.slot != 0;
            elsewhere = found.elsewhere;
        }
        if elsewhere {
            there = self
                .trie(memory, key.words(), value_words)
                .contains(memory, key);
        }
        there
    }

    /// Removes a key.
    ///
    /// # Errors
    /// `Contended`.
    #[inline(always)]
    pub fn remove<M: HeapMemory, K: WordSource>(
        self,
        memory: M,
        key: K,
        value_words: u32,
    ) -> Result<Before, AllocError> {
        let flat = self.flat(memory, key.words(), value_words);
        // 0: it was not there; 1: it is no longer; 2: it has no slot.
        let mut answer = 2;
        if flat.bits != 0 {
            answer = flat.remove(memory, key);
        }
        if answer == 2 {
            return self
                .trie(memory, key.words(), value_words)
                .remove(memory, key);
        }
        if answer == 3 {
            return Err(AllocError::Contended);
        }
        Ok(Before::of(answer == 1))
    }
}
