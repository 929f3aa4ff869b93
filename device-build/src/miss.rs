//! Why an image that lies beside its sources does not serve.

use std::fmt;
use std::path::PathBuf;

/// Why a prebuilt image was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrebuiltMiss {
    /// `WARPHEAP_KERNELS=build` forbids it.
    NotAllowed,
    /// `WARPHEAP_CHECK=1` asks for checks, which prebuilt images do not have.
    Unchecked,
    /// There is no `prebuilt/manifest.json` at or above the crate.
    NoFolder(PathBuf),
    /// The manifest has no such image.
    NotListed(PathBuf),
    /// The sources are others than those it was compiled from.
    Stale {
        /// The folder.
        folder: PathBuf,
        /// The source hash in the manifest.
        recorded: String,
        /// The hash of the sources as they are.
        current: String,
    },
    /// The image itself is missing or is not the one that was recorded.
    Damaged {
        /// The image.
        file: PathBuf,
        /// The SHA-256 in the manifest.
        recorded: String,
        /// The SHA-256 of the file, or why it cannot be read.
        found: String,
    },
}

impl fmt::Display for PrebuiltMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrebuiltMiss::NotAllowed => write!(f, "not looked at, because WARPHEAP_KERNELS=build"),
            PrebuiltMiss::Unchecked => write!(
                f,
                "not looked at, because prebuilt kernels are without the checks that WARPHEAP_CHECK=1 asks for; unset it to take them"
            ),
            PrebuiltMiss::NoFolder(start) => {
                write!(
                    f,
                    "no prebuilt/manifest.json in {} or above it",
                    start.display()
                )
            }
            PrebuiltMiss::NotListed(folder) => {
                write!(
                    f,
                    "{} has no entry for it",
                    folder.join("manifest.json").display()
                )
            }
            PrebuiltMiss::Stale {
                folder,
                recorded,
                current,
            } => write!(
                f,
                "{} was made from sources with hash {recorded}, but the sources now hash to {current}",
                folder.display()
            ),
            PrebuiltMiss::Damaged {
                file,
                recorded,
                found,
            } => {
                write!(
                    f,
                    "{} should have SHA-256 {recorded}, but: {found}",
                    file.display()
                )
            }
        }
    }
}
