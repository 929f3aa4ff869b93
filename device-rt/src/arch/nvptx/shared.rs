//! Words of shared memory. Their addresses count from the beginning of the block's.

use core::arch::asm;

/// The words of an array that the lanes of a block share.
#[derive(Clone, Copy, Debug)]
pub struct BlockWords<const N: usize> {
    base: u32,
}

/// Atomic read-modify-write, relaxed, of the block; returns the old value.
macro_rules! rmw {
    ($($(#[$doc:meta])* $name:ident = $operation:literal;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        pub fn $name(self, index: u32, value: u32) -> u32 {
            let old: u32;
            // SAFETY: the address is that of a word of the array.
            unsafe {
                asm!(
                    concat!("atom.relaxed.cta.shared.", $operation, " {old}, [{address}], {value};"),
                    address = in(reg32) self.at(index),
                    value = in(reg32) value,
                    old = out(reg32) old,
                    options(nostack),
                );
            }
            old
        }
    )*};
}

/// A load of this kind.
macro_rules! load {
    ($kind:literal, $address:expr) => {{
        let value: u32;
        // SAFETY: the address is that of a word of the array.
        unsafe {
            asm!(
                concat!("ld", $kind, ".shared.u32 {value}, [{address}];"),
                address = in(reg32) $address,
                value = out(reg32) value,
                options(nostack),
            );
        }
        value
    }};
}

/// A store of this kind.
macro_rules! store {
    ($kind:literal, $address:expr, $value:expr) => {
        // SAFETY: the address is that of a word of the array.
        unsafe {
            asm!(
                concat!("st", $kind, ".shared.u32 [{address}], {value};"),
                address = in(reg32) $address,
                value = in(reg32) $value,
                options(nostack),
            );
        }
    };
}

impl<const N: usize> BlockWords<N> {
    /// The array at this address of shared memory.
    ///
    /// # Safety
    /// It has `N` words, which nothing else accesses.
    #[inline(always)]
    pub unsafe fn from_address(base: u32) -> Self {
        BlockWords { base }
    }

    /// Address of a word. An index beyond the last is a mistake as with slices.
    #[inline(always)]
    fn at(self, index: u32) -> u32 {
        assert!((index as usize) < N);
        self.base + index * 4
    }

    /// Plain read.
    #[inline(always)]
    pub fn read(self, index: u32) -> u32 {
        load!("", self.at(index))
    }
    /// Plain write.
    #[inline(always)]
    pub fn write(self, index: u32, value: u32) {
        store!("", self.at(index), value);
    }
    /// Atomic load.
    #[inline(always)]
    pub fn load(self, index: u32) -> u32 {
        load!(".relaxed.cta", self.at(index))
    }
    /// Atomic store.
    #[inline(always)]
    pub fn store(self, index: u32, value: u32) {
        store!(".relaxed.cta", self.at(index), value);
    }
    rmw! {
        /// Addition.
        fetch_add = "add.u32";
        /// Least.
        fetch_min = "min.u32";
        /// Greatest.
        fetch_max = "max.u32";
        /// Bitwise and.
        fetch_and = "and.b32";
        /// Bitwise or.
        fetch_or = "or.b32";
        /// Exchange.
        exchange = "exch.b32";
    }
    /// Compare-and-swap.
    #[inline(always)]
    pub fn compare_exchange(self, index: u32, current: u32, new: u32) -> u32 {
        let old: u32;
        // SAFETY: the address is that of a word of the array.
        unsafe {
            asm!(
                "atom.relaxed.cta.shared.cas.b32 {old}, [{address}], {current}, {new};",
                address = in(reg32) self.at(index),
                current = in(reg32) current,
                new = in(reg32) new,
                old = out(reg32) old,
                options(nostack),
            );
        }
        old
    }
}
