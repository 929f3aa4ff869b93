//! The functions of the driver's library that are used here, found when the first one is called.
//!
//! Nothing is linked, so nothing has to be there to build a program, and a program starts on a machine without a driver. There every
//! call answers [`NO_DRIVER`]. Answers are integers: a newer driver has codes that nobody here knows.

#![allow(
    non_snake_case,
    reason = "the functions are called what the driver calls them"
)]

use libloading::Library;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// The driver's library.
const LIBRARY: &str = match cfg!(windows) {
    true => "nvcuda.dll",
    false => "libcuda.so.1",
};

/// What a call answers without a driver: `CUDA_ERROR_STUB_LIBRARY`.
pub(crate) const NO_DRIVER: c_int = 34;
/// What a call answers that a driver lacks: `CUDA_ERROR_NOT_FOUND`.
const NO_FUNCTION: c_int = 500;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident = $opaque:ident;)*) => {$(
        #[doc(hidden)]
        pub(crate) enum $opaque {}
        $(#[$doc])*
        pub(crate) type $name = *mut $opaque;
    )*};
}

handles! {
    /// A context of a device.
    CUcontext = Context;
    /// A point in a stream.
    CUevent = Event;
    /// A kernel of a module.
    CUfunction = Function;
    /// A linker.
    CUlinkState = LinkState;
    /// Kernels that were loaded.
    CUmodule = Module;
    /// A stream.
    CUstream = Stream;
}

/// A number that names a device.
pub(crate) type CUdevice = c_int;

/// Flags of a stream: it waits for no other one.
pub(crate) const STREAM_NON_BLOCKING: c_uint = 1;

/// Flags of events.
pub(crate) mod event {
    pub(crate) const DEFAULT: u32 = 0;
    pub(crate) const DISABLE_TIMING: u32 = 2;
}

/// Options of the compiler.
pub(crate) mod jit {
    pub(crate) const MAX_REGISTERS: i32 = 0;
    pub(crate) const ERROR_LOG_BUFFER: i32 = 5;
    pub(crate) const ERROR_LOG_BUFFER_SIZE_BYTES: i32 = 6;
    /// What is added to a linker is PTX.
    pub(crate) const INPUT_PTX: i32 = 1;
}

/// Limits of a context.
pub(crate) mod limit {
    pub(crate) const STACK_SIZE: i32 = 0;
    pub(crate) const MALLOC_HEAP_SIZE: i32 = 2;
}

/// What a device can be asked.
pub(crate) mod device {
    pub(crate) const MAX_THREADS_PER_BLOCK: i32 = 1;
    pub(crate) const MAX_GRID_DIM_X: i32 = 5;
    pub(crate) const WARP_SIZE: i32 = 10;
    pub(crate) const COMPUTE_MODE: i32 = 20;
    pub(crate) const PCI_BUS_ID: i32 = 33;
    pub(crate) const PCI_DEVICE_ID: i32 = 34;
    pub(crate) const PCI_DOMAIN_ID: i32 = 50;
    pub(crate) const COMPUTE_CAPABILITY_MAJOR: i32 = 75;
    pub(crate) const COMPUTE_CAPABILITY_MINOR: i32 = 76;
}

/// What a kernel can be asked.
pub(crate) mod function {
    pub(crate) const MAX_THREADS_PER_BLOCK: i32 = 0;
    pub(crate) const SHARED_SIZE_BYTES: i32 = 1;
    pub(crate) const LOCAL_SIZE_BYTES: i32 = 3;
    pub(crate) const NUM_REGS: i32 = 4;
}

/// Memory that is mapped at reserved addresses.
pub(crate) mod vmm {
    use super::CUdevice;
    use std::ffi::{c_int, c_void};

    /// What a device is asked: whether it maps memory.
    pub(crate) const SUPPORTED: c_int = 102;
    /// The least granularity.
    pub(crate) const MINIMUM: c_int = 0;
    const PINNED: c_int = 1;
    const ON_DEVICE: c_int = 1;
    const READ_AND_WRITE: c_int = 3;

