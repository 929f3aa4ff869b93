//! `cargo xtask bundle`: one folder with every program, for a machine with a GPU and without Rust.
//!
//! Each program holds the kernels that it needs, packed, and several hold the same. So the programs go into one archive,
//! whose compressor looks back far enough to find them again.

use crate::workspace::{self, ALL_BACKENDS, PROFILE};
use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use warpheap_toolchain::error::{Result, message};
use warpheap_toolchain::{debian, sh};

/// The largest a bundle may be.
const LIMIT: u64 = 56 << 20;

/// The packages whose programs and tests are bundled: those that use a device. Tests of compilers and
/// macros need a compiler and the sources, which the other machine does not have.
const PACKAGES: [&str; 4] = [
    "warpheap-cli",
    "warpheap-tests",
    "warpheap-cuda",
    "warpheap-vulkan",
];

/// The programs of the suite that use a device. The others run in the emulator, which was done where they
/// were compiled, and each holds all kernels once more.
const SUITE: [&str; 2] = ["warpheap-tests.cuda", "warpheap-tests.vulkan"];

/// The archive of all programs, which `run.sh` unpacks.
const ARCHIVE: &str = "programs.tar.xz";

/// How far the compressor looks back: over all programs.
const LOOK_BACK: &str = "--lzma2=preset=4,dict=512MiB";

/// The script that runs everything on the other machine.
const RUN_SH: &str = include_str!("bundle/run.sh");

/// Arguments of `cargo xtask bundle`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder to make [default: target/bundle of the workspace]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// When something does not compile or the folder would be larger than 56 MiB.
pub fn run(args: &Args) -> Result {
    let out = args
        .out
        .clone()
        .unwrap_or_else(|| workspace::root().join("target/bundle"));
    if out.is_dir() && !out.join("run.sh").is_file() && !debian::list(&out)?.is_empty() {
        return message(format!(
            "{} is a folder with other things in it; it would be replaced",
            out.display()
        ));
    }
    let programs = build(&["build", "--bins"], false)?;
    let tests = build(&["test", "--no-run", "--test", "*"], true)?;
    if programs.is_empty() || tests.is_empty() {
        return message(format!(
            "cargo built {} programs and {} tests",
            programs.len(),
            tests.len()
        ));
    }
    sh::remove(&out)?;
    sh::make_dir(&out)?;
    // First, since it is what marks the folder as one that may be replaced.
    let script = out.join("run.sh");
    sh::write(&script, RUN_SH)?;
    sh::make_executable(&script)?;
    for (folder, executables) in [("bin", programs), ("tests", tests)] {
        sh::make_dir(&out.join(folder))?;
        for Executable { name, file } in executables {
            // Copies are stripped; a profile that strips would compile everything once more.
            let to = out.join(folder).join(name);
            sh::quiet(Command::new("strip").arg("-o").arg(&to).arg(&file))?;
        }
    }
    let packed: [&OsStr; 6] = [
        "-C".as_ref(),
        out.as_ref(),
        "-cf".as_ref(),
        "-".as_ref(),
        "bin".as_ref(),
        "tests".as_ref(),
    ];
    pack(&packed, &out.join(ARCHIVE))?;
    for folder in ["bin", "tests"] {
        sh::remove(&out.join(folder))?;
    }

    let files = sizes(&out)?;
    check_size(&files, LIMIT)?;
    for (file, size) in &files {
        println!(
            "{:>8} KiB  {}",
            size.div_ceil(1024),
            file.strip_prefix(&out).unwrap_or(file).display()
        );
    }
    println!("{}: run `./run.sh` there", out.display());
    Ok(())
}

/// A program that cargo built.
#[derive(Debug, PartialEq)]
pub(crate) struct Executable {
    pub name: String,
    pub file: PathBuf,
}

/// Builds the packages with every backend.
fn build(what: &[&str], tests: bool) -> Result<Vec<Executable>> {
    let mut cargo = workspace::cargo();
    cargo
        .args(what)
        .args(["--profile", PROFILE, "--features", ALL_BACKENDS]);
    cargo.args(PACKAGES.iter().flat_map(|package| ["-p", package]));
    eprintln!("+ {}", sh::shown(&cargo));
    cargo.arg("--message-format=json-render-diagnostics");
    Ok(packed(executables(&sh::stdout(&mut cargo)?, tests)))
}

/// Those that go along: of the suite only what needs a GPU.
fn packed(mut found: Vec<Executable>) -> Vec<Executable> {
    found.retain(|e| !e.name.starts_with("warpheap-tests.") || SUITE.contains(&e.name.as_str()));
    found
}

