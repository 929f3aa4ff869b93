//! A small workspace with a device crate, made in a temporary folder.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use warpheap_build::source_hash;

/// Writes a file and makes its folders.
pub fn put(path: PathBuf, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    fs::write(path, text).expect("file");
}

/// A workspace with a device crate, a library that it uses through the workspace, one it uses by path,
/// and one that only its host side uses.
pub fn workspace() -> TempDir {
    let temp = TempDir::new().expect("temporary folder");
    let root = temp.path();
    put(
        root.join("Cargo.toml"),
        "[workspace]\nmembers = []\n[workspace.dependencies]\nshared = { path = \"shared\" }\nserde = \"1\"\n",
    );
    put(
        root.join("dev/Cargo.toml"),
        "[package]\nname = \"dev\"\nversion = \"0.1.0\"\n\
         [dependencies]\nshared.workspace = true\nserde.workspace = true\nlibm = \"0.2\"\n\
         [build-dependencies]\nbuilder = { path = \"../builder\" }\n\
         [dev-dependencies]\nchecker = { path = \"../checker\" }\n\
         [target.'cfg(not(any(target_arch = \"spirv\", target_arch = \"nvptx64\")))'.dependencies]\n\
         host = { path = \"../host\" }\n",
    );
    put(root.join("dev/src/lib.rs"), "mod inner;\n");
    put(root.join("dev/src/inner/mod.rs"), "// inner\n");
    put(root.join("dev/src/main.rs"), "fn main() {}\n");
    put(root.join("dev/src/notes.txt"), "notes\n");
    put(root.join("dev/build.rs"), "fn main() {}\n");
    put(
        root.join("shared/Cargo.toml"),
        "[package]\nname = \"shared\"\nversion = \"0.1.0\"\n[dependencies.deeper]\npath = \"../deeper\"\n",
    );
    put(root.join("shared/src/lib.rs"), "// shared\n");
    put(
        root.join("deeper/Cargo.toml"),
        "[package]\nname = \"deeper\"\nversion = \"0.1.0\"\n",
    );
    put(root.join("deeper/src/lib.rs"), "// deeper\n");
    put(
        root.join("host/Cargo.toml"),
        "[package]\nname = \"host\"\nversion = \"0.1.0\"\n",
    );
    put(root.join("host/src/lib.rs"), "// host\n");
    temp
}

/// The source hash of the device crate `dev` in the workspace.
pub fn hash(root: &Path) -> String {
    source_hash(&root.join("dev")).expect("hash")
}
