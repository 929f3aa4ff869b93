//! What the `Cargo.toml` of a device crate and of its local dependencies say: read as text, because a
//! build script must not run `cargo metadata` on the workspace that is being built.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use cargo_platform::{Cfg, Platform};
use toml_span::Value;
use warpheap_allocators::named;

use super::folders;
use super::images::ALLOCATORS;
use super::local::LocalCrate;
use super::text::with_toml;
use crate::error::BuildError;

/// Makes a path absolute and resolves links, so that one crate reached over two ways is one crate.
pub(super) fn absolute(path: &Path) -> Result<PathBuf, BuildError> {
    match path.canonicalize() {
        Ok(path) => Ok(path),
        Err(_) => std::path::absolute(path).map_err(BuildError::io("resolve", path)),
    }
}

/// Reads the name of the package in `dir`.
pub(crate) fn package_name(dir: &Path) -> Result<String, BuildError> {
    let path = dir.join("Cargo.toml");
    with_toml(&path, |manifest| name_of(manifest, &path))
}

fn name_of(manifest: &Value<'_>, path: &Path) -> Result<String, BuildError> {
    let name = manifest.pointer("/package/name").and_then(Value::as_str);
    name.map(str::to_owned)
        .ok_or_else(|| BuildError::malformed(path, "holds no `package.name`"))
}

/// The workspace that `dir` belongs to, found as cargo does: `package.workspace`, else the nearest
/// `[workspace]` at or above it.
pub(super) fn find_workspace(dir: &Path) -> Result<Option<PathBuf>, BuildError> {
    let named = with_toml(&dir.join("Cargo.toml"), |manifest| {
        Ok(manifest
            .pointer("/package/workspace")
            .and_then(Value::as_str)
            .map(|path| dir.join(path)))
    })?;
    if let Some(root) = named {
        return absolute(&root).map(Some);
    }
    for above in dir.ancestors() {
        let path = above.join("Cargo.toml");
        if path.is_file()
            && with_toml(&path, |manifest| {
                Ok(manifest.pointer("/workspace").is_some())
            })?
        {
            return Ok(Some(above.to_path_buf()));
        }
    }
    Ok(None)
}

/// Adds the crate in `dir` and, recursively, its local dependencies; gives its package name.
pub(super) fn collect(
    dir: &Path,
    members: &mut BTreeMap<String, LocalCrate>,
) -> Result<String, BuildError> {
    let path = dir.join("Cargo.toml");
    let (name, local, dependencies) = with_toml(&path, |manifest| {
        let name = name_of(manifest, &path)?;
        let mut local = LocalCrate {
            dir: dir.to_path_buf(),
            source_dirs: source_dirs(manifest, dir),
            host_only: host_only(manifest, dir)?,
            only_in: only_in(manifest, dir)?,
        };
        folders::declare(manifest, &mut local)?;
        Ok((name, local, local_dependencies(manifest, dir)?))
    })?;
    if let Some(known) = members.get(&name) {
        if known.dir == dir {
            return Ok(name);
        }
        let other = known.dir.display();
        return Err(BuildError::malformed(
            &path,
            format!("a second package named `{name}`; the first lies in {other}"),
        ));
    }
    members.insert(name.clone(), local);
    for dependency in dependencies {
        collect(&dependency, members)?;
    }
    Ok(name)
}

fn source_dirs(manifest: &Value<'_>, dir: &Path) -> Vec<PathBuf> {
    let mut dirs = vec![dir.join("src")];
    if let Some(lib) = manifest.pointer("/lib/path").and_then(Value::as_str) {
        let lib_dir = dir.join(lib).parent().unwrap_or(dir).to_path_buf();
        if !lib_dir.starts_with(&dirs[0]) {
            dirs.push(lib_dir);
        }
    }
    dirs.retain(|dir| dir.is_dir());
    dirs
}

/// What `package.metadata.warpheap.host-only` names.
fn host_only(manifest: &Value<'_>, dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    const KEY: &str = "package.metadata.warpheap.host-only";
    let malformed = |reason| BuildError::malformed(&dir.join("Cargo.toml"), reason);
    let Some(list) = manifest.pointer("/package/metadata/warpheap/host-only") else {
        return Ok(Vec::new());
    };
    let Some(list) = list.as_array() else {
        return Err(malformed(format!("`{KEY}` is no list of paths")));
    };
    let mut paths = Vec::new();
    for entry in list {
        let path = entry.as_str().map(|text| dir.join(text));
        match path {
            // A misspelt entry would exclude nothing without a word.
            Some(path) if path.exists() => paths.push(path),
            Some(path) => {
                let path = path.display();
                return Err(malformed(format!(
                    "`{KEY}` names {path}, which is not there"
                )));
            }
            None => return Err(malformed(format!("`{KEY}` is no list of paths"))),
        }
    }
    Ok(paths)
}

