//! PTX whose functions are compiled once each.
//!
//! The driver's plain way to load PTX compiles every kernel with all that it may call, again for each. Calls
//! through pointers may reach every function whose address is taken, which in modules with Rust's own
//! collections is all of formatting: a dozen kernels take minutes. Its linker compiles functions apart from
//! each other instead, which takes seconds, and links them.

use crate::status::{Status, ask};
use crate::sys::{self, CUlinkState, jit};
use std::ffi::{CStr, c_void};
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
        let mut state = null_mut();
        // SAFETY: no options, and room for the answer.
        unsafe { ask!(cuLinkCreate_v2(0, null_mut(), null_mut(), &mut state)) }?;
        Ok(Linker(state))
    }

    fn add(&mut self, ptx: &CStr, max_registers: Option<u32>) -> Result<(), Status> {
        let mut options = [jit::MAX_REGISTERS];
        // A number itself, where others are pointers.
        let mut values = [max_registers.unwrap_or(0) as usize as *mut c_void];
        let text = ptx.to_bytes_with_nul();
        // SAFETY: the text ends in a NUL and is not changed; at most one option with its value.
        unsafe {
            ask!(cuLinkAddData_v2(
                self.0,
                jit::INPUT_PTX,
                text.as_ptr().cast_mut().cast(),
                text.len(),
                c"kernels".as_ptr(),
                u32::from(max_registers.is_some()),
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            ))
        }?;
        Ok(())
    }

    fn complete(self) -> Result<Vec<u8>, Status> {
        let (mut cubin, mut bytes) = (null_mut(), 0);
        // SAFETY: room for the answers.
        unsafe { ask!(cuLinkComplete(self.0, &mut cubin, &mut bytes)) }?;
        if cubin.is_null() {
            return Err(Status::NOT_FOUND);
        }
        // SAFETY: the linker owns so many bytes there, until it is destroyed.
        Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), bytes) }.to_vec())
    }
}

/// The machine code of `ptx` for the current context's device, with at most so many registers for a lane.
pub(crate) fn link(ptx: &CStr, max_registers: Option<u32>) -> Result<Vec<u8>, Status> {
    let mut linker = Linker::new()?;
    linker.add(ptx, max_registers)?;
    linker.complete()
}
