//! Sizes on the command line.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpheap_fuzz::sizes::run(bytes));