    /// `CUmemLocation`.
    #[repr(C)]
    struct Location {
        kind: c_int,
        id: c_int,
    }

    /// `CUmemAllocationProp`.
    #[repr(C)]
    pub(crate) struct Properties {
        kind: c_int,
        handle_kinds: c_int,
        location: Location,
        win32: *mut c_void,
        flags: [u8; 8],
    }

    /// `CUmemAccessDesc`.
    #[repr(C)]
    pub(crate) struct Access {
        location: Location,
        flags: c_int,
    }

    impl Location {
        fn of(device: CUdevice) -> Self {
            Location {
                kind: ON_DEVICE,
                id: device,
            }
        }
    }

    impl Properties {
        /// Memory of a device.
        pub(crate) fn of(device: CUdevice) -> Self {
            Properties {
                kind: PINNED,
                handle_kinds: 0,
                location: Location::of(device),
                win32: std::ptr::null_mut(),
                flags: [0; 8],
            }
        }
    }

    impl Access {
        /// Reads and writes by a device.
        pub(crate) fn of(device: CUdevice) -> Self {
            Access {
                location: Location::of(device),
                flags: READ_AND_WRITE,
            }
        }
    }

    // As in cuda.h for 64-bit systems.
    const _: () = assert!(size_of::<Properties>() == 32 && size_of::<Access>() == 12);
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $kind:ty),* $(,)?);)*) => {
        /// Where the functions are; of one that the driver lacks nothing.
        struct Functions {
            $($name: Option<unsafe extern "C" fn($($kind),*) -> c_int>,)*
            /// Stays loaded as long as the process runs.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Self {
                Functions {
                    // SAFETY: the type is that of the driver's function of this name, and the library is kept.
                    $($name: unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) }.ok().map(|found| *found),)*
                    _library: library,
                }
            }
        }

        $(
            /// The driver's function of this name.
            ///
            /// # Safety
            /// What CUDA's documentation asks of its arguments.
            #[inline]
            #[allow(clippy::too_many_arguments, reason = "the driver's")]
            pub(crate) unsafe fn $name($($argument: $kind),*) -> c_int {
                match functions().map(|functions| functions.$name) {
                    // SAFETY: the caller's promise.
                    Some(Some(call)) => unsafe { call($($argument),*) },
                    Some(None) => NO_FUNCTION,
                    None => NO_DRIVER,
                }
            }
        )*
    };
}

