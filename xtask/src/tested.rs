//! How the workspace is compiled for its tests.

use crate::rustc;
use crate::workspace::{self, PROFILE};
use std::process::Command;

/// Crates that are compiled without optimisation: kernels for the host, most of them with every allocator, the suite, the lab and the command line.
/// They take a sixth of the time then, and most tests that run them 8 % more: what runs long is the emulator. (Not in the manifest, which is a
/// source of images.)
const QUICKLY_COMPILED: [&str; 24] = [
    "warpheap-bench",
    "warpheap-checked-kernels",
    "warpheap-cli",
    "warpheap-collection-kernels",
    "warpheap-container-kernels",
    "warpheap-global-heap-kernels",
    "warpheap-history-kernels",
    "warpheap-jobs",
    "warpheap-kmer",
    "warpheap-map-kernels",
    "warpheap-parameter-kernels",
    "warpheap-particles",
    "warpheap-quickstart",
    "warpheap-raw",
    "warpheap-set-kernels",
    "warpheap-swap",
    "warpheap-tasks",
    "warpheap-test-kernels",
    "warpheap-tests",
    "warpheap-toolchain",
    "warpheap-tree",
    "warpheap-wide-kernels",
    "warpheap-word-count",
    "xtask",
];

/// Crates of others that are compiled without optimisation: large ones, by which no test waits.
const QUICKLY_COMPILED_OF_OTHERS: [&str; 9] = [
    "ash",
    "clap_builder",
    "plotters",
    "proptest",
    "pulldown-cmark",
    "regex-syntax",
    "syn",
    "toml_edit",
    "trybuild",
];

/// `cargo test` of the whole workspace with these features: who compiles a part of it in another way compiles much of it again.
pub fn cargo(features: &str) -> Command {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--profile", PROFILE]);
    for package in QUICKLY_COMPILED.iter().chain(&QUICKLY_COMPILED_OF_OTHERS) {
        let setting = format!("profile.{PROFILE}.package.{package}.opt-level=0");
        command.args(["--config", &setting]);
    }
    command.args(["--features", features]);
    if let Some(program) = rustc::wrapper() {
        command.env("RUSTC_WORKSPACE_WRAPPER", program);
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_is_quickly_compiled_is_there() {
        let metadata = workspace::metadata().unwrap();
        let names: BTreeSet<&str> = workspace::packages(&metadata)
            .filter_map(|package| package["name"].as_str())
            .collect();
        for name in QUICKLY_COMPILED.iter().chain(&QUICKLY_COMPILED_OF_OTHERS) {
            assert!(names.contains(*name), "there is no `{name}`");
        }
    }
}
