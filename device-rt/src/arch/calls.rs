//! What compiles where.
//!
//! Functions can be called with words in registers on CUDA. SPIR-V has no calls that keep pointers to a heap, and on the host
//! nothing is won by one.

/// Keeps what it is given on targets with such calls.
#[cfg(target_arch = "nvptx64")]
macro_rules! where_calls {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! where_calls {
    ($($code:tt)*) => {};
}

/// Keeps what it is given on these targets, and where the library's own tests look at it.
#[cfg(any(target_arch = "nvptx64", test))]
macro_rules! where_calls_or_tests {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(any(target_arch = "nvptx64", test)))]
macro_rules! where_calls_or_tests {
    ($($code:tt)*) => {};
}

/// Keeps what it is given on targets without such calls.
#[cfg(target_arch = "nvptx64")]
macro_rules! where_no_calls {
    ($($code:tt)*) => {};
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! where_no_calls {
    ($($code:tt)*) => { $($code)* };
}

/// Keeps what it is given on targets that compile all of Rust's core: numbers of 8, 16 and 64 bits, functions by pointer. Not
/// on Vulkan.
#[cfg(not(target_arch = "spirv"))]
macro_rules! where_all_of_rust {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(target_arch = "spirv")]
macro_rules! where_all_of_rust {
    ($($code:tt)*) => {};
}

pub(crate) use {where_all_of_rust, where_calls, where_calls_or_tests, where_no_calls};
