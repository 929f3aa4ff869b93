//! What cargo knows about a project.

use crate::error::{Error, Result, message};
use crate::sh;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo that started us, else the one on PATH.
pub fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What `cargo metadata` says about a package and all its dependencies, which are downloaded.
///
/// # Errors
/// When cargo fails or its answer is not JSON.
pub fn metadata(manifest: &Path) -> Result<Value> {
    let mut command = ask();
    parsed(command.arg("--manifest-path").arg(manifest))
}

/// What it says about the members of a project alone: the one with this manifest, or the one that the current folder is in.
///
/// # Errors
/// As [`metadata`].
pub fn members(manifest: Option<&Path>) -> Result<Value> {
    let mut command = ask();
    command.arg("--no-deps");
    if let Some(manifest) = manifest {
        command.arg("--manifest-path").arg(manifest);
    }
    parsed(&mut command)
}

fn ask() -> Command {
    let mut command = cargo();
    command.args(["metadata", "--format-version", "1"]);
    command
}

fn parsed(command: &mut Command) -> Result<Value> {
    serde_json::from_str(&sh::stdout(command)?).map_err(|e| Error::Output {
        program: "cargo metadata",
        why: e.to_string(),
    })
}

/// The folder with the sources of a package.
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

/// The root folder of the project.
///
/// # Errors
/// When `cargo metadata` does not say.
pub fn root(metadata: &Value) -> Result<PathBuf> {
    folder(metadata, "workspace_root")
}

/// Where cargo puts what it makes.
///
/// # Errors
/// When `cargo metadata` does not say.
pub fn target_dir(metadata: &Value) -> Result<PathBuf> {
    folder(metadata, "target_directory")
}

fn folder(metadata: &Value, key: &str) -> Result<PathBuf> {
    match metadata[key].as_str() {
        Some(folder) => Ok(folder.into()),
        None => message(format!("cargo metadata names no {key}")),
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

    #[test]
    fn a_folder_without_a_project_is_named_by_cargo() {
        let nowhere = Path::new("/no/such/folder/Cargo.toml");
        assert!(members(Some(nowhere)).is_err());
    }
}
