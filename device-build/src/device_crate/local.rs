//! A crate whose sources go into a device crate's images.

use std::path::PathBuf;

/// One crate that lies beside the device crate rather than in a registry.
#[derive(Clone, Debug)]
pub(crate) struct LocalCrate {
    /// Its folder.
    pub dir: PathBuf,
    /// Folders that hold its library's sources.
    pub source_dirs: Vec<PathBuf>,
    /// Files and folders among them that its `Cargo.toml` declares to hold nothing for a device.
    pub host_only: Vec<PathBuf>,
    /// Files and folders among them that its `Cargo.toml` declares to be used by some allocators' kernels
    /// alone, with the names of these.
    pub only_in: Vec<(PathBuf, Vec<String>)>,
}
