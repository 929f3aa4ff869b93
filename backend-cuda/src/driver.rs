//! The few calls of the driver that `cust` lacks, or whose answer it does not pass on.
//!
//! `cust` turns every code that it has no name for into "unknown error": a missing driver, a PTX
//! version that is too new, a fabric manager that does not run. Those are what users meet, so the
//! calls that return them are made here. The driver's answers are taken as integers: a newer driver
//! has codes that the enum of the bindings has not.

use crate::status::Status;
use cust::sys::{self, CUfunction, CUjit_option, CUresult, CUstream};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use warpheap_api::abi::ArgBlock;

/// Starts the driver; the first call of all. Calling it again is harmless.
pub(crate) fn init() -> Result<(), Status> {
    type Init = unsafe extern "C" fn(c_uint) -> c_int;
    // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
    let init = unsafe {
        transmute::<unsafe extern "C" fn(c_uint) -> CUresult, Init>(
            sys::cuInit as unsafe extern "C" fn(c_uint) -> CUresult,
        )
    };
    // SAFETY: no arguments but the flags, which must be 0.
    Status(unsafe { init(0) }).ok()
}

/// The driver's name and text for a code; `None` for a code that it does not know, or without driver.
pub(crate) fn describe(code: i32) -> Option<(String, String)> {
    type Typed = unsafe extern "C" fn(CUresult, *mut *const c_char) -> CUresult;
    type Plain = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
    let ask = |call: Typed| {
        // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
        let call = unsafe { transmute::<Typed, Plain>(call) };
        let mut text: *const c_char = std::ptr::null();
        // SAFETY: any integer may be asked about; the answer is a static string or null.
        let status = unsafe { call(code, &mut text) };
        if status != 0 || text.is_null() {
            return None;
        }
        // SAFETY: the driver's string ends in a NUL and lives as long as the driver.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    };
    Some((ask(sys::cuGetErrorName)?, ask(sys::cuGetErrorString)?))
}

/// Compiles PTX for the current context and throws the result away: for the compiler's messages and
/// the true code, after [`cust::module::Module`] refused the text.
pub(crate) fn compiler_messages(ptx: &CStr) -> (Status, String) {
    type Typed = unsafe extern "C" fn(
        *mut sys::CUmodule,
        *const c_void,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> CUresult;
    type Plain = unsafe extern "C" fn(
        *mut sys::CUmodule,
        *const c_void,
        c_uint,
        *mut CUjit_option,
        *mut *mut c_void,
    ) -> c_int;
    const BYTES: usize = 8 << 10;
    let mut log = vec![0u8; BYTES];
    let mut options = [
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER,
        CUjit_option::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
    ];
    // This one call takes numbers themselves where others take pointers to them.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), BYTES as *mut c_void];
    let mut module = null_mut();
    // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
    let load = unsafe { transmute::<Typed, Plain>(sys::cuModuleLoadDataEx) };
    // SAFETY: the image ends in a NUL; two options with two values; the log outlives the call and is
    // as large as it says.
    let status = Status(unsafe {
        load(
            &mut module,
            ptx.as_ptr().cast(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr(),
        )
    });
    if status.0 == 0 && !module.is_null() {
        // SAFETY: just loaded, and nothing of it was handed out.
        unsafe { sys::cuModuleUnload(module) };
    }
    (status, log_text(&log))
}

/// The text in a log buffer: up to the first NUL, without blank ends.
fn log_text(log: &[u8]) -> String {
    let end = log.iter().position(|&b| b == 0).unwrap_or(log.len());
    String::from_utf8_lossy(&log[..end]).trim().to_string()
}

/// Queues a kernel that takes one block of arguments by value.
///
/// # Safety
/// `kernel` is a function of a loaded module of the current context that has one parameter of the size
/// of the block, the addresses in it are valid for what the kernel does until it ends, and `stream` is
/// a stream of that context.
pub(crate) unsafe fn launch(
    kernel: CUfunction,
    grid_dim: u32,
    block_dim: u32,
    stream: CUstream,
    args: &ArgBlock,
) -> Result<(), Status> {
    type Typed = unsafe extern "C" fn(
        CUfunction,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        CUstream,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> CUresult;
    type Plain = unsafe extern "C" fn(
        CUfunction,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        c_uint,
        CUstream,
        *mut *mut c_void,
        *mut *mut c_void,
    ) -> c_int;
    // One pointer per parameter; the driver copies what it points to before the call returns.
    let mut parameters = [std::ptr::from_ref(args).cast_mut().cast::<c_void>()];
    // SAFETY: CUresult is a C enum of the size of an int, so both types are called alike.
    let call = unsafe { transmute::<Typed, Plain>(sys::cuLaunchKernel) };
    // SAFETY: the caller vouches for kernel, stream and arguments; `parameters` has one entry for the
    // one parameter.
    Status(unsafe {
        call(
            kernel,
            grid_dim,
            1,
            1,
            block_dim,
            1,
            1,
            0,
            stream,
            parameters.as_mut_ptr(),
            null_mut(),
        )
    })
    .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_ends_at_its_nul() {
        assert_eq!(log_text(b"ptxas fatal : no\n\0\0rest"), "ptxas fatal : no");
        assert_eq!(log_text(b"full"), "full");
        assert_eq!(log_text(b"\0"), "");
    }

    #[test]
    fn a_kernel_takes_one_parameter_of_128_bytes() {
        assert_eq!(size_of::<ArgBlock>(), 128);
        assert_eq!(align_of::<ArgBlock>(), 4);
    }
}
