//! Manifests of prebuilt images.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpheap_fuzz::manifests::run(bytes));
