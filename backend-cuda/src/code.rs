//! Kernels on the device: what the driver loads, and what is in it.

use crate::status::{Refused, Status, ask};
use crate::sys::{self, CUfunction, CUmodule, jit};
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

/// Kernels that the driver has loaded, unloaded when this is dropped.
pub(crate) struct Code(CUmodule);

// SAFETY: the handle is a number to the driver, which may be used from any thread.
unsafe impl Send for Code {}

impl Code {
    /// Compiles PTX for the current context's device, with at most so many registers for a lane, and loads it.
    pub(crate) fn of_ptx(ptx: &CStr, max_registers: u32) -> Result<Self, Refused> {
        let mut options = [jit::MAX_REGISTERS];
        // This one call takes numbers themselves where others take pointers to them.
        let mut values = [max_registers as usize as *mut c_void];
        let mut raw = null_mut();
        // SAFETY: the text ends in a NUL; one option with its value; room for the answer.
        unsafe {
            ask!(cuModuleLoadDataEx(
                &mut raw,
                ptx.as_ptr().cast(),
                1,
                options.as_mut_ptr(),
                values.as_mut_ptr(),
            ))
        }?;
        Ok(Code(raw))
    }

    /// Loads what the driver's linker made.
    pub(crate) fn of_cubin(cubin: &[u8]) -> Result<Self, Refused> {
        let mut raw = null_mut();
        // SAFETY: such a file says how large it is; no options; room for the answer.
        unsafe {
            ask!(cuModuleLoadDataEx(
                &mut raw,
                cubin.as_ptr().cast(),
                0,
                null_mut(),
                null_mut(),
            ))
        }?;
        Ok(Code(raw))
    }

    /// The kernel with this name.
    pub(crate) fn function(&self, name: &str) -> Result<CUfunction, Refused> {
        let Ok(name) = CString::new(name) else {
            return Err(Refused {
                call: "cuModuleGetFunction",
                status: Status::NOT_FOUND,
            });
        };
        let mut raw = null_mut();
        // SAFETY: the name ends in a NUL; room for the answer.
        unsafe { ask!(cuModuleGetFunction(&mut raw, self.0, name.as_ptr())) }?;
        Ok(raw)
    }

    /// Writes a variable, which has the size of `words`. The copy may still be on its way on the default stream when this returns.
    pub(crate) fn put(&self, name: &CStr, words: &[u32]) -> Result<(), Refused> {
        let address = variable(self.0, name, size_of_val(words))?;
        // SAFETY: the variable has so many bytes.
        unsafe {
            ask!(cuMemcpyHtoD_v2(
                address,
                words.as_ptr().cast(),
                size_of_val(words)
            ))
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        // SAFETY: loaded by one of the two, and unloaded once.
        unsafe { sys::cuModuleUnload(self.0) };
    }
}

/// What a kernel is asked; 0 if the answer makes no sense.
///
/// # Safety
/// `kernel` is a function of a loaded module of the current context.
pub(crate) unsafe fn attribute(kernel: CUfunction, attribute: i32) -> Result<u32, Refused> {
    let mut value = 0;
    // SAFETY: the caller's promise, and room for the answer.
    unsafe { ask!(cuFuncGetAttribute(&mut value, attribute, kernel)) }?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// Where a variable of `bytes` bytes lies that the module of a kernel has.
///
/// # Safety
/// `kernel` is a function of a loaded module of the current context.
pub(crate) unsafe fn variable_beside(
    kernel: CUfunction,
    name: &CStr,
    bytes: usize,
) -> Result<u64, Refused> {
    let mut module = null_mut();
    // SAFETY: the caller's promise, and room for the answer.
    unsafe { ask!(cuFuncGetModule(&mut module, kernel)) }?;
    variable(module, name, bytes)
}

/// Where a variable of `bytes` bytes of a module lies, which the driver has named.
fn variable(module: CUmodule, name: &CStr, bytes: usize) -> Result<u64, Refused> {
    let (mut address, mut size) = (0, 0);
    // SAFETY: the driver has named the module; room for the answers, and the name ends in a NUL.
    unsafe {
        ask!(cuModuleGetGlobal_v2(
            &mut address,
            &mut size,
            module,
            name.as_ptr()
        ))
    }?;
    match size == bytes {
        true => Ok(address),
        false => Err(Refused {
            call: "cuModuleGetGlobal",
            status: Status::NOT_FOUND,
        }),
    }
}
