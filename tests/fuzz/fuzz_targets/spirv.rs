//! Stored SPIR-V, and the lint.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpheap_fuzz::spirv::run(bytes));
