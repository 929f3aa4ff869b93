//! Where the workspace is and what cargo knows about it.

use crate::error::{Error, Result, message};
use crate::sh;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo profile that tests, bundle and checks build with. Release, because the emulator runs
/// millions of device instructions in the tests; one profile everywhere, so that the steps share what
/// they compile.
pub const PROFILE: &str = "release";

/// The features with every backend that exists.
pub const ALL_BACKENDS: &str = "host,cuda,vulkan";

/// The root folder of the workspace.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The cargo that started us, in the root folder.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// What `cargo metadata` says about the workspace and all its dependencies.
///
/// # Errors
/// When cargo fails or its answer is not JSON.
pub fn metadata() -> Result<Value> {
    metadata_of(&root().join("Cargo.toml"))
}

/// What `cargo metadata` says about another package; its dependencies are downloaded.
///
/// # Errors
/// As [`metadata`].
pub fn metadata_of(manifest: &Path) -> Result<Value> {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1", "--manifest-path"]);
    let text = sh::stdout(command.arg(manifest))?;
    serde_json::from_str(&text).map_err(|e| Error::Output {
        program: "cargo metadata",
        why: e.to_string(),
    })
}

/// The folder with the sources of a package of the dependency graph.
///
/// # Errors
/// When no package of that name is there.
pub fn package_dir(metadata: &Value, name: &str) -> Result<PathBuf> {
    let manifest = packages(metadata)
        .find(|package| package["name"] == name)
        .and_then(|package| package["manifest_path"].as_str());
    match manifest.and_then(|path| Path::new(path).parent()) {
        Some(folder) => Ok(folder.to_path_buf()),
        None => message(format!("no package `{name}` among the dependencies")),
    }
}

/// Where cargo puts what it makes of the workspace.
///
/// # Errors
/// When `cargo metadata` does not say.
pub fn target_dir(metadata: &Value) -> Result<PathBuf> {
    match metadata["target_directory"].as_str() {
        Some(folder) => Ok(folder.into()),
        None => message("cargo metadata names no target_directory"),
    }
}

/// Every package that `cargo metadata` lists.
pub fn packages(metadata: &Value) -> impl Iterator<Item = &Value> {
    metadata["packages"].as_array().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(text.contains("[workspace]"));
    }

    #[test]
    fn a_package_is_found_by_its_exact_name() {
        let metadata = json!({"packages": [
            {"name": "cust", "manifest_path": "/r/cust-0.3.2/Cargo.toml"},
            {"name": "cust_raw", "manifest_path": "/r/cust_raw-0.11.3/Cargo.toml"},
        ]});
        let folder = package_dir(&metadata, "cust_raw").unwrap();
        assert_eq!(folder, Path::new("/r/cust_raw-0.11.3"));
        let text = package_dir(&metadata, "cust_ra").unwrap_err().to_string();
        assert!(text.contains("`cust_ra`"), "{text}");
    }
}
