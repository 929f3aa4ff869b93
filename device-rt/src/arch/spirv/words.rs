//! Words of storage buffers.
//!
//! Heap accesses are marked non-private, which is what makes the fences apply to them in Vulkan's
//! memory model.

use super::super::Group;
use super::{acquire, block_barrier, block_broadcast, release, thread_index};
use core::arch::asm;
use warpheap_api::HeapMemory;

macro_rules! atomic {
    ($opcode:literal, $pointer:expr, $value:expr) => {
        atomic!($opcode, "0", $pointer, $value)
    };
    ($opcode:literal, $semantics:literal, $pointer:expr, $value:expr) => {{
        let old: u32;
        // SAFETY: the pointer is to a word of a storage buffer.
        unsafe {
            asm!(
                "%u32 = OpTypeInt 32 0",
                "%device = OpConstant %u32 1",
                concat!("%semantics = OpConstant %u32 ", $semantics),
                concat!("{old} = ", $opcode, " %u32 {pointer} %device %semantics {value}"),
                pointer = in(reg) $pointer,
                value = in(reg) $value,
                old = out(reg) old,
            );
        }
        old
    }};
}

#[inline(always)]
fn atomic_load(pointer: *mut u32) -> u32 {
    let value: u32;
    // SAFETY: the pointer is to a word of a storage buffer.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%device = OpConstant %u32 1",
            "%relaxed = OpConstant %u32 0",
            "{value} = OpAtomicLoad %u32 {pointer} %device %relaxed",
            pointer = in(reg) pointer,
            value = out(reg) value,
        );
    }
    value
}

#[inline(always)]
fn atomic_store(pointer: *mut u32, value: u32) {
    // SAFETY: the pointer is to a word of a storage buffer.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%device = OpConstant %u32 1",
            "%relaxed = OpConstant %u32 0",
            "OpAtomicStore {pointer} %device %relaxed {value}",
            pointer = in(reg) pointer,
            value = in(reg) value,
        );
    }
}

#[inline(always)]
fn atomic_compare_exchange(pointer: *mut u32, current: u32, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the pointer is to a word of a storage buffer.
    unsafe {
        asm!(
            "%u32 = OpTypeInt 32 0",
            "%device = OpConstant %u32 1",
            "%relaxed = OpConstant %u32 0",
            "{old} = OpAtomicCompareExchange %u32 {pointer} %device %relaxed %relaxed {new} {current}",
            pointer = in(reg) pointer,
            new = in(reg) new,
            current = in(reg) current,
            old = out(reg) old,
        );
    }
    old
}

/// The words of a heap.
#[derive(Clone, Copy)]
pub struct Words {
    words: &'static [u32],
    len: u32,
    /// A constant wherever it is looked at: allocators know theirs.
    granule_shift: u32,
}

