//! A copy of some files that is written where it differs from what is there, so that cargo sees as changed what is.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The files by their paths below the copy's root.
#[derive(Default)]
pub struct Copy {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Copy {
    /// Adds a file, or a folder with all in it but what cargo made.
    pub fn add(&mut self, from: &Path, to: impl AsRef<Path>) {
        let to = to.as_ref();
        if !from.is_dir() {
            let bytes =
                fs::read(from).unwrap_or_else(|error| panic!("{}: {error}", from.display()));
            self.files.insert(to.to_owned(), bytes);
            return;
        }
        for (name, path) in entries(from) {
            if name != "target" {
                self.add(&path, to.join(name));
            }
        }
    }

    /// Changes the text of a file.
    pub fn change(&mut self, file: &str, change: impl FnOnce(&str) -> String) {
        let bytes = self
            .files
            .get_mut(Path::new(file))
            .expect("a file of the copy");
        let text = std::str::from_utf8(bytes).expect("text");
        *bytes = change(text).into_bytes();
    }

    /// Makes `root` hold these files and no others.
    pub fn write(&self, root: &Path) {
        for (name, bytes) in &self.files {
            let path = root.join(name);
            if fs::read(&path).is_ok_and(|there| there == *bytes) {
                continue;
            }
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(&path, bytes).expect("a file");
        }
        self.remove_others(root, root);
    }

    fn remove_others(&self, root: &Path, folder: &Path) {
        for (_, path) in entries(folder) {
            if path.is_dir() {
                self.remove_others(root, &path);
            } else if !self
                .files
                .contains_key(path.strip_prefix(root).expect("below the root"))
            {
                fs::remove_file(&path).expect("a file that can be removed");
            }
        }
    }
}

fn entries(folder: &Path) -> Vec<(String, PathBuf)> {
    let entries =
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            (
                entry.file_name().to_string_lossy().into_owned(),
                entry.path(),
            )
        })
        .collect()
}
