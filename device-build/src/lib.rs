//! Compiles a device crate to PTX and SPIR-V from its build script.
//!
//! A device crate is an ordinary library whose kernels are also compiled for GPUs. All that the `main`
//! of its `build.rs` does is
//!
//! ```no_run
//! warpheap_build::build();
//! ```
//!
//! and that makes the images which `device_module!()` embeds: PTX if the crate's cargo feature `cuda`
//! is on, SPIR-V if `vulkan` is on. An image comes from the nearest `prebuilt/` folder if that one was
//! made from the very same sources, and needs no more than a stable compiler then; otherwise it is
//! compiled with a device toolchain ([`toolchain`] says where that is looked for).
//!
//! | variable | meaning |
//! |---|---|
//! | `WARPHEAP_KERNELS=build` | always compile |
//! | `WARPHEAP_KERNELS=prebuilt` | never compile |
//! | `WARPHEAP_CHECK=1` | compile kernels whose heaps of `WarpHeap` find mistakes; prebuilt ones have no such |
//! | `WARPHEAP_DEVICE_TOOLCHAIN` | sysroot of the toolchain to use |
//! | `WARPHEAP_TOOLCHAIN_DIR` | where `warpheap toolchain` keeps its own (`~/.cache/warpheap/toolchain`) |
//! | `WARPHEAP_SPIRV_BACKEND` | rust-gpu's `librustc_codegen_spirv.so`, for a toolchain that does not hold it |
//!
//! The hash that ties prebuilt code to its sources covers the crate and every local crate that it
//! compiles with. A crate whose sources hold parts that no device sees can name them, so that a change
//! there leaves prebuilt code valid:
//!
//! ```toml
//! [package.metadata.warpheap]
//! host-only = ["src/host", "src/arch/host.rs"]
//! ```
//!
//! A package carries the images of its crate where `include` in its `Cargo.toml` names them, in a folder `prebuilt` of the
//! crate. In a package they are taken as they are. What such a crate depends on has to be what they were made from: ask for
//! it with an exact version (`=0.1.0`).
//!
//! A driver compiles an image whole, and a large one takes it minutes. A crate whose kernels are
//! compiled for all allocators can have an image for each, which is loaded when it is needed first:
//!
//! ```toml
//! [package.metadata.warpheap]
//! images = "by-allocator"
//! ```
//!
//! A crate with an image for each allocator whose kernels never have heaps of two allocators can say so. Its prebuilt images of other
//! allocators than `WarpHeap` are then taken with `WARPHEAP_CHECK=1`, too:
//!
//! ```toml
//! [package.metadata.warpheap]
//! images = "by-allocator"
//! one-heap = true
//! ```
//!
//! Kernels for CUDA and the host may use Rust's own collections, from the crate `alloc`. A crate that holds
//! such kernels says so; it has no SPIR-V then, and no feature `vulkan`:
//!
//! ```toml
//! [package.metadata.warpheap]
//! alloc = true
//! ```
//!
//! It is compiled with `alloc` beside `core`, and a panic in it is reported with its message instead of
//! being a `trap`; `warpheap_rt::global_heap!` says where its collections allocate: in a heap of one allocator, or
//! with `images = "by-allocator"` of the one that a kernel is launched with.
//!
//! Each module uses only modules of lines above its own; a test holds them to that.
//!
//! | layer | modules |
//! |---|---|
//! | data | `format`, `digest`, `packed`, `stored`, `lint`, `toolchain`, `miss`, `error`, `device_crate` |
//! | hash | `flags`, `source_hash` |
//! | compile | `dep_info`, `lockfile`, `nested`, `ptx`, `spirv`, `compile` |
//! | store | `prebuilt` |
//! | build script | `options`, `image`, `build_script` |
//!
//! [`compile_ptx`], [`compile_spirv`], [`prebuilt`] and [`source_hash()`] serve programs that refresh
//! prebuilt code; [`lint_spirv`] checks any module.

mod build_script;
mod compile;
mod dep_info;
mod device_crate;
mod digest;
mod error;
mod flags;
mod format;
mod image;
mod lint;
mod lockfile;
mod miss;
mod nested;
mod options;
mod packed;
pub mod prebuilt;
mod ptx;
mod source_hash;
mod spirv;
pub mod stored;
pub mod toolchain;

pub use build_script::{MODULE_FILE, Report, build, try_build};
pub use device_crate::{ALLOCATORS, DeviceCrate};
pub use error::BuildError;
pub use format::Format;
pub use image::ImageSource;
pub use lint::{LintError, LintKind, Location, lint_spirv};
pub use options::{Mode, Options};
pub use packed::{pack, unpack};
pub use prebuilt::Manifest;
pub use ptx::compile_ptx;
pub use source_hash::source_hash;
pub use spirv::compile_spirv;
pub use toolchain::{Search, Toolchain, ToolchainError, ToolchainReport};
