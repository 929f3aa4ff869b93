//! A project with device crates: its folder of images, and which formats each crate has a feature for.

use crate::cargo;
use crate::error::{Result, message};
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpheap_build::{DeviceCrate, Format};

/// A project whose kernels are compiled.
#[derive(Debug)]
pub struct Project {
    /// The folder of its workspace, or of its only package.
    pub(super) root: PathBuf,
    /// Its device crates with the formats that a feature asks for.
    pub(super) crates: Vec<(DeviceCrate, Vec<Format>)>,
    /// The command that compiles its images, for messages.
    pub(super) command: &'static str,
}

impl Project {
    /// The project in the folder `root`; `command` is what a person types to compile its kernels.
    ///
    /// # Errors
    /// When cargo fails, a manifest cannot be read, or the project has no device crate.
    pub fn at(root: &Path, command: &'static str) -> Result<Self> {
        Self::of(&cargo::members(Some(&root.join("Cargo.toml")))?, command)
    }

    /// The project that the current folder is in.
    ///
    /// # Errors
    /// As [`Project::at`].
    pub fn here(command: &'static str) -> Result<Self> {
        Self::of(&cargo::members(None)?, command)
    }

    fn of(metadata: &Value, command: &'static str) -> Result<Self> {
        let root = cargo::root(metadata)?;
        let found = device_crates(metadata);
        if found.is_empty() {
            return message(format!(
                "{} has no crate with kernels: such a crate has `warpheap-build` in its [build-dependencies], and a build.rs that calls \
                 `warpheap_build::build()`",
                root.display()
            ));
        }
        let mut crates = Vec::new();
        for (dir, features) in found {
            let krate = DeviceCrate::read(&dir)?;
            let formats = krate.formats().iter().copied();
            let formats = formats.filter(|format| features.contains(&format.feature()));
            crates.push((krate.clone(), formats.collect()));
        }
        Ok(Project {
            root,
            crates,
            command,
        })
    }

    /// Where its images lie.
    pub fn folder(&self) -> PathBuf {
        self.root.join("prebuilt")
    }
}

/// The members whose build script is `warpheap-build`'s, with the names of their features.
fn device_crates(metadata: &Value) -> Vec<(PathBuf, Vec<&str>)> {
    let list = |value: &'static str, of: &'_ Value| -> Vec<Value> {
        of[value].as_array().cloned().unwrap_or_default()
    };
    let members = list("workspace_members", metadata);
    let mut found: Vec<_> = cargo::packages(metadata)
        .filter(|package| members.contains(&package["id"]))
        .filter(|package| {
            let dependencies = package["dependencies"].as_array();
            let mut dependencies = dependencies.into_iter().flatten();
            dependencies.any(|d| d["name"] == "warpheap-build" && d["kind"] == "build")
        })
        .filter_map(|package| {
            let dir = Path::new(package["manifest_path"].as_str()?).parent()?;
            let features = package["features"].as_object();
            let features = features.into_iter().flat_map(|map| map.keys());
            Some((dir.to_path_buf(), features.map(String::as_str).collect()))
        })
        .collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn members_that_build_with_warpheap_build_are_device_crates() {
        let package = |id: &str, dependency: &str, kind: Value| {
            json!({"id": id, "manifest_path": format!("/w/{id}/Cargo.toml"), "features": {"cuda": []},
                   "dependencies": [{"name": dependency, "kind": kind}]})
        };
        let metadata = json!({
            "workspace_members": ["kernels", "facade", "plain"],
            "packages": [
                package("kernels", "warpheap-build", json!("build")),
                package("facade", "warpheap-build", Value::Null),
                package("plain", "cc", json!("build")),
                package("foreign", "warpheap-build", json!("build")),
            ],
        });
        let kernels = (PathBuf::from("/w/kernels"), vec!["cuda"]);
        assert_eq!(device_crates(&metadata), [kernels]);
    }

    #[test]
    fn a_project_without_kernels_is_told_what_a_crate_with_kernels_is() {
        let metadata = json!({"workspace_root": "/w", "workspace_members": [], "packages": []});
        let error = Project::of(&metadata, "warpheap kernels").unwrap_err();
        let text = error.to_string();
        assert!(text.contains("/w has no crate with kernels"), "{text}");
        assert!(text.contains("warpheap-build"), "{text}");
    }

    #[test]
    fn formats_are_those_that_have_a_feature() {
        let temp = tempfile::tempdir().unwrap();
        let manifest = temp.path().join("Cargo.toml");
        let text =
            "[package]\nname = \"k\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
        std::fs::write(&manifest, text).unwrap();
        let formats = |features: Value| {
            let metadata = json!({"workspace_root": temp.path(), "workspace_members": ["k"], "packages": [{
                "id": "k", "manifest_path": manifest, "features": features,
                "dependencies": [{"name": "warpheap-build", "kind": "build"}],
            }]});
            Project::of(&metadata, "x").unwrap().crates[0].1.clone()
        };
        assert_eq!(formats(json!({"host": [], "cuda": []})), [Format::Ptx]);
        assert_eq!(
            formats(json!({"vulkan": [], "cuda": []})),
            [Format::Ptx, Format::Spirv]
        );
        assert!(formats(json!({"default": []})).is_empty());
    }
}
