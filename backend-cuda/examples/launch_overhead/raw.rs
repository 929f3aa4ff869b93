//! The driver itself, with the same kernel and arguments.

use crate::common::IMAGE;
use libloading::{Library, Symbol};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::ptr::null_mut;
use warpheap_api::abi::ArgBlock;

/// A handle of the driver.
type Handle = *mut c_void;
type Launch = unsafe extern "C" fn(
    Handle,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    c_uint,
    Handle,
    *mut *mut c_void,
    *mut *mut c_void,
) -> c_int;

/// A kernel that does nothing, and a stream, in the primary context of the first GPU.
pub struct Raw {
    driver: Library,
    context: Handle,
    kernel: Handle,
    stream: Handle,
}

impl Raw {
    /// Loads the kernel. The driver was started before.
    pub fn new() -> Self {
        // SAFETY: the driver's library may be loaded by anybody.
        let driver = unsafe { Library::new("libcuda.so.1") }.unwrap();
        let text = CString::new(IMAGE.ptx.unwrap()).unwrap();
        let [mut context, mut module, mut kernel, mut stream] = [null_mut(); 4];
        // SAFETY: the types are those of the functions; room for each answer; 0 is the first GPU, 1 a stream that waits for no other.
        unsafe {
            let retain: Symbol<unsafe extern "C" fn(*mut Handle, c_int) -> c_int> =
                driver.get(b"cuDevicePrimaryCtxRetain\0").unwrap();
            assert_eq!(retain(&mut context, 0), 0);
            make_current(&driver, context);
            let load: Symbol<unsafe extern "C" fn(*mut Handle, *const c_char) -> c_int> =
                driver.get(b"cuModuleLoadData\0").unwrap();
            assert_eq!(load(&mut module, text.as_ptr()), 0);
            let find: Symbol<unsafe extern "C" fn(*mut Handle, Handle, *const c_char) -> c_int> =
                driver.get(b"cuModuleGetFunction\0").unwrap();
            assert_eq!(find(&mut kernel, module, c"empty_l1".as_ptr()), 0);
            let create: Symbol<unsafe extern "C" fn(*mut Handle, c_uint) -> c_int> =
                driver.get(b"cuStreamCreate\0").unwrap();
            assert_eq!(create(&mut stream, 1), 0);
        }
        Raw {
            driver,
            context,
            kernel,
            stream,
        }
    }

    /// So many launches, waited for.
    pub fn launches(&self, count: usize) {
        let args = ArgBlock { words: [0; 32] };
        let mut parameters = [std::ptr::from_ref(&args).cast_mut().cast::<c_void>()];
        let parameters = parameters.as_mut_ptr();
        // SAFETY: the types are those of the functions; kernel and stream are of the context, and the kernel has one parameter of this
        // size, which it does not look at.
        unsafe {
            make_current(&self.driver, self.context);
            let launch: Symbol<Launch> = self.driver.get(b"cuLaunchKernel\0").unwrap();
            let wait: Symbol<unsafe extern "C" fn(Handle) -> c_int> =
                self.driver.get(b"cuStreamSynchronize\0").unwrap();
            let (kernel, stream) = (self.kernel, self.stream);
            for _ in 0..count {
                let status = launch(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, null_mut());
                assert_eq!(status, 0);
            }
            assert_eq!(wait(stream), 0);
        }
    }
}

/// # Safety
/// The context is one that the driver named.
unsafe fn make_current(driver: &Library, context: Handle) {
    // SAFETY: the type is that of the function.
    let set: Symbol<unsafe extern "C" fn(Handle) -> c_int> =
        unsafe { driver.get(b"cuCtxSetCurrent\0") }.unwrap();
    // SAFETY: the caller's promise.
    assert_eq!(unsafe { set(context) }, 0);
}
