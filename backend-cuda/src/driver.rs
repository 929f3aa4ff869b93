//! The driver as a whole, its compiler's messages, and a launch.

use crate::status::{Refused, Status, ask};
use crate::sys::{self, CUfunction, CUstream, jit};
use std::ffi::{CStr, c_void};
use std::ptr::null_mut;
use warpheap_api::abi::ArgBlock;

/// Starts the driver; the first call of all. Calling it again is harmless.
pub(crate) fn init() -> Result<(), Refused> {
    // SAFETY: no arguments but the flags, which must be 0.
    unsafe { ask!(cuInit(0)) }
}

/// The version of CUDA that the driver has: 12080 is 12.8.
pub(crate) fn version() -> Result<i32, Refused> {
    let mut version = 0;
    // SAFETY: room for the answer.
    unsafe { ask!(cuDriverGetVersion(&mut version)) }?;
    Ok(version)
}

/// Compiles PTX for the current context and throws the result away: for the compiler's messages and
/// the code, after loading the text was refused.
pub(crate) fn compiler_messages(ptx: &CStr) -> (Status, String) {
    const BYTES: usize = 8 << 10;
    let mut log = vec![0u8; BYTES];
    let mut options = [jit::ERROR_LOG_BUFFER, jit::ERROR_LOG_BUFFER_SIZE_BYTES];
    // This one call takes numbers themselves where others take pointers to them.
    let mut values = [log.as_mut_ptr().cast::<c_void>(), BYTES as *mut c_void];
    let mut module = null_mut();
    // SAFETY: the image ends in a NUL; two options with two values; the log outlives the call and is
    // as large as it says.
    let status = Status(unsafe {
        sys::cuModuleLoadDataEx(
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
) -> Result<(), Refused> {
    // One pointer per parameter; the driver copies what it points to before the call returns.
    let mut parameters = [std::ptr::from_ref(args).cast_mut().cast::<c_void>()];
    // SAFETY: the caller vouches for kernel, stream and arguments; `parameters` has one entry for the
    // one parameter.
    unsafe {
        ask!(cuLaunchKernel(
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
        ))
    }
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
