//! Words of a heap as the idioms see them: atomics are relaxed, plain words are checked for races.

use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// A word that lanes change at the same time.
pub struct Word(AtomicU32);

impl Word {
    pub fn new(value: u32) -> Self {
        Word(AtomicU32::new(value))
    }
    pub fn load(&self) -> u32 {
        self.0.load(Relaxed)
    }
    pub fn store(&self, value: u32) {
        self.0.store(value, Relaxed);
    }
    pub fn fetch_add(&self, value: u32) -> u32 {
        self.0.fetch_add(value, Relaxed)
    }
    pub fn fetch_sub(&self, value: u32) -> u32 {
        self.0.fetch_sub(value, Relaxed)
    }
    pub fn fetch_and(&self, value: u32) -> u32 {
        self.0.fetch_and(value, Relaxed)
    }
    pub fn fetch_or(&self, value: u32) -> u32 {
        self.0.fetch_or(value, Relaxed)
    }
    pub fn exchange(&self, value: u32) -> u32 {
        self.0.swap(value, Relaxed)
    }
    /// The old value, as in the device code.
    pub fn compare_exchange(&self, current: u32, new: u32) -> u32 {
        match self.0.compare_exchange(current, new, Relaxed, Relaxed) {
            Ok(old) | Err(old) => old,
        }
    }
}

/// A plain word, of a block or beside one. Two accesses that are not ordered, one of them a write, are a violation.
pub struct Plain(UnsafeCell<u32>);

// SAFETY: the checker sees to it that accesses do not race.
unsafe impl Sync for Plain {}
// SAFETY: as above.
unsafe impl Send for Plain {}

impl Plain {
    pub fn new(value: u32) -> Self {
        Plain(UnsafeCell::new(value))
    }
    pub fn read(&self) -> u32 {
        // SAFETY: the pointer is valid; races are found by the checker.
        self.0.with(|word| unsafe { *word })
    }
    pub fn write(&self, value: u32) {
        // SAFETY: as above.
        self.0.with_mut(|word| unsafe { *word = value });
    }
}
