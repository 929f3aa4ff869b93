//! The programs of the how-to pages do in the emulator what the pages say.

use warpheap::{BackendKind, Device};
use warpheap_book::{debugging, two_heaps};

fn emulator() -> Device {
    Device::open_backend(BackendKind::Host, None).expect("the emulator is always there")
}

#[test]
fn lists_are_kept_in_one_heap_and_made_in_another() {
    two_heaps::host::main(&emulator()).expect("the page's program");
}

#[test]
fn requests_are_refused_and_counted() {
    debugging::host::refused(&emulator()).expect("the page's loop");
    debugging::host::counted(&emulator()).expect("the page's statistics");
}

#[test]
fn a_budget_and_a_trace_are_kept() {
    debugging::host::limited(&emulator()).expect("the page's budget");
    debugging::host::traced(&emulator()).expect("the page's trace");
}
