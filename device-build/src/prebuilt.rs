//! Device code that is committed beside its sources: `prebuilt/<image>.ptx.gz`, `<image>.spv.gz` and
//! `manifest.json`, which records what each was made from.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::dep_info;
use crate::device_crate::DeviceCrate;
use crate::error::BuildError;
use crate::format::Format;
use crate::packed::pack;
use crate::source_hash::sha256;
use crate::toolchain::Toolchain;

/// The form of `manifest.json` that this version reads and writes.
const FORM: u64 = 2;

/// One image in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// File name within the folder.
    pub file: String,
    /// SHA-256 (hex) of the file.
    pub sha256: String,
    /// [`DeviceCrate::source_hash`] of the sources it was compiled from.
    pub source: String,
    /// `rustc --version` of the compiler.
    pub toolchain: String,
    /// What [`draft`] said of it, for a format that has drafts.
    pub draft: Option<String>,
}

/// What `manifest.json` says: for each image ([`DeviceCrate::image_name`]) and format one [`Entry`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    entries: BTreeMap<(String, Format), Entry>,
}

impl Manifest {
    /// Reads `manifest.json` in `folder`. A folder without one is an empty manifest.
    ///
    /// # Errors
    /// The file cannot be read or does not have the expected form.
    pub fn read(folder: &Path) -> Result<Self, BuildError> {
        let path = folder.join("manifest.json");
        if !path.exists() {
            return Ok(Manifest::default());
        }
        let text = fs::read_to_string(&path).map_err(BuildError::io("read", &path))?;
        let json: Value = serde_json::from_str(&text)
            .map_err(|e| BuildError::malformed(&path, format!("not valid JSON: {e}")))?;
        if json["form"] != FORM {
            return Err(BuildError::malformed(
                &path,
                format!(
                    "`form` is {}, this warpheap-build reads form {FORM}",
                    json["form"]
                ),
            ));
        }
        let named = json["images"]
            .as_object()
            .ok_or_else(|| BuildError::malformed(&path, "holds no `images`"))?;
        let mut manifest = Manifest::default();
        for (name, images) in named {
            for format in Format::ALL {
                let Some(image) = images.get(format.extension()) else {
                    continue;
                };
                let text = |key: &str| {
                    image[key].as_str().map(str::to_owned).ok_or_else(|| {
                        BuildError::malformed(
                            &path,
                            format!("images.{name}.{}.{key} is no text", format.extension()),
                        )
                    })
                };
                let entry = Entry {
                    file: text("file")?,
                    sha256: text("sha256")?,
                    source: text("source")?,
                    toolchain: text("toolchain")?,
                    draft: image["draft"].as_str().map(str::to_owned),
                };
                manifest.entries.insert((name.clone(), format), entry);
            }
        }
        Ok(manifest)
    }

    /// Writes `manifest.json` into `folder`: sorted, one value a line, so that changes are readable.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), BuildError> {
        let mut named = Map::new();
        for ((name, format), entry) in &self.entries {
            let images = named.entry(name.clone()).or_insert_with(|| json!({}));
            images[format.extension()] = json!({
                "file": entry.file, "sha256": entry.sha256, "source": entry.source, "toolchain": entry.toolchain,
            });
            if let Some(draft) = &entry.draft {
                images[format.extension()]["draft"] = json!(draft);
            }
        }
        let path = folder.join("manifest.json");
        let mut text = format!("{:#}", json!({ "form": FORM, "images": named }));
        text.push('\n');
        // In one step: a build beside this one may be reading it.
        let new = folder.join("manifest.json.new");
        fs::write(&new, text).map_err(BuildError::io("write", &new))?;
        fs::rename(&new, &path).map_err(BuildError::io("replace", &path))
    }

    /// What the manifest holds for an image and format.
    pub fn get(&self, image: &str, format: Format) -> Option<&Entry> {
        self.entries.get(&(image.to_owned(), format))
    }

    /// Forgets every image for whose name `keep` is false, and gives the names of their files.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) -> Vec<String> {
        let mut files = Vec::new();
        self.entries.retain(|(name, _), entry| {
            let keep = keep(name);
            if !keep {
                files.push(entry.file.clone());
            }
            keep
        });
        files
    }

    /// Records an image, in place of an older one of the same name and format.
    pub fn set(&mut self, image: &str, format: Format, entry: Entry) {
        self.entries.insert((image.to_owned(), format), entry);
    }
}

/// Why a prebuilt image was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PrebuiltMiss {
    /// `WARPHEAP_KERNELS=build` forbids it.
    NotAllowed,
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

/// The nearest `prebuilt` folder with a manifest, in `start` or above it.
pub fn locate(start: &Path) -> Option<PathBuf> {
    start
        .ancestors()
        .map(|dir| dir.join("prebuilt"))
        .find(|folder| folder.join("manifest.json").is_file())
}

/// Gives the prebuilt image of this name, packed, if it was made from sources with the hash `source`.
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
    let file = folder.join(&entry.file);
    let damaged = |found| PrebuiltMiss::Damaged {
        file: file.clone(),
        recorded: entry.sha256.clone(),
        found,
    };
    Ok(match fs::read(&file) {
        Err(error) => Err(damaged(format!("it cannot be read: {error}"))),
        Ok(bytes) => match sha256(&bytes) {
            found if found == entry.sha256 => Ok(bytes),
            found => Err(damaged(format!("it has {found}"))),
        },
    })
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
    let image = crate::compile(krate, format, toolchain)?;
    dep_info::check(krate, format)?;
    Ok(image)
}

/// The hash of what an image is made from just before the step that takes most of the time; `None` for a
/// format without such a step. The same draft by the same compiler is the same image.
///
/// # Errors
/// As [`compile`].
pub fn draft(
    krate: &DeviceCrate,
    format: Format,
    toolchain: &Toolchain,
) -> Result<Option<String>, BuildError> {
    if format != Format::Spirv {
        return Ok(None);
    }
    let hash = crate::spirv::draft_hash(krate, toolchain)?;
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

/// Packs `image`, stores it as `<image name>.<extension>.gz` in `folder` (made if missing) and records it.
///
/// # Errors
/// A file cannot be read or written, or the present manifest is malformed.
pub fn write(
    folder: &Path,
    krate: &DeviceCrate,
    format: Format,
    image: &[u8],
    draft: Option<String>,
    toolchain: &str,
) -> Result<(), BuildError> {
    fs::create_dir_all(folder).map_err(BuildError::io("make", folder))?;
    let mut manifest = Manifest::read(folder)?;
    let packed = pack(image);
    let file = file_name(krate, format);
    let path = folder.join(&file);
    fs::write(&path, &packed).map_err(BuildError::io("write", &path))?;
    let entry = Entry {
        file,
        sha256: sha256(&packed),
        source: krate.source_hash()?,
        toolchain: toolchain.to_owned(),
        draft,
    };
    manifest.set(&krate.image_name(), format, entry);
    manifest.write(folder)
}

/// The file of an image in a folder of prebuilt code.
pub(crate) fn file_name(krate: &DeviceCrate, format: Format) -> String {
    format!("{}.{}.gz", krate.image_name(), format.extension())
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
