//! Keys and values as words, whatever they are.

use crate::sync;
use warpheap_api::{HeapData, HeapMemory};

/// Words of a key or of a value: those of a typed value, of a leaf, or of a slice whose width is known
/// when the kernel runs.
pub trait WordSource: Copy {
    /// How many there are.
    fn words(self) -> u32;
    /// The one at `index`, less than [`words`](Self::words).
    fn word(self, index: u32) -> u32;
}

/// The words of a value.
#[derive(Clone, Copy)]
pub struct Typed<T>(pub T);

impl<T: HeapData + Copy> WordSource for Typed<T> {
    #[inline(always)]
    fn words(self) -> u32 {
        T::WORDS
    }
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        self.0.word_at(index)
    }
}

/// `count` words of a heap from `first` on, which no lane changes.
#[derive(Clone, Copy)]
pub struct Stored<M> {
    /// The heap.
    pub memory: M,
    /// The first word.
    pub first: usize,
    /// How many there are.
    pub count: u32,
}

impl<M: HeapMemory> WordSource for Stored<M> {
    #[inline(always)]
    fn words(self) -> u32 {
        self.count
    }
    #[inline(always)]
    fn word(self, index: u32) -> u32 {
        self.memory.read(self.first + index as usize)
    }
}

/// No words: the value of a set.
#[derive(Clone, Copy)]
pub struct Nothing;

impl WordSource for Nothing {
    #[inline(always)]
    fn words(self) -> u32 {
        0
    }
    #[inline(always)]
    fn word(self, _index: u32) -> u32 {
        0
    }
}

/// The hash of a key, another one for each `seed`. For keys of one word each is a bijection.
///
/// All bits are mixed after each word, so that two keys with the same hash for one seed have no more in
/// common for another than any two.
#[inline(always)]
pub fn hash<K: WordSource>(key: K, seed: u32) -> u32 {
    let mut hash = !seed;
    let mut i = 0;
    while i < key.words() {
        hash = sync::hash(hash ^ key.word(i));
        i += 1;
    }
    hash
}
