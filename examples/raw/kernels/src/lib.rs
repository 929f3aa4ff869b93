//! Kernels with a heap, compiled by `cargo build --target nvptx64-nvidia-cuda` and nothing else.
//!
//! | file | what |
//! |---|---|
//! | `blocks` | the kernel of the documentation: each lane one block, by pointer |
//! | `requests` | each lane one malloc or one free: by handle, by pointer, through Rust's allocator |
//! | `contents` | whether blocks hold what was written to them |
//! | `collections`, `job` | `Vec` and `Box` in branches, and what a lane does with them: the host does the same |
//! | `refusals` | requests that get null |
#![cfg(target_arch = "nvptx64")]
#![no_std]
#![feature(abi_ptx, asm_experimental_arch)]

extern crate alloc;

mod blocks;
mod collections;
mod contents;
mod job;
mod refusals;
mod requests;

use warpheap_raw::{GlobalHeap, WarpHeap};

/// Where `Vec` and `Box` allocate. The host binds it by its name.
#[global_allocator]
#[unsafe(no_mangle)]
static WARPHEAP: GlobalHeap<WarpHeap> = GlobalHeap::unbound();

/// The launch fails with an error that the host sees.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // SAFETY: ends the kernel.
    unsafe { core::arch::asm!("trap;", options(noreturn, nomem, nostack)) }
}
