//! What can go wrong while device code is made, each as one message that says what to do.

use std::path::{Path, PathBuf};

use crate::format::Format;
use crate::lint::LintError;
use crate::miss::PrebuiltMiss;
use crate::toolchain::ToolchainError;

/// Why a device crate's images could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A variable that cargo sets for build scripts is absent.
    #[error(
        "the environment variable {0} is not set: warpheap_build::build() is for build scripts (build.rs)"
    )]
    NotABuildScript(&'static str),

    /// A file or folder could not be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was tried, as a verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's answer.
        source: std::io::Error,
    },

    /// A `Cargo.toml`, `Cargo.lock` or `manifest.json` that does not have the expected form.
    #[error("{}: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },

    /// `WARPHEAP_KERNELS` holds an unknown word.
    #[error(
        "WARPHEAP_KERNELS=`{0}` is not known: leave it unset, or set it to `build` (always compile) or `prebuilt` (never compile)"
    )]
    UnknownMode(String),

    /// A crate with Rust's `alloc` is wanted in a format that has none.
    #[error(
        "`{krate}` says `alloc = true` in `package.metadata.warpheap`, and {format} has no pointers to allocate behind\n  \
         do: leave out the cargo feature `{}`, or keep such kernels in a crate of their own", format.feature()
    )]
    NoAlloc {
        /// The device crate.
        krate: String,
        /// The format that was wanted.
        format: Format,
    },

    /// Compiling is forbidden and the prebuilt image does not serve.
    #[error(
        "no usable prebuilt {format} for `{krate}`, and WARPHEAP_KERNELS=prebuilt forbids compiling it\n  \
         prebuilt: {miss}\n  \
         do: unset WARPHEAP_KERNELS, or refresh the prebuilt code with `warpheap kernels`"
    )]
    PrebuiltOnly {
        /// The device crate.
        krate: String,
        /// The format that was wanted.
        format: Format,
        /// Why the prebuilt image was not taken.
        miss: PrebuiltMiss,
    },

    /// Neither a prebuilt image nor a toolchain.
    #[error(
        "the {format} of `{krate}` can neither be taken from prebuilt code nor be compiled\n  prebuilt: {miss}\n{toolchain}\n  \
         - or build without {format}: leave out the cargo feature `{}`", format.feature()
    )]
    NoImage {
        /// The device crate.
        krate: String,
        /// The format that was wanted.
        format: Format,
        /// Why the prebuilt image was not taken.
        miss: PrebuiltMiss,
        /// Why nothing could be compiled.
        toolchain: Box<ToolchainError>,
    },

    /// No toolchain.
    #[error(transparent)]
    Toolchain(Box<ToolchainError>),

    /// The device compiler could not be started.
    #[error("cannot start `{command}`: {source}")]
    Spawn {
        /// The command line.
        command: String,
        /// The system's answer.
        source: std::io::Error,
    },

    /// The device compiler refused the crate.
    #[error("`{krate}` does not compile to {format} (toolchain: {toolchain})\n{log}")]
    Compile {
        /// The device crate.
        krate: String,
        /// The format.
        format: Format,
        /// Which toolchain compiled.
        toolchain: String,
        /// The compiler's own messages.
        log: String,
    },

    /// The compiler succeeded, and the image has no kernels.
    #[error("the {format} of `{krate}` has no entry point: does the crate hold a #[kernel]?")]
    NoKernels {
        /// The device crate.
        krate: String,
        /// The format.
        format: Format,
    },

    /// The compiler succeeded without leaving an image behind.
    #[error("compiling `{krate}` to {format} succeeded but left no image: {reason}")]
    NoArtifact {
        /// The device crate.
        krate: String,
        /// The format.
        format: Format,
        /// What is missing.
        reason: String,
    },

    /// A source went into an image but not into the hash that says whether the image is current.
    #[error(
        "the {format} of `{krate}` was compiled from {}, which its source hash does not cover\n  \
         do: take it out of `package.metadata.warpheap.host-only` of its crate, or keep device code out of it",
        file.display()
    )]
    NotCovered {
        /// The device crate.
        krate: String,
        /// The format.
        format: Format,
        /// The source.
        file: PathBuf,
    },

    /// `Cargo.lock` holds a `glam` that `spirv-std` cannot be compiled with.
    #[error(
        "`{krate}` uses spirv-std, which does not compile for a device with glam {found}; {} holds that version\n  \
         do: cargo update -p glam --precise 0.30.10", lockfile.display()
    )]
    Glam {
        /// The device crate.
        krate: String,
        /// The version that is locked.
        found: String,
        /// The lock file.
        lockfile: PathBuf,
    },

    /// A function, an entry that calls one, or an entry with a loop around two masks takes the lanes that are here in a way that the assembler miscompiles.
    #[error(
        "the PTX of `{krate}`: function `{function}` takes the lanes that are here by `activemask` and does not add its own \
         lane to them, without which ptxas mixes groups of lanes\n  \
         do: take them through warpheap's `Group::here()`, whose masks the builder mends, not by assembly of your own"
    )]
    UnguardedMask {
        /// The device crate.
        krate: String,
        /// The function, as the linker calls it.
        function: String,
    },

    /// The module holds shapes that drivers miscompile without a word.
    #[error("{}", lint_message(krate, errors))]
    Lint {
        /// The device crate.
        krate: String,
        /// Each place.
        errors: Vec<LintError>,
    },
}

fn lint_message(krate: &str, errors: &[LintError]) -> String {
    let mut text = format!(
        "the SPIR-V of `{krate}` holds pointers where drivers read garbage or crash, though validators accept it"
    );
    for error in errors {
        text.push_str("\n  ");
        text.push_str(&error.to_string());
    }
    text.push_str(
        "\n  do: keep references and slices out of values that change in a loop or branch: \
         store indices, and pass the slice or the heap to each call",
    );
    text
}

impl BuildError {
    /// Wraps a system error with what was tried where.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| BuildError::Io {
            action,
            path,
            source,
        }
    }

    pub(crate) fn malformed(path: &Path, reason: impl Into<String>) -> Self {
        BuildError::Malformed {
            path: path.to_path_buf(),
            reason: reason.into(),
        }
    }
}

impl From<ToolchainError> for BuildError {
    fn from(error: ToolchainError) -> Self {
        BuildError::Toolchain(Box::new(error))
    }
}
