//! Where functions can be called with words in registers: on CUDA. SPIR-V has no calls that keep pointers to a heap, and on
//! the host nothing is won by one.

/// Keeps what it is given on targets with such calls.
#[cfg(target_arch = "nvptx64")]
macro_rules! where_calls {
    ($($code:tt)*) => { $($code)* };
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! where_calls {
    ($($code:tt)*) => {};
}

/// Keeps what it is given on the others.
#[cfg(target_arch = "nvptx64")]
macro_rules! where_no_calls {
    ($($code:tt)*) => {};
}
#[cfg(not(target_arch = "nvptx64"))]
macro_rules! where_no_calls {
    ($($code:tt)*) => { $($code)* };
}

pub(crate) use {where_calls, where_no_calls};
