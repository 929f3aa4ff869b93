//! FASTA files.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| warpheap_fuzz::sequences::run(bytes));