impl Words {
    /// The first `len` words of a storage buffer. The length is the host's: a driver's own answer is
    /// not to be trusted for buffers of several GiB.
    ///
    /// # Safety
    /// The slice is a storage buffer of at least so many words; the lifetime ends with the kernel,
    /// which no handle outlives.
    #[inline(always)]
    pub unsafe fn from_buffer(words: &[u32], len: u32) -> Self {
        Words {
            // SAFETY: as above.
            words: unsafe { core::mem::transmute::<&[u32], &'static [u32]>(words) },
            len,
            granule_shift: 0,
        }
    }

    /// The same words, of a heap with granules of 16 bytes times two to this power.
    #[inline(always)]
    pub fn with_granule_shift(self, granule_shift: u32) -> Self {
        Words {
            granule_shift,
            ..self
        }
    }

    #[inline(always)]
    fn at(self, word: usize) -> *mut u32 {
        // SAFETY: callers keep indices inside the heap, as HeapMemory asks.
        unsafe { self.words.get_unchecked(word) as *const u32 as *mut u32 }
    }
}

// SAFETY: they are the memory that they were made of, whose length the maker knew.
unsafe impl HeapMemory for Words {
    #[inline(always)]
    fn len(self) -> usize {
        self.len as usize
    }
    #[inline(always)]
    fn granule_shift(self) -> u32 {
        self.granule_shift
    }
    #[inline(always)]
    fn read(self, word: usize) -> u32 {
        let value: u32;
        // SAFETY: the pointer is to a word of a storage buffer.
        unsafe {
            asm!(
                "%u32 = OpTypeInt 32 0",
                "{value} = OpLoad %u32 {pointer} NonPrivatePointer",
                pointer = in(reg) self.at(word),
                value = out(reg) value,
            );
        }
        value
    }
    #[inline(always)]
    fn write(self, word: usize, value: u32) {
        // SAFETY: the pointer is to a word of a storage buffer.
        unsafe {
            asm!(
                "OpStore {pointer} {value} NonPrivatePointer",
                pointer = in(reg) self.at(word),
                value = in(reg) value,
            );
        }
    }
    #[inline(always)]
    fn load(self, word: usize) -> u32 {
        atomic_load(self.at(word))
    }
    #[inline(always)]
    fn store(self, word: usize, value: u32) {
        atomic_store(self.at(word), value)
    }
    #[inline(always)]
    fn fetch_add(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicIAdd", self.at(word), value)
    }
    #[inline(always)]
    fn fetch_sub(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicISub", self.at(word), value)
    }
    #[inline(always)]
    fn release_sub(self, word: usize, value: u32) -> u32 {
        // Release (0x4), UniformMemory (0x40), MakeAvailable (0x2000).
        atomic!("OpAtomicISub", "8260", self.at(word), value)
    }
    #[inline(always)]
    fn fetch_and(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicAnd", self.at(word), value)
    }
    #[inline(always)]
    fn fetch_or(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicOr", self.at(word), value)
    }
    #[inline(always)]
    fn fetch_max(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicUMax", self.at(word), value)
    }
    #[inline(always)]
    fn exchange(self, word: usize, value: u32) -> u32 {
        atomic!("OpAtomicExchange", self.at(word), value)
    }
    #[inline(always)]
    fn compare_exchange(self, word: usize, current: u32, new: u32) -> u32 {
        atomic_compare_exchange(self.at(word), current, new)
    }
    #[inline(always)]
    fn release(self) {
        release()
    }
    #[inline(always)]
    fn acquire(self) {
        acquire()
    }
    #[inline(always)]
    fn once_for_group(self, call: impl FnOnce() -> (u32, u32)) -> (u32, u32) {
        Group::here().once(call)
    }
    #[inline(always)]
    fn index_in_block(self) -> u32 {
        thread_index()
    }
    #[inline(always)]
    fn block_barrier(self) {
        // SAFETY: what memory asks of who calls it.
        unsafe { block_barrier() }
    }
    #[inline(always)]
    fn block_broadcast(self, value: u32, source: u32) -> u32 {
        // SAFETY: what memory asks of who calls it.
        unsafe { block_broadcast(value, source) }
    }
}

/// A word of a slice that lanes change at the same time.
#[repr(transparent)]
pub struct AtomicWord(u32);

impl AtomicWord {
    #[inline(always)]
    pub(super) fn pointer(&self) -> *mut u32 {
        &self.0 as *const u32 as *mut u32
    }
    /// Atomic load, relaxed.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        atomic_load(self.pointer())
    }
    /// Atomic store, relaxed.
    #[inline(always)]
    pub fn store(&self, value: u32) {
        atomic_store(self.pointer(), value)
    }
    /// Atomic addition (wrapping), relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_add(&self, value: u32) -> u32 {
        atomic!("OpAtomicIAdd", self.pointer(), value)
    }
    /// Atomic bitwise or, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_or(&self, value: u32) -> u32 {
        atomic!("OpAtomicOr", self.pointer(), value)
    }
    /// Atomic maximum, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_max(&self, value: u32) -> u32 {
        atomic!("OpAtomicUMax", self.pointer(), value)
    }
    /// Atomic subtraction (wrapping), relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_sub(&self, value: u32) -> u32 {
        atomic!("OpAtomicISub", self.pointer(), value)
    }
    /// Atomic bitwise and, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_and(&self, value: u32) -> u32 {
        atomic!("OpAtomicAnd", self.pointer(), value)
    }
    /// Atomic minimum, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_min(&self, value: u32) -> u32 {
        atomic!("OpAtomicUMin", self.pointer(), value)
    }
    /// Atomic exchange, relaxed; returns the old value.
    #[inline(always)]
    pub fn exchange(&self, value: u32) -> u32 {
        atomic!("OpAtomicExchange", self.pointer(), value)
    }
    /// Atomic compare-and-swap, relaxed; returns the old value.
    #[inline(always)]
    pub fn compare_exchange(&self, current: u32, new: u32) -> u32 {
        atomic_compare_exchange(self.pointer(), current, new)
    }
}