/// What `package.metadata.warpheap.only-in` says.
fn only_in(manifest: &Value<'_>, dir: &Path) -> Result<Vec<(PathBuf, Vec<String>)>, BuildError> {
    let malformed = |reason| {
        let reason = format!("`package.metadata.warpheap.only-in` {reason}");
        BuildError::malformed(&dir.join("Cargo.toml"), reason)
    };
    let Some(value) = manifest.pointer("/package/metadata/warpheap/only-in") else {
        return Ok(Vec::new());
    };
    let Some(table) = value.as_table() else {
        return Err(malformed("is no table of paths".to_owned()));
    };
    let mut found = Vec::new();
    for (key, names) in table {
        let path = dir.join(&*key.name);
        // A misspelt entry would change nothing without a word.
        if !path.exists() {
            return Err(malformed(format!(
                "names {}, which is not there",
                path.display()
            )));
        }
        let mut allocators = Vec::new();
        for name in names.as_array().into_iter().flatten() {
            match name.as_str() {
                Some(name) if named(name).is_some() => allocators.push(name.to_owned()),
                _ => {
                    return Err(malformed(format!(
                        "gives `{}` something that is no allocator of the library; there are {}",
                        key.name,
                        ALLOCATORS.join(", ")
                    )));
                }
            }
        }
        found.push((path, allocators));
    }
    Ok(found)
}

fn local_dependencies(manifest: &Value<'_>, dir: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut tables = vec![manifest.pointer("/dependencies")];
    if let Some(targets) = manifest.pointer("/target").and_then(Value::as_table) {
        for (key, table) in targets {
            if counts_for_device(&key.name) {
                tables.push(table.pointer("/dependencies"));
            }
        }
    }
    let mut found = Vec::new();
    for (key, entry) in tables
        .into_iter()
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
    {
        if let Some(path) = entry.pointer("/path").and_then(Value::as_str) {
            found.push(absolute(&dir.join(path))?);
        } else if entry.pointer("/workspace").and_then(Value::as_bool) == Some(true) {
            found.extend(inherited_path(dir, &key.name)?);
        }
    }
    Ok(found)
}

/// The folder behind `name = { workspace = true }`, where the workspace gives one.
fn inherited_path(dir: &Path, name: &str) -> Result<Option<PathBuf>, BuildError> {
    let Some(root) = find_workspace(dir)? else {
        let path = dir.join("Cargo.toml");
        return Err(BuildError::malformed(
            &path,
            format!("`{name}.workspace = true`, but there is no workspace above"),
        ));
    };
    with_toml(&root.join("Cargo.toml"), |manifest| {
        // Not one `pointer`: a crate name may not hold `/`, yet it is text from outside.
        let table = manifest
            .pointer("/workspace/dependencies")
            .and_then(Value::as_table);
        let path = table
            .and_then(|t| t.get(name))
            .and_then(|entry| entry.pointer("/path"))
            .and_then(Value::as_str);
        path.map(|path| absolute(&root.join(path))).transpose()
    })
}

/// Whether a `[target.'KEY'.dependencies]` table holds for at least one kind of device.
fn counts_for_device(key: &str) -> bool {
    const DEVICES: [(&str, &[&str]); 2] = [
        (
            "nvptx64-nvidia-cuda",
            &[
                "target_arch=\"nvptx64\"",
                "target_os=\"cuda\"",
                "target_vendor=\"nvidia\"",
                "target_pointer_width=\"64\"",
            ],
        ),
        (
            "spirv-unknown-vulkan1.2",
            &[
                "target_arch=\"spirv\"",
                "target_os=\"none\"",
                "target_vendor=\"unknown\"",
                "target_pointer_width=\"32\"",
            ],
        ),
    ];
    const BOTH: [&str; 3] = [
        "target_endian=\"little\"",
        "panic=\"abort\"",
        "target_env=\"\"",
    ];
    // What cannot be read counts: too many sources cost a rebuild, too few hide a change.
    let Ok(platform) = Platform::from_str(key) else {
        return true;
    };
    DEVICES.iter().any(|(triple, facts)| {
        let facts: Vec<Cfg> = facts
            .iter()
            .chain(&BOTH)
            .filter_map(|fact| Cfg::from_str(fact).ok())
            .collect();
        platform.matches(triple, &facts)
    })
}

#[cfg(test)]
mod tests {
    use super::counts_for_device;

    #[test]
    fn target_tables_that_hold_for_a_device() {
        for key in [
            "nvptx64-nvidia-cuda",
            "cfg(target_arch = \"spirv\")",
            "cfg(any(target_arch = \"nvptx64\", unix))",
            "cfg(not(windows))",
            "cfg(not(target_arch = \"spirv\"))",
            "cfg(this is not a cfg",
        ] {
            assert!(counts_for_device(key), "{key}");
        }
        for key in [
            "x86_64-unknown-linux-gnu",
            "cfg(unix)",
            "cfg(not(any(target_arch = \"spirv\", target_arch = \"nvptx64\")))",
            "cfg(all(not(target_arch = \"spirv\"), not(target_arch = \"nvptx64\")))",
        ] {
            assert!(!counts_for_device(key), "{key}");
        }
    }
}
