//! Device code that is committed beside its sources: `prebuilt/<image>.ptx`, `<image>.spv.rel` and
//! `manifest.json`, which records what each was made from. [`stored`] has the form of the files.

mod manifest;

use std::fs;
use std::path::{Path, PathBuf};

use crate::compile;
use crate::dep_info;
use crate::device_crate::DeviceCrate;
use crate::digest::sha256;
use crate::error::BuildError;
use crate::format::Format;
use crate::spirv;
use crate::stored;
use crate::toolchain::Toolchain;

pub use crate::miss::PrebuiltMiss;
pub use manifest::{Entry, Manifest};

/// The nearest `prebuilt` folder with a manifest, in `start` or above it.
pub fn locate(start: &Path) -> Option<PathBuf> {
    start.ancestors().find_map(own)
}

/// The `prebuilt` folder with a manifest in `dir` itself.
pub(crate) fn own(dir: &Path) -> Option<PathBuf> {
    let folder = dir.join("prebuilt");
    folder.join("manifest.json").is_file().then_some(folder)
}

/// Gives the prebuilt image of this name if it was made from sources with the hash `source`.
///
/// # Errors
/// The manifest is malformed (outer), or there is no such image (inner).
pub fn take(
    folder: &Path,
    image: &str,
    format: Format,
    source: &str,
) -> Result<Result<Vec<u8>, PrebuiltMiss>, BuildError> {
    let manifest = Manifest::read(folder)?;
    let Some(entry) = manifest.get(image, format) else {
        return Ok(Err(PrebuiltMiss::NotListed(folder.to_path_buf())));
    };
    if entry.source != source {
        return Ok(Err(PrebuiltMiss::Stale {
            folder: folder.to_path_buf(),
            recorded: entry.source.clone(),
            current: source.to_owned(),
        }));
    }
    Ok(read(folder, entry, format))
}

/// As [`take`], whatever the sources are: for a crate that came in a package. Nobody changes what is in a package, and no
/// hash of its sources can agree: packing rewrites `Cargo.toml`, and what it depends on lies elsewhere.
///
/// # Errors
/// As [`take`].
pub(crate) fn take_packaged(
    folder: &Path,
    image: &str,
    format: Format,
) -> Result<Result<Vec<u8>, PrebuiltMiss>, BuildError> {
    Ok(match Manifest::read(folder)?.get(image, format) {
        Some(entry) => read(folder, entry, format),
        None => Err(PrebuiltMiss::NotListed(folder.to_path_buf())),
    })
}

/// The image of an entry, if its file is the one that was recorded.
fn read(folder: &Path, entry: &Entry, format: Format) -> Result<Vec<u8>, PrebuiltMiss> {
    let file = folder.join(&entry.file);
    let damaged = |found| PrebuiltMiss::Damaged {
        file: file.clone(),
        recorded: entry.sha256.clone(),
        found,
    };
    match fs::read(&file) {
        Err(error) => Err(damaged(format!("it cannot be read: {error}"))),
        Ok(bytes) => match sha256(&bytes) {
            found if found == entry.sha256 => {
                stored::restore(format, bytes).map_err(|error| damaged(error.to_string()))
            }
            found => Err(damaged(format!("it has {found}"))),
        },
    }
}

/// Compiles an image that may be stored: beyond what [`compile_ptx`](crate::compile_ptx) and
/// [`compile_spirv`](crate::compile_spirv) do, it makes sure that the source hash covers every local
/// source that the compiler read.
///
/// # Errors
/// As those, or [`BuildError::NotCovered`].
pub fn compile(
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
) -> Result<Vec<u8>, BuildError> {
    let image = compile::compile(krate, format, toolchain)?;
    dep_info::check(krate, format)?;
    Ok(image)
}

/// The hash of what an image is made from just before the step that takes most of the time; `None` for a
/// format without such a step. The same draft by the same compiler is the same image.
///
/// # Errors
/// As [`compile()`].
pub fn draft(
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
) -> Result<Option<String>, BuildError> {
    if format != Format::Spirv {
        return Ok(None);
    }
    let hash = spirv::draft_hash(krate, toolchain)?;
    dep_info::check(krate, format)?;
    Ok(Some(hash))
}

/// Records that the present sources make the stored image, if that was made from this draft by this compiler,
/// or, stored without a draft, from these sources; whether it was so.
///
/// # Errors
/// As [`write()`].
pub fn renew(
    folder: &Path,
    krate: &DeviceCrate,
    format: Format,
    draft: &str,
    toolchain: &str,
) -> Result<bool, BuildError> {
    let mut manifest = Manifest::read(folder)?;
    let name = krate.image_name();
    let source = krate.source_hash()?;
    let Some(mut entry) = manifest.get(&name, format).cloned() else {
        return Ok(false);
    };
    let same = match &entry.draft {
        Some(known) => known == draft,
        None => entry.source == source,
    };
    let intact = take(folder, &name, format, &entry.source)?.is_ok();
    if !same || !intact || entry.toolchain != toolchain {
        return Ok(false);
    }
    entry.source = source;
    entry.draft = Some(draft.to_owned());
    manifest.set(&name, format, entry);
    manifest.write(folder)?;
    Ok(true)
}

/// Writes an image, in the form in which it is [`stored`], into `folder` (made if missing) and records it.
///
/// # Errors
/// A file cannot be read or written, or the present manifest is malformed.
pub fn write(
    folder: &Path,
    krate: &DeviceCrate,
    format: Format,
    stored: &[u8],
    draft: Option<String>,
    toolchain: &str,
) -> Result<(), BuildError> {
    fs::create_dir_all(folder).map_err(BuildError::io("make", folder))?;
    let mut manifest = Manifest::read(folder)?;
    let file = file_name(krate, format);
    let path = folder.join(&file);
    fs::write(&path, stored).map_err(BuildError::io("write", &path))?;
    let entry = Entry {
        file,
        sha256: sha256(stored),
        source: krate.source_hash()?,
        toolchain: toolchain.to_owned(),
        draft,
    };
    manifest.set(&krate.image_name(), format, entry);
    manifest.write(folder)
}

/// The file of an image in a folder of prebuilt code.
pub(crate) fn file_name(krate: &DeviceCrate, format: Format) -> String {
    format!("{}.{}", krate.image_name(), stored::extension(format))
}

/// Checks that the image that `krate` is compiled to is in `folder` in its formats, intact and made from the present
/// sources.
///
/// # Errors
/// The manifest or a source cannot be read (outer), or each image that does not serve (inner).
pub fn check(
    folder: &Path,
    krate: &DeviceCrate,
) -> Result<Result<(), Vec<(Format, PrebuiltMiss)>>, BuildError> {
    let source = krate.source_hash()?;
    let mut misses = Vec::new();
    for &format in krate.formats() {
        if let Err(miss) = take(folder, &krate.image_name(), format, &source)? {
            misses.push((format, miss));
        }
    }
    Ok(if misses.is_empty() {
        Ok(())
    } else {
        Err(misses)
    })
}
