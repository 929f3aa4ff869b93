//! The functions of NCCL that are used here, found when the first one is called.
//!
//! Nothing is linked: a program starts without the library. The crate `cudarc` binds NCCL, too, but does not find the file by the one name
//! that packages give it.

#![allow(
    non_snake_case,
    reason = "the functions are called what NCCL calls them"
)]

use libloading::Library;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

/// The library as Debian's package and NVIDIA's wheel name it.
pub const FILE: &str = "libnccl.so.2";

/// The type of bytes, in NCCL's count of types.
pub const BYTES: c_int = 1;

/// What the ranks of a communicator have in common.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct UniqueId(pub [u8; 128]);

/// A communicator; NCCL alone knows what is in it.
pub type Comm = *mut c_void;
/// A stream of CUDA.
pub type Stream = *mut c_void;

macro_rules! functions {
    ($($name:ident: fn($($kind:ty),*) $(-> $back:ty)?;)*) => {
        /// The functions, and the library that they are of.
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($kind),*) $(-> $back)?,)*
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Result<Self, libloading::Error> {
                Ok(Functions {
                    // SAFETY: the type is that of the library's function of this name, and the library is kept.
                    $($name: unsafe { *library.get(concat!(stringify!($name), "\0").as_bytes())? },)*
                    _library: library,
                })
            }
        }
    };
}

functions! {
    ncclGetVersion: fn(*mut c_int) -> c_int;
    ncclGetErrorString: fn(c_int) -> *const c_char;
    ncclGetUniqueId: fn(*mut UniqueId) -> c_int;
    ncclCommInitRank: fn(*mut Comm, c_int, UniqueId, c_int) -> c_int;
    ncclGroupStart: fn() -> c_int;
    ncclGroupEnd: fn() -> c_int;
    ncclSend: fn(*const c_void, usize, c_int, c_int, Comm, Stream) -> c_int;
    ncclRecv: fn(*mut c_void, usize, c_int, c_int, Comm, Stream) -> c_int;
}

/// The library, or why there is none.
pub fn functions() -> Result<&'static Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    let load = || {
        // SAFETY: NCCL's initialisers have no requirements.
        let library = unsafe { Library::new(FILE) };
        let functions = library.and_then(Functions::of);
        functions.map_err(|error| format!("{error}; Debian has it as libnccl2, and NVIDIA's wheel"))
    };
    FUNCTIONS.get_or_init(load).as_ref().map_err(String::clone)
}

impl Functions {
    /// What an answer means; nothing if the call was successful.
    pub fn refusal(&self, answer: c_int) -> Option<String> {
        if answer == 0 {
            return None;
        }
        // SAFETY: any number is allowed.
        let text = unsafe { (self.ncclGetErrorString)(answer) };
        if text.is_null() {
            return Some(format!("error {answer}"));
        }
        // SAFETY: NCCL's texts are constants.
        let text = unsafe { CStr::from_ptr(text) };
        Some(text.to_string_lossy().into_owned())
    }

    /// The version, as people write it.
    pub fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: room for the answer.
        unsafe { (self.ncclGetVersion)(&mut version) };
        // Since 2.9 there are two digits for the minor one.
        let [major, minor] = match version >= 10_000 {
            true => [version / 10_000, version % 10_000 / 100],
            false => [version / 1000, version % 1000 / 100],
        };
        format!("{major}.{minor}.{}", version % 100)
    }
}
