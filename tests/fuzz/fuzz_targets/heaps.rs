//! Programs of heap operations.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpheap_fuzz::heaps::run(bytes));
