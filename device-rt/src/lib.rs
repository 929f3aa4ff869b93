//! Everything of warpheap that runs on a device, written once.
//!
//! Layers, each of which uses only those before it:
//!
//! | module | what lives there |
//! |---|---|
//! | [`arch`] | the target: words of a heap, warp operations, fences. The only place that knows it |
//! | [`sync`] | what lanes do together, from `arch`'s operations: prefix sums, reductions, scattering |
//! | [`bits`] | words as sets of bits |
//! | [`alloc`] | the allocators |
//! | [`adaptor`] | allocators around allocators: counting, failing, budgets, traces, finding mistakes |
//! | [`text`] | numbers and literals as bytes in words |
//! | [`container`] | data structures that grow in a heap |
//!
//! [`global`] lets kernels use Rust's own collections. Beside them: [`Heap`], through which kernels use any of the allocators; [`thread`], where a
//! lane is; [`params`], what kernels take that lanes write; [`shared`], what the lanes of a block share; [`log`], lines for the host; [`entry`], what `#[kernel]` expands to; and with the feature `std` the host's side of
//! the allocators, which lays out heaps and reads their metadata.
#![cfg_attr(any(target_arch = "nvptx64", target_arch = "spirv"), no_std)]
#![cfg_attr(target_arch = "spirv", feature(asm_experimental_arch))]
// Without the host's half, for which some of it is there.
#![cfg_attr(not(feature = "std"), allow(dead_code, unused_imports))]
// Compiled beside the code of users.
#![cfg_attr(all(feature = "raw", not(feature = "std")), allow(internal_features))]
#![cfg_attr(
    target_arch = "nvptx64",
    feature(asm_experimental_arch, link_llvm_intrinsics)
)]

pub mod adaptor;
pub mod alloc;
pub mod arch;
pub mod bits;
pub mod container;
pub mod entry;
pub mod global;
mod heap;
#[cfg(feature = "std")]
pub mod host;
pub mod log;
pub mod params;
pub mod shared;
pub mod sync;
pub mod text;
pub mod thread;

#[cfg(feature = "allocator-api2")]
pub use allocator_api2;
pub use arch::AtomicWord;
pub use heap::Heap;
pub use warpheap_allocators as allocators;
pub use warpheap_allocators::{for_each_allocator, for_each_allocator_without_frees};
pub use warpheap_api as api;
/// Whether this was built with the environment variable `WARPHEAP_CHECK=1`: then [`alloc::WarpHeap`], and so `WarpHeap` in kernels and
/// programs, is that allocator in [`Checked`](adaptor::Checked).
pub const CHECKED: bool = cfg!(warpheap_check);

#[doc(hidden)]
pub use warpheap_macros::{__global_allocators, __listed, __text};
pub use warpheap_macros::{HeapData, KernelError, kernel};

pub mod device {
    //! What a kernel author imports: `use warpheap::device::*`.
    pub use crate::adaptor::{Checked, Counted, Failing, Limited, Traced};
    pub use crate::alloc::*;
    pub use crate::arch::AtomicWord;
    pub use crate::container::{
        Before, HeapBox, HeapChunkQueue, HeapHashMap, HeapHashSet, HeapList, HeapMultiMap,
        HeapQueue, HeapSharedVec, HeapString, HeapText, HeapVec, ListCursor, MapCursor,
        MultiMapCursor, QueueError, SetCursor, Together, VecCursor, WholeBlock,
    };
    #[cfg(feature = "allocator-api2")]
    pub use crate::global::AddressedAlloc;
    pub use crate::log::Log;
    pub use crate::params::{LaneIndex, PerLane, Scatter};
    pub use crate::shared::SharedWords;
    pub use crate::text::{I64Words, U64Words};
    pub use crate::{Heap, heap_print, heap_write, thread};
    pub use warpheap_api::{
        AllocError, Arena, DeviceAlloc, DevicePtr, Element, Failure, HeapData, HeapStats,
        HeapUsage, KernelError, Layout, Reset, WarpArena, layout,
    };
    pub use warpheap_macros::{HeapData, KernelError, kernel};
}