functions! {
    cuInit(flags: c_uint);
    cuDriverGetVersion(version: *mut c_int);
    cuGetErrorName(code: c_int, text: *mut *const c_char);
    cuGetErrorString(code: c_int, text: *mut *const c_char);

    cuDeviceGetCount(count: *mut c_int);
    cuDeviceGet(device: *mut CUdevice, index: c_int);
    cuDeviceGetName(name: *mut c_char, room: c_int, device: CUdevice);
    cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, device: CUdevice);

    cuDeviceCanAccessPeer(can: *mut c_int, device: CUdevice, peer: CUdevice);

    cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    cuDevicePrimaryCtxRelease_v2(device: CUdevice);
    cuCtxSetCurrent(context: CUcontext);
    cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);
    cuCtxGetLimit(value: *mut usize, limit: c_int);
    cuCtxSetLimit(limit: c_int, value: usize);

    cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    cuMemAlloc_v2(address: *mut u64, bytes: usize);
    cuMemFree_v2(address: u64);
    cuMemGetAllocationGranularity(bytes: *mut usize, properties: *const vmm::Properties, which: c_int);
    cuMemAddressReserve(address: *mut u64, bytes: usize, alignment: usize, wish: u64, flags: u64);
    cuMemAddressFree(address: u64, bytes: usize);
    cuMemCreate(handle: *mut u64, bytes: usize, properties: *const vmm::Properties, flags: u64);
    cuMemRelease(handle: u64);
    cuMemMap(address: u64, bytes: usize, offset: usize, handle: u64, flags: u64);
    cuMemUnmap(address: u64, bytes: usize);
    cuMemSetAccess(address: u64, bytes: usize, access: *const vmm::Access, count: usize);
    cuMemHostAlloc(start: *mut *mut c_void, bytes: usize, flags: c_uint);
    cuMemFreeHost(start: *mut c_void);
    cuMemcpyHtoD_v2(to: u64, from: *const c_void, bytes: usize);
    cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, bytes: usize, stream: CUstream);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, bytes: usize, stream: CUstream);
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, stream: CUstream);
    cuMemcpyPeerAsync(
        to: u64,
        to_context: CUcontext,
        from: u64,
        from_context: CUcontext,
        bytes: usize,
        stream: CUstream,
    );
    cuMemsetD32Async(at: u64, value: c_uint, words: usize, stream: CUstream);

    cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    cuStreamCreateWithPriority(stream: *mut CUstream, flags: c_uint, priority: c_int);
    cuStreamDestroy_v2(stream: CUstream);
    cuStreamSynchronize(stream: CUstream);
    cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
    cuEventCreate(event: *mut CUevent, flags: c_uint);
    cuEventDestroy_v2(event: CUevent);
    cuEventRecord(event: CUevent, stream: CUstream);
    cuEventQuery(event: CUevent);
    cuEventSynchronize(event: CUevent);
    cuEventElapsedTime(millis: *mut f32, from: CUevent, to: CUevent);

    cuModuleLoadDataEx(
        module: *mut CUmodule,
        image: *const c_void,
        options: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
    );
    cuModuleUnload(module: CUmodule);
    cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    cuModuleGetGlobal_v2(address: *mut u64, bytes: *mut usize, module: CUmodule, name: *const c_char);
    cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: CUfunction);
    cuFuncGetModule(module: *mut CUmodule, function: CUfunction);
    cuLaunchKernel(
        function: CUfunction,
        grid_x: c_uint,
        grid_y: c_uint,
        grid_z: c_uint,
        block_x: c_uint,
        block_y: c_uint,
        block_z: c_uint,
        shared_bytes: c_uint,
        stream: CUstream,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void,
    );

    cuLinkCreate_v2(
        options: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
        state: *mut CUlinkState,
    );
    cuLinkAddData_v2(
        state: CUlinkState,
        kind: c_int,
        data: *mut c_void,
        bytes: usize,
        name: *const c_char,
        options: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
    );
    cuLinkComplete(state: CUlinkState, cubin: *mut *mut c_void, bytes: *mut usize);
    cuLinkDestroy(state: CUlinkState);
}

/// The functions, if there is a driver. It is looked for once.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| load(LIBRARY)).as_ref()
}

fn load(library: &str) -> Option<Functions> {
    // SAFETY: the driver's library may be loaded by anybody at any time.
    match unsafe { Library::new(library) } {
        Ok(library) => Some(Functions::of(library)),
        Err(error) => {
            tracing::debug!(%error, "no CUDA driver");
            None
        }
    }
}

/// What is said where there is no driver.
pub(crate) fn no_driver() -> Option<String> {
    match functions() {
        Some(_) => None,
        None => Some(format!("no NVIDIA driver: {LIBRARY} cannot be loaded")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_no_driver() {
        assert!(load("libno-such-driver.so.1").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_library_without_the_functions_lacks_each() {
        let c = load("libc.so.6").expect("the C library loads");
        assert!(c.cuInit.is_none() && c.cuLaunchKernel.is_none());
    }

    #[test]
    fn without_a_driver_calls_say_so_and_with_one_they_start_it() {
        // SAFETY: no arguments but the flags, which must be 0.
        let status = unsafe { cuInit(0) };
        match no_driver() {
            Some(why) => {
                assert_eq!(status, NO_DRIVER);
                assert!(why.contains(LIBRARY), "{why}");
            }
            None => assert_ne!(status, NO_FUNCTION),
        }
    }
}
