//! The one number that says whether prebuilt device code still belongs to its sources.

use std::fs;
use std::path::{Path, PathBuf};

use crate::device_crate::{DeviceCrate, LocalCrate};
use crate::digest::Hasher;
use crate::error::BuildError;
use crate::flags::{ptx, spirv};
use crate::toolchain::{MADE_TOOLCHAIN, NIGHTLY, SPIRV_BACKEND_VERSION};

/// Changes whenever the way of hashing or compiling changes in a manner that the flags do not show.
const SCHEME: &str = "warpheap device sources 1";

/// The hash of the device crate in `crate_dir`, compiled without features: see
/// [`DeviceCrate::source_hash`].
///
/// # Errors
/// A `Cargo.toml` is missing or malformed, or a source cannot be read.
pub fn source_hash(crate_dir: &Path) -> Result<String, BuildError> {
    DeviceCrate::read(crate_dir)?.source_hash()
}

impl DeviceCrate {
    /// SHA-256 (hex) over every source that goes into the images, and the compile flags. It depends on
    /// no absolute path, file time, line ending or lock file.
    ///
    /// # Errors
    /// A source cannot be read.
    pub fn source_hash(&self) -> Result<String, BuildError> {
        hash(self)
    }

    /// Every file that the compiler may read for a device.
    ///
    /// # Errors
    /// A source folder cannot be read.
    pub fn sources(&self) -> Result<Vec<PathBuf>, BuildError> {
        let files = files(&self.whole())?.into_iter();
        Ok(files.map(|(_, path)| path).collect())
    }
}

fn hash(krate: &DeviceCrate) -> Result<String, BuildError> {
    let mut hasher = Hasher::default();
    let mut add = |part: &[u8]| hasher.add(part);
    add(SCHEME.as_bytes());
    for version in [NIGHTLY, MADE_TOOLCHAIN, SPIRV_BACKEND_VERSION] {
        add(version.as_bytes());
    }
    for flag in ptx::flags(krate).chain(spirv::flags()) {
        add(flag.as_bytes());
    }
    for feature in krate.features() {
        add(format!("feature {feature}").as_bytes());
    }
    for (label, path) in files(krate)? {
        let bytes = fs::read(&path).map_err(BuildError::io("read", &path))?;
        add(label.as_bytes());
        add(&unix_line_ends(bytes));
    }
    Ok(hasher.finish())
}

/// Every hashed file with its label `package/relative/path`, sorted by label.
fn files(krate: &DeviceCrate) -> Result<Vec<(String, PathBuf)>, BuildError> {
    let mut found = Vec::new();
    for (name, member) in krate.members() {
        found.push((format!("{name}/Cargo.toml"), member.dir.join("Cargo.toml")));
        for dir in &member.source_dirs {
            walk(krate, dir, name, member, &mut found)?;
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}

fn walk(
    krate: &DeviceCrate,
    dir: &Path,
    name: &str,
    member: &LocalCrate,
    found: &mut Vec<(String, PathBuf)>,
) -> Result<(), BuildError> {
    for entry in fs::read_dir(dir).map_err(BuildError::io("list", dir))? {
        let path = entry.map_err(BuildError::io("list", dir))?.path();
        let unused = |(other, by): &(PathBuf, Vec<String>)| *other == path && !krate.uses(by);
        if member.host_only.contains(&path) || member.only_in.iter().any(unused) {
            continue;
        }
        let relative = path.strip_prefix(&member.dir).unwrap_or(&path);
        let relative: Vec<_> = relative.iter().map(|part| part.to_string_lossy()).collect();
        let relative = relative.join("/");
        if path.is_dir() {
            if !skipped_folder(&relative) {
                walk(krate, &path, name, member, found)?;
            }
        } else if path.extension().is_some_and(|ext| ext == "rs")
            && !matches!(&*relative, "build.rs" | "src/main.rs")
        {
            found.push((format!("{name}/{relative}"), path));
        }
    }
    Ok(())
}

/// Folders that hold no part of a library: its binaries, and those of a library whose sources lie in
/// the crate folder itself.
fn skipped_folder(relative: &str) -> bool {
    relative.starts_with('.')
        || matches!(
            relative,
            "src/bin" | "target" | "tests" | "benches" | "examples"
        )
}

/// Folds CRLF to LF: a checkout on Windows holds the same sources.
fn unix_line_ends(bytes: Vec<u8>) -> Vec<u8> {
    if !bytes.contains(&b'\r') {
        return bytes;
    }
    let mut folded = Vec::with_capacity(bytes.len());
    for (i, &byte) in bytes.iter().enumerate() {
        if !(byte == b'\r' && bytes.get(i + 1) == Some(&b'\n')) {
            folded.push(byte);
        }
    }
    folded
}
