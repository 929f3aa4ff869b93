//! Where a tool puts its functions, and how it finds these places.
//!
//! NVTX has six modules, each a table of numbered functions. A tool asks for a table by the module's number. Each entry is the
//! address of a place into which the tool writes the address of its own function. Entry 0 of a table is null, and so is one behind
//! its end. Here are all six, though few of their functions are called: a tool may give up where one is missing.

use std::ffi::{c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The version of NVTX.
pub(super) const VERSION: u16 = 3;

/// A place for the address of one function. Tools may write to it at any time, also to take a function back.
#[repr(transparent)]
pub(super) struct Slot(AtomicPtr<c_void>);

impl Slot {
    const fn new() -> Self {
        Slot(AtomicPtr::new(std::ptr::null_mut()))
    }

    /// So many empty places.
    pub(super) const fn row<const N: usize>() -> [Slot; N] {
        [const { Slot::new() }; N]
    }

    /// The function that a tool put here.
    ///
    /// # Safety
    /// `F` is the type of the function that NVTX has in this place.
    #[inline]
    pub(super) unsafe fn function<F: Copy>(&self) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        let found = self.0.load(Ordering::Acquire);
        // NVTX writes 1 where there is none.
        if found.addr() <= 1 {
            return None;
        }
        // SAFETY: the address of a function of this type, as the caller promises; both are as large.
        Some(unsafe { std::mem::transmute_copy(&found) })
    }
}

/// The entry of a table.
type Entry = Option<&'static Slot>;

/// The table of a module: `N` entries and a null behind them.
const fn table<const N: usize, const BEYOND: usize>(slots: &'static [Slot; N]) -> [Entry; BEYOND] {
    assert!(BEYOND == N + 1);
    let mut table = [None; BEYOND];
    let mut at = 1;
    while at < N {
        table[at] = Some(&slots[at]);
        at += 1;
    }
    table
}

macro_rules! modules {
    ($($(#[$doc:meta])* $name:ident, $table:ident = $number:literal, $len:literal;)*) => {
        $(
            $(#[$doc])*
            pub(super) static $name: [Slot; $len] = Slot::row();
            static $table: [Entry; $len + 1] = table(&$name);
        )*

        /// The table of a module and its length.
        fn module(number: c_int) -> Option<(*const Entry, c_uint)> {
            match number {
                $($number => Some(($table.as_ptr(), $len)),)*
                _ => None,
            }
        }
    };
}

modules! {
    /// Ranges and marks outside of any domain.
    CORE, CORE_TABLE = 1, 16;
    /// Names of objects of CUDA's driver.
    CUDA, CUDA_TABLE = 2, 9;
    /// Names of objects of OpenCL.
    OPENCL, OPENCL_TABLE = 3, 15;
    /// Names of objects of CUDA's runtime.
    CUDA_RUNTIME, CUDA_RUNTIME_TABLE = 4, 7;
    /// Domains, and ranges and marks of these.
    DOMAINS, DOMAINS_TABLE = 5, 16;
    /// Locks of programs.
    SYNC, SYNC_TABLE = 6, 7;
}

/// Gives a tool the table of a module; 0 if there is none.
extern "C" fn module_table(number: c_int, table: *mut *const Entry, len: *mut c_uint) -> c_int {
    let Some((found, entries)) = module(number) else {
        return 0;
    };
    if !table.is_null() {
        // SAFETY: the tool gives room for the address, or null.
        unsafe { *table = found };
    }
    if !len.is_null() {
        // SAFETY: as above.
        unsafe { *len = entries };
    }
    1
}

/// What NVTX calls the export table of callbacks.
#[repr(C)]
struct Callbacks {
    bytes: usize,
    module_table: extern "C" fn(c_int, *mut *const Entry, *mut c_uint) -> c_int,
}

/// What NVTX calls the export table of versions.
#[repr(C)]
struct Versions {
    bytes: usize,
    version: u32,
    reserved: u32,
    set_version: extern "C" fn(u32),
}

/// A tool tells its version, from which nothing follows.
extern "C" fn set_version(_: u32) {}

static CALLBACKS: Callbacks = Callbacks {
    bytes: size_of::<Callbacks>(),
    module_table,
};

static VERSIONS: Versions = Versions {
    bytes: size_of::<Versions>(),
    version: VERSION as u32,
    reserved: 0,
    set_version,
};

/// What a tool asks for first; null for what is not known.
pub(super) extern "C" fn export_table(number: u32) -> *const c_void {
    match number {
        1 => (&raw const CALLBACKS).cast(),
        3 => (&raw const VERSIONS).cast(),
        _ => std::ptr::null(),
    }
}
