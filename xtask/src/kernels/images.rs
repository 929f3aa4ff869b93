//! Which images there are, which of them a command is about, and files that belong to none.

use crate::error::{Result, message};
use crate::workspace;
use serde_json::Value;
use std::path::{Path, PathBuf};
use warpheap_build::DeviceCrate;
use warpheap_build::prebuilt::Manifest;

/// The device crates of the workspace: the members whose build script is `warpheap-build`'s.
///
/// # Errors
/// A manifest that cannot be read.
pub fn device_crates(metadata: &Value) -> Result<Vec<DeviceCrate>> {
    let crates: std::result::Result<Vec<_>, _> = device_crate_dirs(metadata)
        .iter()
        .map(|dir| DeviceCrate::read(dir))
        .collect();
    Ok(crates?)
}

fn device_crate_dirs(metadata: &Value) -> Vec<PathBuf> {
    let members: Vec<&Value> = metadata["workspace_members"]
        .as_array()
        .into_iter()
        .flatten()
        .collect();
    let mut dirs: Vec<PathBuf> = workspace::packages(metadata)
        .filter(|package| members.contains(&&package["id"]))
        .filter(|package| {
            let mut dependencies = package["dependencies"].as_array().into_iter().flatten();
            dependencies.any(|d| d["name"] == "warpheap-build" && d["kind"] == "build")
        })
        .filter_map(|package| Path::new(package["manifest_path"].as_str()?).parent())
        .map(Path::to_path_buf)
        .collect();
    dirs.sort();
    dirs
}

/// The images with these names; a crate's name stands for all of its images, no names for all.
///
/// # Errors
/// A name that is none of theirs.
pub fn choose(all: &[DeviceCrate], names: &[String]) -> Result<Vec<DeviceCrate>> {
    let images: Vec<_> = all.iter().flat_map(DeviceCrate::images).collect();
    let is = |image: &DeviceCrate, name: &str| image.name() == name || image.image_name() == name;
    for name in names {
        if !images.iter().any(|image| is(image, name)) {
            let known: Vec<_> = all.iter().map(DeviceCrate::name).collect();
            return message(format!(
                "`{name}` is no device crate of this workspace and no image of one; there are {}",
                known.join(", ")
            ));
        }
    }
    let wanted = |image: &DeviceCrate| names.is_empty() || names.iter().any(|name| is(image, name));
    Ok(images.into_iter().filter(|image| wanted(image)).collect())
}

/// The images that a check compiles again when it compiles some: one of each crate that is divided by allocator, and one
/// of those that are not, by the hashes of their sources. The hashes tell of stale images; this tells whether the compiler
/// still makes of the sources what was recorded.
///
/// # Errors
/// A source file that cannot be read.
pub fn sample(images: &[DeviceCrate]) -> Result<Vec<String>> {
    let (mut sample, mut undivided) = (Vec::new(), Vec::new());
    for first in images {
        if first.image_name() != first.name() {
            continue;
        }
        let of_crate = images.iter().filter(|image| image.name() == first.name());
        match of_crate.collect::<Vec<_>>() {
            one if one.len() == 1 => undivided.extend(one),
            several => sample.push(one_of(&several)?),
        }
    }
    if !undivided.is_empty() {
        sample.push(one_of(&undivided)?);
    }
    Ok(sample)
}

/// The name of one of some images, not none, by what the first is made of.
fn one_of(images: &[&DeviceCrate]) -> Result<String> {
    let hash = images[0].source_hash()?;
    let number: usize = hash.bytes().map(usize::from).sum();
    Ok(images[number % images.len()].image_name())
}

fn has_image(crates: &[DeviceCrate], name: &str) -> bool {
    let mut images = crates.iter().flat_map(DeviceCrate::images);
    images.any(|image| image.image_name() == name)
}

