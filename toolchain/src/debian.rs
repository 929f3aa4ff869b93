//! What Debian's package tools are asked for: what is installed, installing, downloading.

use crate::error::{Error, Result, message};
use crate::sh;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Whether this system has Debian's package tools.
pub fn present() -> bool {
    sh::which("apt-get").is_some() && sh::which("dpkg-query").is_some()
}

/// The packages of `names` that are not installed.
pub fn missing<'a>(names: &[&'a str]) -> Vec<&'a str> {
    let installed = |name: &str| {
        Command::new("dpkg-query")
            .args(["-W", "-f", "${Status}", name])
            .stderr(Stdio::null())
            .output()
            .is_ok_and(|out| out.stdout.ends_with(b" installed"))
    };
    names.iter().copied().filter(|n| !installed(n)).collect()
}

/// Installs what is missing of `names` without recommended packages; says what it does. With
/// `allowed` false it installs nothing and says what to type instead.
///
/// # Errors
/// On a system that is not a Debian, without root and sudo, when installing is not allowed, or when apt fails.
pub fn ensure(names: &[&str], why: &str, allowed: bool) -> Result {
    if !present() {
        return message(format!(
            "{why} needs what Debian packages as {}; this system has no apt-get: install them its own way",
            names.join(", ")
        ));
    }
    let missing = missing(names);
    if missing.is_empty() {
        return Ok(());
    }
    let install = "apt-get install --no-install-recommends";
    let list = missing.join(" ");
    if !allowed {
        return message(format!(
            "{why} needs packages that are not installed: `{install} {list}`"
        ));
    }
    let Some(root) = as_root() else {
        return message(format!(
            "{why} needs packages, and only root may install them; run `{install} {list}` as root"
        ));
    };
    eprintln!("installing {list}");
    let apt = |args: &[&str]| {
        let mut command = Command::new(root.first().copied().unwrap_or("apt-get"));
        if !root.is_empty() {
            command.args(&root[1..]).arg("apt-get");
        }
        command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
        sh::quiet(&mut command)
    };
    apt(&["update", "-q"])?;
    let mut args = vec!["install", "-q", "-y", "--no-install-recommends"];
    args.extend(&missing);
    apt(&args).map(drop)
}

/// What to put before `apt-get`: nothing for root, sudo where it is, else there is no way.
fn as_root() -> Option<Vec<&'static str>> {
    let id = Command::new("id").arg("-u").output().ok()?;
    if id.stdout.trim_ascii() == b"0" {
        return Some(Vec::new());
    }
    sh::which("sudo").map(|_| vec!["sudo", "DEBIAN_FRONTEND=noninteractive"])
}

/// The newest version of a package that starts with `prefix` among those that apt can fetch.
///
/// # Errors
/// When there is none; the message tells which versions there are.
pub fn version(package: &str, prefix: &str) -> Result<String> {
    let table = sh::quiet(Command::new("apt-cache").args(["madison", package]))?;
    let versions = madison(&table);
    match versions.iter().find(|version| version.starts_with(prefix)) {
        Some(found) => Ok((*found).to_string()),
        None => message(format!(
            "apt knows no {package} {prefix} (it has: {}); run `apt-get update` and use Debian 12 with its \
             security archive, or a rustup toolchain",
            if versions.is_empty() {
                "none".into()
            } else {
                versions.join(", ")
            }
        )),
    }
}

/// The versions in the table that `apt-cache madison` prints.
fn madison(table: &str) -> Vec<&str> {
    table
        .lines()
        .filter_map(|line| line.split('|').nth(1))
        .map(str::trim)
        .collect()
}

/// Downloads packages and unpacks their files into a folder; installs nothing and needs no root.
///
/// # Errors
/// When apt cannot fetch one of them or a folder cannot be written.
pub fn unpack(packages: &[String], into: &Path) -> Result {
    let store = into.with_extension("debs");
    sh::remove(&store)?;
    sh::make_dir(&store)?;
    sh::quiet(
        Command::new("apt-get")
            .arg("-q")
            .arg("download")
            .args(packages)
            .current_dir(&store),
    )?;
    sh::make_dir(into)?;
    for archive in list(&store)? {
        sh::quiet(Command::new("dpkg-deb").arg("-x").arg(&archive).arg(into))?;
    }
    sh::remove(&store)
}

/// The files of a folder, sorted.
///
/// # Errors
/// When it cannot be read.
pub fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = |e: std::io::Error| -> Error { sh::file("read", folder, e) };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(read)? {
        files.push(entry.map_err(read)?.path());
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_the_second_column() {
        let table = "\
 rustc-web | 1.96.0+dfsg1-1~deb12u2 | archive bookworm-security/main amd64 Packages
 rustc-web | 1.85.0+dfsg3-1~deb12u3 | archive bookworm/main amd64 Packages
";
        assert_eq!(
            madison(table),
            ["1.96.0+dfsg1-1~deb12u2", "1.85.0+dfsg3-1~deb12u3"]
        );
        assert!(madison("").is_empty());
    }

    #[test]
    fn a_package_that_does_not_exist_is_missing_and_asked_for() {
        if !present() {
            return;
        }
        let text = ensure(&["no-such-package-here"], "This", false)
            .unwrap_err()
            .to_string();
        assert!(
            text.contains("apt-get install --no-install-recommends no-such-package-here"),
            "{text}"
        );
    }
}
