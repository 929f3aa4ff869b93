//! Words of global memory, and the atomics on them.

use super::super::Group;
use super::{acquire, block_barrier, block_broadcast, global, release, thread_index};
use core::arch::asm;
use core::sync::atomic::AtomicU32;
use warpheap_api::HeapMemory;

/// Atomic load, relaxed, device scope.
///
/// # Safety
/// `address` is an aligned one of global memory that is valid for a word.
#[inline(always)]
unsafe fn atomic_load(address: *mut u32) -> u32 {
    let value: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "ld.relaxed.gpu.global.u32 {value}, [{address}];",
            address = in(reg64) address,
            value = out(reg32) value,
            options(nostack),
        );
    }
    value
}

/// Atomic store, relaxed, device scope.
///
/// # Safety
/// As [`atomic_load`].
#[inline(always)]
unsafe fn atomic_store(address: *mut u32, value: u32) {
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "st.relaxed.gpu.global.u32 [{address}], {value};",
            address = in(reg64) address,
            value = in(reg32) value,
            options(nostack),
        );
    }
}

/// Atomic compare-and-swap, relaxed, device scope; returns the old value.
///
/// # Safety
/// As [`atomic_load`].
#[inline(always)]
unsafe fn atomic_compare_exchange(address: *mut u32, current: u32, new: u32) -> u32 {
    let old: u32;
    // SAFETY: the caller's promise.
    unsafe {
        asm!(
            "atom.relaxed.gpu.global.cas.b32 {old}, [{address}], {current}, {new};",
            address = in(reg64) address,
            current = in(reg32) current,
            new = in(reg32) new,
            old = out(reg32) old,
            options(nostack),
        );
    }
    old
}

/// Atomic read-modify-write, relaxed, device scope, of global memory; returns the old value. The
/// assembler drops the answer, and with it the wait, where nobody looks at it.
macro_rules! atomic_rmw {
    ($operation:literal, $address:expr, $value:expr) => {
        atomic_rmw!("relaxed", $operation, $address, $value)
    };
    ($order:literal, $operation:literal, $address:expr, $value:expr) => {{
        let old: u32;
        // SAFETY: `address` is an aligned one of global memory that is valid for a word.
        unsafe {
            asm!(
                concat!("atom.", $order, ".gpu.global.", $operation, " {old}, [{address}], {value};"),
                address = in(reg64) $address,
                value = in(reg32) $value,
                old = out(reg32) old,
                options(nostack),
            );
        }
        old
    }};
}

/// The words of a heap.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    base: *mut u32,
    len: usize,
    /// A constant wherever it is looked at: allocators know theirs.
    granule_shift: u32,
}

