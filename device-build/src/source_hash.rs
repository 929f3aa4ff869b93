//! The one number that says whether prebuilt device code still belongs to its sources.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::device_crate::{DeviceCrate, LocalCrate};
use crate::error::BuildError;
use crate::toolchain::{MADE_TOOLCHAIN, NIGHTLY, SPIRV_BACKEND_VERSION};
use crate::{ptx, spirv};

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

/// SHA-256 of `bytes`, in hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes).as_slice())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn hash(krate: &DeviceCrate) -> Result<String, BuildError> {
    let mut hasher = Sha256::new();
    let mut add = |part: &[u8]| {
        // Each part with its length, so that no two lists of parts run together to the same bytes.
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    };
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
    Ok(hex(hasher.finalize().as_slice()))
}

/// Every hashed file with its label `package/relative/path`, sorted by label.
pub(crate) fn files(krate: &DeviceCrate) -> Result<Vec<(String, PathBuf)>, BuildError> {
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
