//! How the workspace is compiled for its tests.

use crate::workspace::{self, PROFILE};
use std::process::Command;

/// Crates that are compiled without optimisation: kernels for the host, most of them with every allocator, the suite, the lab and the command line.
/// They take a sixth of the time then, and most tests that run them 8 % more: what runs long is the emulator. (Not in the manifest, which is a
/// source of images.)
const QUICKLY_COMPILED: [&str; 19] = [
    "warpheap-bench",
    "warpheap-checked-kernels",
    "warpheap-cli",
    "warpheap-collection-kernels",
    "warpheap-container-kernels",
    "warpheap-global-heap-kernels",
    "warpheap-history-kernels",
    "warpheap-kmer",
    "warpheap-map-kernels",
    "warpheap-parameter-kernels",
    "warpheap-particles",
    "warpheap-quickstart",
    "warpheap-set-kernels",
    "warpheap-swap",
    "warpheap-tasks",
    "warpheap-test-kernels",
    "warpheap-tests",
    "warpheap-tree",
    "warpheap-word-count",
];

/// `cargo test` of the whole workspace with these features: who compiles a part of it in another way compiles much of it again.
pub fn cargo(features: &str) -> Command {
    let mut command = workspace::cargo();
    command.args(["test", "--workspace", "--profile", PROFILE]);
    for package in QUICKLY_COMPILED {
        let setting = format!("profile.{PROFILE}.package.{package}.opt-level=0");
        command.args(["--config", &setting]);
    }
    command.args(["--features", features]);
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
        for name in QUICKLY_COMPILED {
            assert!(names.contains(name), "there is no `{name}`");
        }
    }
}