/// Complaints about what lies in the folder and belongs to no device crate.
///
/// # Errors
/// A manifest that cannot be read.
pub fn strays(folder: &Path, crates: &[DeviceCrate]) -> Result<Vec<String>> {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    let stray = |file| format!("{file} belongs to no device crate of the workspace");
    Ok(files.into_iter().map(stray).collect())
}

/// Removes what belongs to no device crate any more.
///
/// # Errors
/// Files that cannot be changed.
pub fn prune(folder: &Path, crates: &[DeviceCrate]) -> Result {
    let mut manifest = Manifest::read(folder)?;
    let files = manifest.retain(|name| has_image(crates, name));
    if files.is_empty() {
        return Ok(());
    }
    for file in files {
        println!("removing {file}");
        crate::sh::remove(&folder.join(file))?;
    }
    Ok(manifest.write(folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use warpheap_build::Format;
    use warpheap_build::prebuilt;

    #[test]
    fn members_that_build_with_warpheap_build_are_device_crates() {
        let package = |id: &str, dependency: &str, kind: Value| {
            json!({"id": id, "manifest_path": format!("/w/{id}/Cargo.toml"),
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
        assert_eq!(device_crate_dirs(&metadata), [PathBuf::from("/w/kernels")]);
    }

    #[test]
    fn images_are_chosen_by_name_and_an_unknown_name_is_answered_with_the_crates() {
        let dir = workspace::root().join("kernels");
        let all = [DeviceCrate::read(&dir).unwrap()];
        let count = |names: &[&str]| {
            let names: Vec<_> = names.iter().map(|name| name.to_string()).collect();
            choose(&all, &names).unwrap().len()
        };
        assert_eq!(count(&[]), warpheap_build::ALLOCATORS.len() + 1);
        assert_eq!(count(&["warpheap-kernels"]), count(&[]));
        assert_eq!(count(&["warpheap-kernels.Bump"]), 1);
        let text = choose(&all, &["kernel".into()]).unwrap_err().to_string();
        assert!(
            text.contains("`kernel`") && text.contains("warpheap-kernels"),
            "{text}"
        );
    }

    #[test]
    fn a_check_compiles_one_image_of_a_divided_crate() {
        let dir = workspace::root().join("kernels");
        let images = DeviceCrate::read(&dir).unwrap().images();
        let sample = sample(&images).unwrap();
        assert_eq!(sample.len(), 1, "{sample:?}");
        assert!(sample[0].starts_with("warpheap-kernels"), "{sample:?}");
    }

    #[test]
    fn a_check_compiles_one_of_the_crates_that_are_not_divided() {
        let krate = |name: &str| DeviceCrate::read(&workspace::root().join(name)).unwrap();
        let folders = ["examples/kmer", "examples/particles", "kernels"];
        let images: Vec<_> = folders.iter().flat_map(|dir| krate(dir).images()).collect();
        let sample = sample(&images).unwrap();
        assert_eq!(sample.len(), 2, "{sample:?}");
        let examples = ["warpheap-kmer", "warpheap-particles"];
        assert!(examples.contains(&sample[1].as_str()), "{sample:?}");
    }

    #[test]
    fn images_of_crates_that_are_gone_are_complained_about_and_removed() {
        let folder = std::env::temp_dir().join(format!("xtask-strays-{}", std::process::id()));
        let krate = DeviceCrate::read(&workspace::root().join("kernels")).unwrap();
        prebuilt::write(&folder, &krate, Format::Ptx, b"ptx", None, "rustc").unwrap();
        let file = folder.join("warpheap-kernels.ptx.gz");
        let mine = [krate];

        assert!(strays(&folder, &mine).unwrap().is_empty());
        prune(&folder, &mine).unwrap();
        assert!(file.is_file());
        assert_eq!(
            strays(&folder, &[]).unwrap(),
            ["warpheap-kernels.ptx.gz belongs to no device crate of the workspace"]
        );
        prune(&folder, &[]).unwrap();
        assert!(!file.exists() && strays(&folder, &[]).unwrap().is_empty());
        crate::sh::remove(&folder).unwrap();
    }
}
