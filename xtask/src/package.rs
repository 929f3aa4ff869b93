//! `cargo xtask package`: the crates as they are published.
//!
//! `cargo package --workspace` would want a version of the crates that are not published, too, and look for these in the
//! registry; so the others are named one by one.

mod outside;

use crate::vulkan;
use crate::workspace;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::sh;

/// Arguments of `cargo xtask package`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also build and run a project that has nothing but the packages, offline
    #[arg(long = "try")]
    try_out: bool,
    /// Pack what is not committed, too
    #[arg(long)]
    allow_dirty: bool,
}

/// Runs the command.
///
/// # Errors
/// When cargo packs a crate not, or a package is larger than the registry takes; with `--try` when the project does not
/// compile or its kernels go wrong.
pub fn run(args: &Args) -> Result {
    let packages = pack(args.allow_dirty)?;
    for Package { file, bytes } in &packages {
        println!("{:>6} KiB  {}", bytes.div_ceil(1024), file.display());
    }
    match args.try_out {
        true => outside::run(
            &packages,
            vulkan::chosen_drivers().as_deref(),
            workspace::ALL_BACKENDS,
        ),
        false => Ok(()),
    }
}

/// Packs the crates as they lie here, and tries the packages. The workspace's own program is compiled with these features.
///
/// # Errors
/// As [`run`].
pub fn test(vulkan: Option<&[(&str, &str)]>, features: &str) -> Result {
    outside::run(&pack(true)?, vulkan, features)
}

/// The most that crates.io takes.
const LIMIT: u64 = 10 << 20;

/// A crate as it is published.
pub struct Package {
    /// `NAME-VERSION.crate`, an archive.
    file: PathBuf,
    bytes: u64,
}

/// Packs the crates that are published.
fn pack(allow_dirty: bool) -> Result<Vec<Package>> {
    let metadata = workspace::metadata()?;
    let published: Vec<_> = published(&metadata).filter_map(identity).collect();
    let mut cargo = workspace::cargo();
    // What is packed is compiled by who tries it, all of it at once.
    cargo.args(["package", "--quiet", "--no-verify"]);
    cargo.args(allow_dirty.then_some("--allow-dirty"));
    cargo.args(published.iter().flat_map(|(name, _)| ["-p", name]));
    sh::run(&mut cargo)?;
    let folder = workspace::target_dir(&metadata)?.join("package");
    let package = |(name, version): &(&str, &str)| {
        let file = folder.join(format!("{name}-{version}.crate"));
        let bytes = std::fs::metadata(&file).map_err(|e| sh::file("read", &file, e))?;
        within_limit(&file, bytes.len())?;
        Ok(Package {
            file,
            bytes: bytes.len(),
        })
    };
    published.iter().map(package).collect()
}

fn within_limit(file: &Path, bytes: u64) -> Result {
    if bytes <= LIMIT {
        return Ok(());
    }
    message(format!(
        "{} has {bytes} bytes, the registry takes {LIMIT}: name less in `include` of its Cargo.toml",
        file.display()
    ))
}

/// The workspace's crates that are published, as cargo's metadata have them.
pub fn published(metadata: &Value) -> impl Iterator<Item = &Value> {
    let members = metadata["workspace_members"].as_array();
    let members: Vec<&Value> = members.into_iter().flatten().collect();
    workspace::packages(metadata)
        .filter(move |package| members.contains(&&package["id"]))
        // An empty list of registries is `publish = false`.
        .filter(|package| package["publish"].is_null())
}

/// Name and version of a crate.
fn identity(package: &Value) -> Option<(&str, &str)> {
    Some((package["name"].as_str()?, package["version"].as_str()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_published_are_members_that_do_not_say_no() {
        let package = |id: &str, publish: Value| json!({"id": id, "name": id, "version": "1.0.0", "publish": publish});
        let metadata = json!({
            "workspace_members": ["a", "b"],
            "packages": [package("a", Value::Null), package("b", json!([])), package("c", Value::Null)],
        });
        let names: Vec<_> = published(&metadata).filter_map(identity).collect();
        assert_eq!(names, [("a", "1.0.0")]);
    }

    #[test]
    fn a_package_that_is_too_large_is_named() {
        assert!(within_limit(Path::new("a.crate"), LIMIT).is_ok());
        let error = within_limit(Path::new("a.crate"), LIMIT + 1).unwrap_err();
        assert!(error.to_string().contains("a.crate"), "{error}");
    }
}
