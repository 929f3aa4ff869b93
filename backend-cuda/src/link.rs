//! PTX whose functions are compiled once each.
//!
//! The driver's plain way to load PTX compiles every kernel with all that it may call, again for each. Calls
//! through pointers may reach every function whose address is taken, which in modules with Rust's own
//! collections is all of formatting: a dozen kernels take minutes. Its linker compiles functions apart from
//! each other instead, which takes seconds, and links them.

use crate::status::Status;
use cust::sys::{self, CUjit_option, CUjitInputType, CUlinkState, CUresult};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

/// A linker of the driver, destroyed when it is dropped.
struct Linker(CUlinkState);

impl Drop for Linker {
    fn drop(&mut self) {
        // SAFETY: made by `new`, and destroyed once.
        unsafe { sys::cuLinkDestroy(self.0) };
    }
}

impl Linker {
    fn new() -> Result<Self, Status> {
        type Typed = unsafe extern "C" fn(
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
            *mut CUlinkState,
        ) -> CUresult;
        type Plain = unsafe extern "C" fn(
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
            *mut CUlinkState,
        ) -> c_int;
        // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
        let create = unsafe { transmute::<Typed, Plain>(sys::cuLinkCreate_v2) };
        let mut state = null_mut();
        // SAFETY: no options, and room for the answer.
        Status(unsafe { create(0, null_mut(), null_mut(), &mut state) }).ok()?;
        Ok(Linker(state))
    }

    fn add(&mut self, ptx: &CStr, max_registers: u32) -> Result<(), Status> {
        type Typed = unsafe extern "C" fn(
            CUlinkState,
            CUjitInputType,
            *mut c_void,
            usize,
            *const c_char,
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
        ) -> CUresult;
        type Plain = unsafe extern "C" fn(
            CUlinkState,
            CUjitInputType,
            *mut c_void,
            usize,
            *const c_char,
            c_uint,
            *mut CUjit_option,
            *mut *mut c_void,
        ) -> c_int;
        // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
        let add = unsafe { transmute::<Typed, Plain>(sys::cuLinkAddData_v2) };
        let mut options = [CUjit_option::CU_JIT_MAX_REGISTERS];
        // A number itself, where others are pointers.
        let mut values = [max_registers as usize as *mut c_void];
        let text = ptx.to_bytes_with_nul();
        // SAFETY: the text ends in a NUL and is not changed; one option with its value.
        Status(unsafe {
            add(
                self.0,
                CUjitInputType::CU_JIT_INPUT_PTX,
                text.as_ptr().cast_mut().cast(),
                text.len(),
                c"kernels".as_ptr(),
                1,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            )
        })
        .ok()
    }

    fn complete(self) -> Result<Vec<u8>, Status> {
        type Typed = unsafe extern "C" fn(CUlinkState, *mut *mut c_void, *mut usize) -> CUresult;
        type Plain = unsafe extern "C" fn(CUlinkState, *mut *mut c_void, *mut usize) -> c_int;
        // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
        let complete = unsafe { transmute::<Typed, Plain>(sys::cuLinkComplete) };
        let (mut cubin, mut bytes) = (null_mut(), 0);
        // SAFETY: room for the answers.
        Status(unsafe { complete(self.0, &mut cubin, &mut bytes) }).ok()?;
        if cubin.is_null() {
            return Err(Status::NOT_FOUND);
        }
        // SAFETY: the linker owns so many bytes there, until it is destroyed.
        Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec())
    }
}

/// The machine code of `ptx` for the current context's device, with at most so many registers for a lane.
pub(crate) fn link(ptx: &CStr, max_registers: u32) -> Result<Vec<u8>, Status> {
    let mut linker = Linker::new()?;
    linker.add(ptx, max_registers)?;
    linker.complete()
}
