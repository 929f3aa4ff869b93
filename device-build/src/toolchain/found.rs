//! A toolchain, and which ones there can be.

use std::fmt;
use std::path::PathBuf;

/// The nightly that the SPIR-V backend is written for.
pub const NIGHTLY: &str = "nightly-2026-04-11";
/// The version of rust-gpu's backend that device crates are compiled with.
pub const SPIRV_BACKEND_VERSION: &str = "0.10.0-alpha.1";
/// The folder that `warpheap toolchain` makes, within [`Search::toolchain_dir`](super::Search::toolchain_dir).
pub const MADE_TOOLCHAIN: &str = "rust-device-1.96.0";

/// A compiler for device code, with what was found in it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// Where it comes from.
    pub origin: Origin,
    /// Its sysroot: the folder with `bin` and `lib`.
    pub sysroot: PathBuf,
    /// Its compiler.
    pub rustc: PathBuf,
    /// The cargo that drives it: its own if it has one, else the one that is running.
    pub cargo: PathBuf,
    /// `rustc --version`.
    pub version: String,
    /// The host that it runs on, as a target triple.
    pub host: String,
    /// rust-gpu's code generator, if there is one.
    pub spirv_backend: Option<PathBuf>,
}

/// Where a toolchain comes from, in the order of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `WARPHEAP_DEVICE_TOOLCHAIN`. If set, nothing else is looked at.
    Environment,
    /// Made by `warpheap toolchain`.
    Made,
    /// A rustup toolchain named `rust-device`.
    RustupDevice,
    /// rustup's [`NIGHTLY`].
    RustupNightly,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Origin::Environment => "WARPHEAP_DEVICE_TOOLCHAIN",
            Origin::Made => "warpheap toolchain",
            Origin::RustupDevice => "rustup's rust-device",
            Origin::RustupNightly => "rustup's nightly-2026-04-11",
        })
    }
}