/// Appends to a [`HeapString`](container::HeapString), as Rust's `write!` does, on all backends:
/// `heap_write!(string, heap, "lane {} has {:.2}", i, x)?`.
///
/// The format string is a literal. Placeholders are `{}`, `{0}`, `{name}`, where a name is that of a variable or of an argument
/// `name = value`, with a colon and `[[fill]align][+][#][0][width][.precision][letter]` as in Rust:
///
/// | argument | shown by | as |
/// |---|---|---|
/// | `u32`, `i32`, `usize`, [`U64Words`](text::U64Words), [`I64Words`](text::I64Words) | `{}` | decimal |
/// | the same | `{:x}`, `{:X}`, `{:o}`, `{:b}` | hexadecimal, octal, binary; of negative numbers in two's complement |
/// | `f32` | `{}` | the fewest digits that name the number, never with an exponent |
/// | `f32` | `{:.0}` to `{:.9}` | so many digits behind the point: the exact value, rounded to nearest, ties to even |
/// | `bool`, `char` | `{}` | |
/// | `string.text(heap)` of a `HeapString` | `{}` | its bytes |
/// | `u64`, `i64` and numbers of 8 and 16 bits, `&str` | as above | on CUDA and the host; for Vulkan take `U64Words` |
///
/// Each shows what Rust's own formatting shows. Widths are numbers, not arguments. There is no `{:?}` and no `{:e}`.
///
/// # Errors
/// It is a `Result<(), AllocError>`: as [`DeviceAlloc::malloc`](api::DeviceAlloc::malloc). All room is got at once, so the string
/// is as it was then.
#[macro_export]
macro_rules! heap_write {
    ($string:expr, $heap:expr, $($text:tt)+) => {
        $string.push_text($heap, $crate::__text!($crate; $($text)+))
    };
}

/// Leaves a line for the host: `heap_print!(log, "lane {} has {:.2}", i, x)`, where `log` is the kernel's parameter of the type
/// [`Log`](log::Log).
///
/// The text is made as by [`heap_write!`]. Each call is a line, so none ends with `\n`. It is a `bool`: whether there was room.
#[macro_export]
macro_rules! heap_print {
    ($log:expr, $($text:tt)+) => {
        $log.print($crate::__text!($crate; $($text)+))
    };
}

macro_rules! on_target {
    ($d:tt $name:ident: $on:meta) => {
        #[doc(hidden)]
        #[cfg($on)]
        #[macro_export]
        macro_rules! $name {
                                                            ($d($d code:tt)*) => { $d($d code)* };
                                                        }
        #[doc(hidden)]
        #[cfg(not($on))]
        #[macro_export]
        macro_rules! $name {
            ($d($d code:tt)*) => {};
        }
    };
}

// What they hold is kept when the crate is compiled for that target. For the expansion of `#[kernel]`.
on_target! { $ __on_cuda: target_arch = "nvptx64" }
on_target! { $ __on_vulkan: target_arch = "spirv" }
on_target! { $ __on_host: not(any(target_arch = "nvptx64", target_arch = "spirv")) }

/// Defines what a device crate gives to the host: the compiled image, the type `Kernels` whose
/// methods launch the crate's kernels, and `load`, which makes it from a device. Write it once, in the
/// crate's root; the crate's build script calls `warpheap_build::build()`.
///
/// `device_module!(allocators = [WarpHeap, Gallatin])` also names the allocators that the crate's kernels are compiled for,
/// once: for those that say `#[kernel(allocators = listed)]`. It then stands before the modules that they lie in, and makes
/// the trait `Allocator`, which these allocators have and which is the only bound of whoever launches such kernels.
#[macro_export]
macro_rules! device_module {
    () => {
        $crate::__device_module_host! {}
    };
    (allocators = [$($allocator:ty),+ $(,)?]) => {
        $crate::__device_module_host! {}
        $crate::__listed! { $($allocator),+ }
    };
}

#[cfg(not(feature = "std"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __device_module_host {
    () => {};
}

#[cfg(feature = "std")]
#[doc(hidden)]
#[macro_export]
macro_rules! __device_module_host {
    () => {
        /// The compiled kernels of this crate.
        pub static IMAGES: $crate::api::host::KernelImages = {
            const EMBEDDED: (&str, &[$crate::api::host::PackedImage]) =
                include!(concat!(env!("OUT_DIR"), "/warpheap_module.rs"));
            $crate::api::host::KernelImages {
                name: EMBEDDED.0,
                packed: EMBEDDED.1,
            }
        };

        /// The kernels of this crate, loaded on a device. Each method launches one.
        #[derive(Clone, Debug)]
        pub struct Kernels {
            modules: $crate::api::host::Modules,
        }

        impl Kernels {
            /// The module with the kernels for an allocator, or with those for none: the empty name.
            pub fn module(&self, allocator: &str) -> &$crate::api::host::Module {
                self.modules.of(allocator)
            }
        }

        /// Makes the kernels of this crate ready on a device. What a driver takes time for, it may do
        /// when a kernel is launched first.
        ///
        /// # Errors
        /// As `Modules::new`.
        pub fn load(
            device: &$crate::api::host::Device,
        ) -> ::core::result::Result<Kernels, $crate::api::host::DeviceError> {
            ::core::result::Result::Ok(Kernels {
                modules: $crate::api::host::Modules::new(device, &IMAGES)?,
            })
        }
    };
}
