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
//! [`compile_ptx`], [`compile_spirv`], [`prebuilt`] and [`source_hash`] serve programs that refresh
//! prebuilt code; [`lint_spirv`] checks any module.

mod dep_info;
mod device_crate;
mod error;
mod format;
mod lint;
mod lockfile;
mod nested;
mod options;
mod packed;
pub mod prebuilt;
mod ptx;
mod source_hash;
mod spirv;
pub mod toolchain;

use std::fs;
use std::path::PathBuf;

pub use device_crate::{ALLOCATORS, DeviceCrate};
pub use error::BuildError;
pub use format::Format;
pub use lint::{LintError, LintKind, Location, lint_spirv};
pub use options::{Mode, Options};
pub use packed::{pack, unpack};
pub use prebuilt::Manifest;
pub use ptx::compile_ptx;
pub use source_hash::source_hash;
pub use spirv::compile_spirv;
pub use toolchain::{Search, Toolchain, ToolchainError, ToolchainReport};

use prebuilt::PrebuiltMiss;

/// The file in `OUT_DIR` that [`build`] writes and `device_module!()` includes.
pub const MODULE_FILE: &str = "warpheap_module.rs";

/// Where an image came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// Copied from this folder of prebuilt code.
    Prebuilt(PathBuf),
    /// Compiled by the toolchain in this sysroot.
    Compiled(PathBuf),
}

/// What [`try_build`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// It was called in the compilation for a device, where there is nothing to do.
    pub nested: bool,
    /// The images that were made, by [`DeviceCrate::image_name`].
    pub images: Vec<(String, Format, ImageSource)>,
    /// Files and folders whose change means that the build script must run again.
    pub watch: Vec<PathBuf>,
}

/// Makes the images that the cargo features ask for. This is all that a device crate's `build.rs` does.
///
/// Talks to cargo on standard output. On failure it prints one error and ends the process with exit
/// status 1.
pub fn build() {
    for name in toolchain::ENVIRONMENT
        .iter()
        .chain(&["WARPHEAP_KERNELS", "CARGO_TARGET_DIR"])
    {
        // Of the variables that only lead to the toolchain, cargo's own path changes too easily.
        if *name != "CARGO" {
            println!("cargo::rerun-if-env-changed={name}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    match Options::from_env().and_then(|options| try_build(&options)) {
        Ok(report) => {
            for path in report.watch {
                println!("cargo::rerun-if-changed={}", path.display());
            }
        }
        Err(error) => {
            for line in error.to_string().lines() {
                println!("cargo::error={line}");
            }
            std::process::exit(1);
        }
    }
}

/// Does the work of [`build`] without printing.
///
/// Writes the wanted images, packed, and [`MODULE_FILE`] into the output folder. The latter is one
/// expression of type `(&str, &[(&str, Option<&[u8]>, Option<&[u8]>)])`: the crate's name and its images.
/// Of each: which allocator's it is (empty for the image of an undivided crate and for that of the
/// remaining kernels, if there are any), PTX, SPIR-V; [`unpack`] gives their bytes.
///
/// # Errors
/// An image can neither be taken from prebuilt code nor be compiled.
pub fn try_build(options: &Options) -> Result<Report, BuildError> {
    let mut report = Report {
        nested: options.nested,
        ..Report::default()
    };
    if options.nested {
        return Ok(report);
    }
    let name = device_crate::package_name(&options.manifest_dir)?;
    let mut parts = String::new();
    // Without formats nothing else is read: a host-only build must not fail on anything here.
    if !options.formats.is_empty() {
        let krate = options.device_crate()?;
        let folder = options
            .prebuilt
            .clone()
            .or_else(|| match krate.is_packaged() {
                // What lies above it belongs to somebody else.
                true => prebuilt::own(krate.dir()),
                false => prebuilt::locate(krate.dir()),
            });
        report.watch = krate.watch();
        if let Some(folder) = &folder {
            report.watch.push(folder.join("manifest.json"));
        }
        for &format in &options.formats {
            if !krate.formats().contains(&format) {
                return Err(BuildError::NoAlloc {
                    krate: krate.image_name(),
                    format,
                });
            }
        }
        for krate in krate.images() {
            let source = krate.source_hash()?;
            let mut embedded = [const { String::new() }; Format::ALL.len()];
            for (text, format) in embedded.iter_mut().zip(Format::ALL) {
                if !options.formats.contains(&format) {
                    *text = "None".to_owned();
                    continue;
                }
                if let Some(folder) = &folder {
                    report
                        .watch
                        .push(folder.join(prebuilt::file_name(&krate, format)));
                }
                let made = image(options, &krate, format, &source, folder.as_ref());
                let (packed, from) = match made {
                    Err(BuildError::NoKernels { .. }) if krate.may_be_empty() => {
                        *text = "None".to_owned();
                        continue;
                    }
                    made => made?,
                };
                let path = options.out_dir.join(prebuilt::file_name(&krate, format));
                fs::write(&path, packed).map_err(BuildError::io("write", &path))?;
                report.images.push((krate.image_name(), format, from));
                // Debug form: a Rust string literal, whatever the path holds.
                *text = format!(
                    "Some(include_bytes!({:?}) as &[u8])",
                    path.display().to_string()
                );
            }
            if embedded.iter().all(|text| text == "None") {
                continue;
            }
            parts.push_str(&format!(
                "({:?}, {}), ",
                krate.part_name(),
                embedded.join(", ")
            ));
        }
        for &format in &options.formats {
            if !report.images.iter().any(|(_, made, _)| *made == format) {
                return Err(BuildError::NoKernels {
                    krate: krate.image_name(),
                    format,
                });
            }
        }
        // cargo takes a watched file that is not there for a changed one.
        report.watch.retain(|path| path.exists());
    }
    let path = options.out_dir.join(MODULE_FILE);
    let module = format!("({name:?}, &[{}])\n", parts.trim_end_matches(", "));
    fs::write(&path, module).map_err(BuildError::io("write", &path))?;
    Ok(report)
}

/// One image, packed: prebuilt if it may be and can, else compiled.
fn image(
    options: &Options,
    krate: &DeviceCrate,
    format: Format,
    source: &str,
    folder: Option<&PathBuf>,
) -> Result<(Vec<u8>, ImageSource), BuildError> {
    let miss = match (options.mode, folder) {
        (Mode::Build, _) => PrebuiltMiss::NotAllowed,
        (_, None) => PrebuiltMiss::NoFolder(krate.dir().to_path_buf()),
        (_, Some(folder)) => {
            let name = krate.image_name();
            let taken = match krate.is_packaged() {
                true => prebuilt::take_packaged(folder, &name, format)?,
                false => prebuilt::take(folder, &name, format, source)?,
            };
            match taken {
                Ok(image) => return Ok((image, ImageSource::Prebuilt(folder.clone()))),
                Err(miss) => miss,
            }
        }
    };
    let name = || krate.image_name();
    if options.mode == Mode::Prebuilt {
        return Err(BuildError::PrebuiltOnly {
            krate: name(),
            format,
            miss,
        });
    }
    let toolchain = options
        .search
        .find(format)
        .map_err(|error| BuildError::NoImage {
            krate: name(),
            format,
            miss,
            toolchain: Box::new(error),
        })?;
    let image = pack(&compile(krate, format, &toolchain)?);
    Ok((image, ImageSource::Compiled(toolchain.sysroot)))
}

fn compile(
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
) -> Result<Vec<u8>, BuildError> {
    match format {
        Format::Ptx => compile_ptx(krate, toolchain).map(String::into_bytes),
        Format::Spirv => compile_spirv(krate, toolchain),
    }
}