impl Words {
    /// The words at `base`.
    ///
    /// # Safety
    /// `base` is an aligned address of global memory, valid for `len` words for as long as any copy
    /// of this handle is used.
    #[inline(always)]
    pub unsafe fn from_address(base: u64, len: u64) -> Self {
        Words {
            base: global(base),
            len: len as usize,
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

    /// The address and the length that [`from_address`](Self::from_address) takes.
    #[inline(always)]
    pub fn to_address(self) -> (u64, u64) {
        (self.base as u64, self.len as u64)
    }

    /// Address of a word.
    #[inline(always)]
    pub fn address(self, word: usize) -> *mut u32 {
        // SAFETY: callers keep indices inside the heap, as HeapMemory asks.
        unsafe { self.base.add(word) }
    }
}

/// Four atomic loads by one request, each of this order.
macro_rules! load4 {
    ($order:literal, $address:expr) => {{
        let (a, b, c, d): (u32, u32, u32, u32);
        // SAFETY: the addresses are inside the heap, and the first is a multiple of 16, as is a heap's begin. Each of the
        // four is atomic for itself.
        unsafe {
            asm!(
                concat!("ld.", $order, ".gpu.global.v4.u32 {{{a}, {b}, {c}, {d}}}, [{address}];"),
                address = in(reg64) $address,
                a = out(reg32) a,
                b = out(reg32) b,
                c = out(reg32) c,
                d = out(reg32) d,
                options(nostack),
            );
        }
        [a, b, c, d]
    }};
}

/// Four stores by one request, each of this order.
macro_rules! store4 {
    ($order:literal, $address:expr, $values:expr) => {{
        let values: [u32; 4] = $values;
        // SAFETY: the addresses are inside the heap, and the first is a multiple of 16, as is a heap's begin. Each of the
        // four is whole for itself.
        unsafe {
            asm!(
                concat!("st", $order, ".global.v4.u32 [{address}], {{{a}, {b}, {c}, {d}}};"),
                address = in(reg64) $address,
                a = in(reg32) values[0],
                b = in(reg32) values[1],
                c = in(reg32) values[2],
                d = in(reg32) values[3],
                options(nostack),
            );
        }
    }};
}

// SAFETY: they are the memory that they were made of, whose length the maker knew.
unsafe impl HeapMemory for Words {
    #[inline(always)]
    fn len(self) -> usize {
        self.len
    }
    #[inline(always)]
    fn granule_shift(self) -> u32 {
        self.granule_shift
    }
    #[inline(always)]
    fn read(self, word: usize) -> u32 {
        // SAFETY: the address is inside the heap and aligned.
        unsafe { *self.address(word) }
    }
    #[inline(always)]
    fn write(self, word: usize, value: u32) {
        // SAFETY: the address is inside the heap and aligned.
        unsafe { *self.address(word) = value }
    }
    #[inline(always)]
    fn write4(self, word: usize, values: [u32; 4]) {
        store4!("", self.address(word), values);
    }
    #[inline(always)]
    fn load(self, word: usize) -> u32 {
        // SAFETY: the address is inside the heap and aligned.
        unsafe { atomic_load(self.address(word)) }
    }
    #[inline(always)]
    fn load4(self, word: usize) -> [u32; 4] {
        load4!("relaxed", self.address(word))
    }
    #[inline(always)]
    fn load_acquire(self, word: usize) -> u32 {
        let value: u32;
        // SAFETY: the address is inside the heap and aligned.
        unsafe {
            asm!(
                "ld.acquire.gpu.global.u32 {value}, [{address}];",
                address = in(reg64) self.address(word),
                value = out(reg32) value,
                options(nostack),
            );
        }
        value
    }
    #[inline(always)]
    fn load4_acquire(self, word: usize) -> [u32; 4] {
        load4!("acquire", self.address(word))
    }
    #[inline(always)]
    fn glance(self, word: usize) -> u32 {
        let value: u32;
        // SAFETY: the address is inside the heap and aligned.
        unsafe {
            asm!(
                "ld.global.u32 {value}, [{address}];",
                address = in(reg64) self.address(word),
                value = out(reg32) value,
                options(nostack),
            );
        }
        value
    }
    #[inline(always)]
    fn store(self, word: usize, value: u32) {
        // SAFETY: the address is inside the heap and aligned.
        unsafe { atomic_store(self.address(word), value) }
    }
    #[inline(always)]
    fn store4(self, word: usize, values: [u32; 4]) {
        store4!(".relaxed.gpu", self.address(word), values);
    }
    #[inline(always)]
    fn fetch_add(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("add.u32", self.address(word), value)
    }
    #[inline(always)]
    fn fetch_sub(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("add.u32", self.address(word), value.wrapping_neg())
    }
    #[inline(always)]
    fn release_sub(self, word: usize, value: u32) -> u32 {
        atomic_rmw!(
            "release",
            "add.u32",
            self.address(word),
            value.wrapping_neg()
        )
    }
    #[inline(always)]
    fn fetch_and(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("and.b32", self.address(word), value)
    }
    #[inline(always)]
    fn fetch_or(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("or.b32", self.address(word), value)
    }
    #[inline(always)]
    fn fetch_max(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("max.u32", self.address(word), value)
    }
    #[inline(always)]
    fn exchange(self, word: usize, value: u32) -> u32 {
        atomic_rmw!("exch.b32", self.address(word), value)
    }
    #[inline(always)]
    fn compare_exchange(self, word: usize, current: u32, new: u32) -> u32 {
        // SAFETY: the address is inside the heap and aligned.
        unsafe { atomic_compare_exchange(self.address(word), current, new) }
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
#[derive(Debug)]
#[repr(transparent)]
pub struct AtomicWord(AtomicU32);

impl AtomicWord {
    /// Atomic load, relaxed.
    #[inline(always)]
    pub fn load(&self) -> u32 {
        // SAFETY: slices of a kernel lie in global memory.
        unsafe { atomic_load(self.0.as_ptr()) }
    }
    /// Atomic store, relaxed.
    #[inline(always)]
    pub fn store(&self, value: u32) {
        // SAFETY: slices of a kernel lie in global memory.
        unsafe { atomic_store(self.0.as_ptr(), value) }
    }
    /// Atomic addition (wrapping), relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_add(&self, value: u32) -> u32 {
        atomic_rmw!("add.u32", self.0.as_ptr(), value)
    }
    /// Atomic bitwise or, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_or(&self, value: u32) -> u32 {
        atomic_rmw!("or.b32", self.0.as_ptr(), value)
    }
    /// Atomic maximum, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_max(&self, value: u32) -> u32 {
        atomic_rmw!("max.u32", self.0.as_ptr(), value)
    }
    /// Atomic subtraction (wrapping), relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_sub(&self, value: u32) -> u32 {
        atomic_rmw!("add.u32", self.0.as_ptr(), value.wrapping_neg())
    }
    /// Atomic bitwise and, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_and(&self, value: u32) -> u32 {
        atomic_rmw!("and.b32", self.0.as_ptr(), value)
    }
    /// Atomic minimum, relaxed; returns the old value.
    #[inline(always)]
    pub fn fetch_min(&self, value: u32) -> u32 {
        atomic_rmw!("min.u32", self.0.as_ptr(), value)
    }
    /// Atomic exchange, relaxed; returns the old value.
    #[inline(always)]
    pub fn exchange(&self, value: u32) -> u32 {
        atomic_rmw!("exch.b32", self.0.as_ptr(), value)
    }
    /// Atomic compare-and-swap, relaxed; returns the old value.
    #[inline(always)]
    pub fn compare_exchange(&self, current: u32, new: u32) -> u32 {
        // SAFETY: slices of a kernel lie in global memory.
        unsafe { atomic_compare_exchange(self.0.as_ptr(), current, new) }
    }
}
