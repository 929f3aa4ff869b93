//! With which flags device code is compiled. They go into the hash of the sources, so they stand below it.

pub(crate) mod ptx;
pub(crate) mod spirv;
