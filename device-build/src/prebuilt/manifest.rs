//! `manifest.json`: what each stored image was made from.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use crate::error::BuildError;
use crate::format::Format;

/// The form of `manifest.json` that this version reads and writes.
const FORM: u64 = 3;

/// One image in the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// File name within the folder.
    pub file: String,
    /// SHA-256 (hex) of the file.
    pub sha256: String,
    /// [`DeviceCrate::source_hash`](crate::DeviceCrate::source_hash) of the sources it was compiled from.
    pub source: String,
    /// `rustc --version` of the compiler.
    pub toolchain: String,
    /// What [`draft`](super::draft) said of it, for a format that has drafts.
    pub draft: Option<String>,
}

/// What `manifest.json` says: for each image ([`DeviceCrate::image_name`](crate::DeviceCrate::image_name)) and format one [`Entry`].
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
