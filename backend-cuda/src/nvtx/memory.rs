//! Names of memory, by NVTX's extension for that. Tools have it beside the rest, or lack it.
//!
//! A pool is not registered as a heap of NVTX. The regions of such a heap are its blocks, and they would have to be told by the host: a
//! checker takes every access outside of them for a mistake, and here lanes allocate.

use super::slots::{Slot, VERSION};
use std::ffi::{CStr, c_char, c_int, c_void};

/// The extension's number, and the version of its structures.
const EXTENSION: u16 = 1;
const STRUCTURES: u16 = 0x0102;

/// Names are given to what an address points to, and are ASCII.
const BY_ADDRESS: u32 = 1;
const ASCII: u32 = 1;

/// Most bytes of a name that compute-sanitizer takes.
const MOST: usize = 49;

/// The extension's functions.
static SLOTS: [Slot; 63] = Slot::row();
/// That which names memory.
const NAME_REGIONS: usize = 6;

/// `nvtxExtModuleSegment_t`.
#[repr(C)]
pub(super) struct Segment {
    number: usize,
    len: usize,
    pub(super) slots: *const Slot,
}

/// `nvtxExtModuleInfo_t`.
#[repr(C)]
pub(super) struct Info {
    version: u16,
    bytes: u16,
    pub(super) extension: u16,
    structures: u16,
    segments: usize,
    pub(super) first: *mut Segment,
    export: *const c_void,
    private: *const c_void,
}

/// `nvtxMemRegionNameDesc_t`.
#[repr(C)]
pub(super) struct Region {
    by: u32,
    name_kind: u32,
    pub(super) address: u64,
    pub(super) name: *const c_char,
    category: u32,
    reserved: u32,
}

/// `nvtxMemRegionsNameBatch_t`.
#[repr(C)]
pub(super) struct Batch {
    structures: u16,
    bytes: u16,
    reserved0: u32,
    pub(super) regions: usize,
    region_bytes: usize,
    pub(super) first: *const Region,
    reserved1: usize,
}

// As the headers have them for 64-bit systems.
const _: () = assert!(size_of::<Segment>() == 24 && size_of::<Info>() == 40);
const _: () = assert!(size_of::<Region>() == 32 && size_of::<Batch>() == 40);

/// What a tool has for the extension; 0 is no.
pub(super) type Initialize = unsafe extern "C" fn(*mut Info) -> c_int;

/// `nvtxMemRegionsName`.
type NameRegions = unsafe extern "C" fn(*mut c_void, *const Batch);

/// Asks a tool for its functions.
///
/// # Safety
/// It is a tool's `InitializeInjectionNvtxExtension`, and the tool stays loaded.
pub(super) unsafe fn attach(initialize: Initialize) -> bool {
    // A tool may keep the address, so that these are never freed: a few bytes, once.
    let segment = Box::leak(Box::new(Segment {
        number: 1,
        len: SLOTS.len(),
        slots: SLOTS.as_ptr(),
    }));
    let info = Box::leak(Box::new(Info {
        version: VERSION,
        bytes: size_of::<Info>() as u16,
        extension: EXTENSION,
        structures: STRUCTURES,
        segments: 1,
        first: segment,
        export: std::ptr::null(),
        private: std::ptr::null(),
    }));
    // SAFETY: the caller's promise; the structures are as NVTX has them and stay.
    unsafe { initialize(info) != 0 }
}

/// Names the memory that was allocated at an address.
pub(super) fn name(domain: *mut c_void, address: u64, name: &str) {
    // SAFETY: the type is that of NVTX's function of this number.
    let Some(call) = (unsafe { SLOTS[NAME_REGIONS].function::<NameRegions>() }) else {
        return;
    };
    let mut text = [0u8; MOST + 1];
    let bytes = name.bytes().take(MOST);
    for (to, from) in text.iter_mut().zip(bytes) {
        *to = match from.is_ascii_graphic() || from == b' ' {
            true => from,
            false => b'?',
        };
    }
    let Ok(text) = CStr::from_bytes_until_nul(&text) else {
        return;
    };
    let region = Region {
        by: BY_ADDRESS,
        name_kind: ASCII,
        address,
        name: text.as_ptr(),
        category: 0,
        reserved: 0,
    };
    let batch = Batch {
        structures: STRUCTURES,
        bytes: size_of::<Batch>() as u16,
        reserved0: 0,
        regions: 1,
        region_bytes: size_of::<Region>(),
        first: &region,
        reserved1: 0,
    };
    // SAFETY: a function of a tool that stays loaded, with structures as NVTX has them, which outlive the call.
    unsafe { call(domain, &batch) };
}
