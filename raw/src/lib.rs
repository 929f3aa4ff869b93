//! warpheap's heaps for kernels that any tool compiles and any host program launches: the *raw door*.
//!
//! The rest of the library wants kernels that carry `#[kernel]`, a build script of its own and a host program that launches
//! through it. This crate wants none of the three. Its device half is `no_std` and compiles with plain
//! `cargo build --target nvptx64-nvidia-cuda`; its host half, the feature `host`, tells what to write to memory that the
//! program got from wherever it gets device memory.
//!
//! | on the device | what |
//! |---|---|
//! | [`RawHeap`] | which heap: an ordinary value, 56 bytes, among the arguments of a kernel or in a static |
//! | [`Heap`] | the same heap, to allocate from: [`RawHeap::attach`] makes it |
//! | [`Pointers`] | blocks as pointers instead of handles |
//! | [`GlobalHeap`] | Rust's global allocator: `Vec`, `Box`, `BTreeMap` in kernels |
//! | the allocators | [`WarpHeap`] and all others; [`container`] has what grows in their heaps |
//!
//! | on the host | what |
//! |---|---|
//! | `host::Layout` | what a heap of some size is made of: ranges of words to set, and the [`RawHeap`] for an address |
//! | `host::ptx` | what makes PTX of this crate faster, and what checks it |
//!
//! ```text
//! #[unsafe(no_mangle)]
//! pub unsafe extern "ptx-kernel" fn fill(heap: RawHeap, out: *mut *mut u8) {
//!     // SAFETY: the host laid this heap out for `WarpHeap`.
//!     let Some(heap) = (unsafe { heap.attach::<WarpHeap>() }) else { return };
//!     let block = heap.malloc_ptr(layout::bytes(64)); // null if there is no room
//!     …
//! }
//! ```
//!
//! `docs/raw.md` has the whole story: flags, what a kernel gets that the library's builder compiles and one of this crate does
//! not, and what it costs.
#![no_std]

#[cfg(feature = "host")]
extern crate std;

mod global;
mod heap;
#[cfg(feature = "host")]
pub mod host;
mod pointers;

pub use global::GlobalHeap;
pub use heap::RawHeap;
pub use pointers::Pointers;
pub use warpheap_api::{
    AllocError, DeviceAlloc, DevicePtr, HeapData, HeapHandle, HeapMemory, Layout, layout,
};
pub use warpheap_rt::adaptor::Counted;
pub use warpheap_rt::alloc::*;
// Who launches such kernels is told of no mistakes, so WARPHEAP_CHECK means nothing here.
pub use warpheap_rt::alloc::plain::WarpHeap;
pub use warpheap_rt::arch::Words;
pub use warpheap_rt::{Heap, container, heap_write, text, thread};