/// The executables in cargo's JSON messages: programs, or test programs under names that say which
/// package and target they are from.
pub(crate) fn executables(messages: &str, tests: bool) -> Vec<Executable> {
    let mut found: Vec<Executable> = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| {
            message["reason"] == "compiler-artifact" && message["profile"]["test"] == tests
        })
        .filter_map(|message| {
            let target = message["target"]["name"].as_str()?;
            let kind = message["target"]["kind"][0].as_str()?;
            let package = package_name(message["package_id"].as_str()?);
            let name = match (tests, kind) {
                (true, "test") => format!("{package}.{target}"),
                // Unit tests are about code of the host, and were run where it was compiled.
                (true, _) => return None,
                (false, _) => target.to_string(),
            };
            Some(Executable {
                name,
                file: message["executable"].as_str()?.into(),
            })
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// The name in a package id of cargo's: `path+file:///a/b#name@0.1.0`, or `path+file:///a/name#0.1.0`
/// where the folder is called like the package.
fn package_name(id: &str) -> &str {
    let (place, rest) = id.rsplit_once('#').unwrap_or((id, ""));
    match rest.split_once('@') {
        Some((name, _)) => name,
        None => place.rsplit('/').next().unwrap_or(place),
    }
}

/// Makes an archive with what `tar` is told to put in.
fn pack(tar: &[&OsStr], archive: &Path) -> Result {
    let file = std::fs::File::create(archive).map_err(|e| sh::file("make", archive, e))?;
    let mut tar = Command::new("tar")
        .args(tar)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| sh::file("start tar for", archive, e))?;
    let Some(stream) = tar.stdout.take() else {
        return message("tar has no output");
    };
    let mut xz = Command::new("xz");
    xz.args([LOOK_BACK, "--stdout", "-"])
        .stdin(stream)
        .stdout(file);
    let packed = xz
        .status()
        .map_err(|e| sh::file("start xz for", archive, e))?;
    let read = tar
        .wait()
        .map_err(|e| sh::file("wait for tar for", archive, e))?;
    match packed.success() && read.success() {
        true => Ok(()),
        false => message(format!(
            "{}: tar ended with {read}, xz with {packed}",
            archive.display()
        )),
    }
}

/// Every file below a folder with its size, the largest first.
fn sizes(folder: &Path) -> Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_path_buf()];
    while let Some(folder) = open.pop() {
        for path in debian::list(&folder)? {
            let meta = std::fs::symlink_metadata(&path).map_err(|e| sh::file("read", &path, e))?;
            if meta.is_dir() {
                open.push(path);
            } else {
                files.push((path, meta.len()));
            }
        }
    }
    files.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
    Ok(files)
}

fn check_size(files: &[(PathBuf, u64)], limit: u64) -> Result {
    let total: u64 = files.iter().map(|(_, size)| size).sum();
    if total <= limit {
        return Ok(());
    }
    let largest: Vec<String> = files
        .iter()
        .take(5)
        .map(|(file, size)| format!("{} ({size} bytes)", file.display()))
        .collect();
    message(format!(
        "the bundle has {total} bytes, {limit} are allowed; the largest files: {}",
        largest.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_over_the_limit_is_refused_and_its_largest_file_named() {
        let files = [(PathBuf::from("big"), 30), (PathBuf::from("small"), 11)];
        assert!(check_size(&files, 41).is_ok());
        let text = check_size(&files, 40).unwrap_err().to_string();
        assert!(
            text.contains("41 bytes") && text.contains("big (30 bytes)"),
            "{text}"
        );
    }

    #[test]
    fn sizes_are_those_of_files_in_folders_too() {
        let dir = std::env::temp_dir().join(format!("xtask-sizes-{}", std::process::id()));
        sh::make_dir(&dir.join("inner")).unwrap();
        sh::write(&dir.join("a"), "12").unwrap();
        sh::write(&dir.join("inner/b"), "12345").unwrap();
        let files = sizes(&dir).unwrap();
        sh::remove(&dir).unwrap();
        assert_eq!(files, [(dir.join("inner/b"), 5), (dir.join("a"), 2)]);
    }

    #[test]
    fn tests_and_programs_are_told_apart() {
        let line = |name: &str, kind: &str, test: bool, file: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","package_id":"path+file:///w/t#pack@0.1.0","target":{{"name":"{name}","kind":["{kind}"]}},"profile":{{"test":{test}}},"executable":{file}}}"#
            )
        };
        let messages = [
            line("warpheap", "lib", false, "null"),
            line("warpheap", "bin", false, "\"/t/warpheap\""),
            line("warpheap", "lib", true, "\"/t/deps/warpheap-1\""),
            line("conformance", "test", true, "\"/t/deps/conformance-2\""),
        ]
        .join("\n");
        let names = |tests| {
            executables(&messages, tests)
                .into_iter()
                .map(|e| e.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["warpheap"]);
        assert_eq!(package_name("path+file:///w/xtask#0.1.0"), "xtask");
        assert_eq!(names(true), ["pack.conformance"]);
        let suite =
            |target| line(target, "test", true, "\"/t\"").replace("#pack@", "#warpheap-tests@");
        let kept = packed(executables(
            &[suite("cuda"), suite("host")].join("\n"),
            true,
        ));
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].name, "warpheap-tests.cuda");
    }
}
