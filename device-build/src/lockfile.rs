//! Notices the one dependency that breaks `spirv-std`: a `glam` that is too new.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use toml_span::Value;

use crate::device_crate::with_toml;
use crate::error::BuildError;

/// `spirv-std` asks for `glam >= 0.30.8` and does not compile with any after this one.
const NEWEST_GLAM: [u64; 3] = [0, 30, 10];

/// The version of a `glam` that is too new, if `krate` uses `spirv-std` by way of `lockfile`.
///
/// # Errors
/// The lock file cannot be read or is malformed.
pub(crate) fn newer_glam(lockfile: &Path, krate: &str) -> Result<Option<String>, BuildError> {
    with_toml(lockfile, |lock| Ok(search(lock, krate)))
}

fn search(lock: &Value<'_>, krate: &str) -> Option<String> {
    let text = |package: &Value<'_>, key: &str| {
        package
            .pointer(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let mut packages: HashMap<String, Vec<(String, Vec<String>)>> = HashMap::new();
    for package in lock.pointer("/package")?.as_array()? {
        let dependencies = package.pointer("/dependencies").and_then(Value::as_array);
        let dependencies = dependencies
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect();
        let (Some(name), Some(version)) = (text(package, "/name"), text(package, "/version"))
        else {
            continue;
        };
        packages
            .entry(name)
            .or_default()
            .push((version, dependencies));
    }
    // A dependency is written `name`, or `name version` where the name alone is ambiguous.
    let mut reached = HashSet::new();
    let mut open = vec![krate.to_owned()];
    while let Some(dependency) = open.pop() {
        let mut words = dependency.split(' ');
        let (name, wanted) = (words.next().unwrap_or_default(), words.next());
        for (version, dependencies) in packages.get(name).into_iter().flatten() {
            if wanted.is_none_or(|wanted| wanted == version)
                && reached.insert((name.to_owned(), version))
            {
                open.extend(dependencies.iter().cloned());
            }
        }
    }
    if !reached.iter().any(|(name, _)| name == "spirv-std") {
        return None;
    }
    let glams = reached
        .iter()
        .filter(|(name, _)| name == "glam")
        .map(|(_, version)| *version);
    glams
        .filter(|version| number(version) > NEWEST_GLAM)
        .max_by_key(|version| number(version))
        .cloned()
}

fn number(version: &str) -> [u64; 3] {
    let mut parts = version
        .split(['.', '-', '+'])
        .map(|part| part.parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::search;

    fn lock(glam: &str, user: &str) -> Option<String> {
        let text = format!(
            "[[package]]\nname = \"glam\"\nversion = \"{glam}\"\n\
             [[package]]\nname = \"spirv-std\"\nversion = \"0.10.0-alpha.1\"\ndependencies = [\"glam\"]\n\
             [[package]]\nname = \"{user}\"\nversion = \"0.1.0\"\ndependencies = [\"spirv-std 0.10.0-alpha.1\"]\n"
        );
        search(&toml_span::parse(&text).expect("valid"), "mine")
    }

    #[test]
    fn only_a_newer_glam_under_spirv_std_is_named() {
        assert_eq!(lock("0.30.10", "mine"), None);
        assert_eq!(lock("0.31.0", "mine"), Some("0.31.0".to_owned()));
        assert_eq!(lock("0.30.11", "mine"), Some("0.30.11".to_owned()));
        assert_eq!(lock("0.31.0", "another"), None);
    }
}
