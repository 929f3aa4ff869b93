//! Rust's own collections in kernels, on CUDA and on the host.
//!
//! | file | what |
//! |---|---|
//! | `heap` | [`CudaHeap`]: `Vec`, `Box`, `Rc`, `String`, `BTreeMap` of the crate `alloc` allocate in a heap that the host binds |
//! | `panic` | what a panic in a kernel tells the host |
//! | `allocator` | a [`Heap`](crate::Heap) as the allocator of one collection, `Vec<T, Heap<A>>` of the crate `allocator-api2` (feature `allocator-api2`) |
//!
//! A crate with such kernels says `alloc = true` in `package.metadata.warpheap` of its `Cargo.toml`, and
//!
//! ```text
//! #![cfg_attr(target_arch = "nvptx64", no_std)]
//! extern crate alloc;
//!
//! warpheap_rt::device_module!();
//! warpheap_rt::global_heap!(WarpHeap);
//! ```
//!
//! after which its kernels use the collections as any other code does. On CUDA the host first says where
//! they allocate, with `kernels.bind_heap(&pool)?`, a method that [`global_heap!`](crate::global_heap)
//! makes; kernels that allocate before end with a panic that says so. A crate that also says
//! `images = "by-allocator"` writes `global_heap!(all)`: its kernels are generic over the allocator, and their
//! collections allocate in a heap of the one that they are launched with. In the emulator the collections take
//! from the process's own allocator, since a process has but one. There is no `alloc` on Vulkan.
//!
//! # What it costs
//!
//! Kernels call the allocator as a function, where containers of this library have it in place. Lanes of a warp that
//! come together share the work as everywhere. 16 pushes onto a `Vec` in each of 2^20 lanes take 0.69 ms on an H200
//! with `WarpHeap`, 0.38 ms onto a `HeapVec`. A panic and what formats it cost registers and code in every kernel,
//! and there is no `alloc` on Vulkan. So kernels that need none of it are better off in a crate without it, with the
//! containers of
//! [`container`](crate::container).
//!
//! # Panics
//!
//! In the images of such a crate a panic ends the lane that panicked and no other; destructors do not run, so
//! what the lane had allocated stays. The launch fails with
//! the host's `DeviceError::Panic`, which carries message, file, line, block
//! and lane of the first one and the number of lanes that panicked. Other lanes must not wait for such a
//! lane: a collective operation that names it has undefined results, as after any return. A collection that
//! gets no memory panics like that, `memory allocation of 64 bytes failed`; the `try_reserve` functions
//! return an error instead.

#[cfg(feature = "allocator-api2")]
mod allocator;
mod heap;
#[cfg(warpheap_alloc)]
mod panic;

#[cfg(feature = "allocator-api2")]
pub use allocator::AddressedAlloc;
pub use heap::CudaHeap;
#[doc(hidden)]
pub use heap::NoHeap;

/// Has Rust's own collections in the kernels of this crate allocate with the allocator that it names, on
/// CUDA. Write it once, in the crate's root, behind `device_module!()`.
///
/// On the host it gives the crate's `Kernels` the method `bind_heap(&self, pool: &Pool<_>)`, which says in
/// which heap that is; see [`global`](crate::global). The memory of a pool that is dropped is bound no more.
///
/// On a device it stands for
///
/// ```text
/// #[global_allocator]
/// static HEAP: CudaHeap<WarpHeap> = CudaHeap::new();
/// ```
///
/// `global_heap!(all)` is for a crate with an image for each allocator, `images = "by-allocator"`: each image allocates
/// with its own, and `bind_heap` takes a pool of any of them. Its kernels that use collections are generic over the
/// allocator (`#[kernel(allocators = all)]`, with a `Heap<A>` to be launched with, used or not); others have no heap.
#[macro_export]
macro_rules! global_heap {
    (all) => {
        $crate::__on_cuda! { $crate::__global_allocators! {} }
        $crate::__on_host! { $crate::__bind_heap! { all } }
    };
    ($allocator:ty) => {
        $crate::__on_cuda! { $crate::__global_allocator! { $allocator } }
        $crate::__on_host! { $crate::__bind_heap! { $allocator } }
    };
}

#[cfg(warpheap_alloc)]
#[doc(hidden)]
#[macro_export]
macro_rules! __global_allocator {
    () => {
        #[global_allocator]
        static WARPHEAP_GLOBAL: $crate::global::NoHeap = $crate::global::NoHeap;
    };
    ($allocator:ty) => {
        #[global_allocator]
        static WARPHEAP_GLOBAL: $crate::global::CudaHeap<$allocator> =
            $crate::global::CudaHeap::new();
    };
}

#[cfg(not(warpheap_alloc))]
#[doc(hidden)]
#[macro_export]
macro_rules! __global_allocator {
    ($($allocator:ty)?) => {
        ::core::compile_error!(
            "a crate with a global heap says `alloc = true` in [package.metadata.warpheap] of its Cargo.toml"
        );
    };
}

#[cfg(not(feature = "std"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __bind_heap {
    ($allocator:ty) => {};
}

// The type that `device_module!` made in the crate that calls.
#[allow(clippy::crate_in_macro_def)]
#[cfg(feature = "std")]
#[doc(hidden)]
#[macro_export]
macro_rules! __bind_heap {
    (all) => {
        impl crate::Kernels {
            /// Makes `pool` the heap that Rust's own collections allocate in, on CUDA, in this crate's kernels for
            /// the allocator of the pool, until another one is bound or the pool is dropped. What they still hold
            /// then is lost. In the emulator they take from the process's own allocator, and this does nothing.
            ///
            /// # Errors
            /// `OtherDevice` if the pool is another device's; errors of the device.
            pub fn bind_heap<A: $crate::api::host::HostAlloc>(
                &self,
                pool: &$crate::api::host::Pool<A>,
            ) -> ::core::result::Result<(), $crate::api::host::DeviceError> {
                self.module(A::NAME).bind_heap(pool)
            }
        }
    };
    ($allocator:ty) => {
        impl crate::Kernels {
            /// Makes `pool` the heap that Rust's own collections in this crate's kernels allocate in, on
            /// CUDA, until another one is bound or the pool is dropped. What they still hold then is lost.
            /// In the emulator they take from the process's own allocator, and this does nothing.
            ///
            /// # Errors
            /// `OtherDevice` if the pool is another device's; errors of the device.
            pub fn bind_heap(
                &self,
                pool: &$crate::api::host::Pool<$allocator>,
            ) -> ::core::result::Result<(), $crate::api::host::DeviceError> {
                self.module("").bind_heap(pool)
            }
        }
    };
}
