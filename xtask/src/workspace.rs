//! Where the workspace is and what cargo knows about it.

use crate::malloc;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use warpheap_toolchain::cargo;
use warpheap_toolchain::error::Result;

pub use warpheap_toolchain::cargo::{package_dir, packages, target_dir};

/// The cargo profile that tests, bundle and checks build with. Release, because the emulator runs
/// millions of device instructions in the tests; one profile everywhere, so that the steps share what
/// they compile.
pub const PROFILE: &str = "release";

/// The features with every backend that exists.
pub const ALL_BACKENDS: &str = "host,cuda,vulkan";

/// The same, and several processes by MPI, whose library has to be there.
pub const BACKENDS_AND_MPI: &str = "host,cuda,vulkan,mpi";

/// The root folder of the workspace.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// The cargo that started us, in the root folder. What it starts compiles SPIR-V in less time, where that is possible.
pub fn cargo() -> Command {
    let mut command = cargo::cargo();
    command.current_dir(root()).envs(malloc::chosen());
    command
}

/// What `cargo metadata` says about the workspace and all its dependencies.
///
/// # Errors
/// When cargo fails or its answer is not JSON.
pub fn metadata() -> Result<Value> {
    cargo::metadata(&root().join("Cargo.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_holds_the_workspace_manifest() {
        let text = std::fs::read_to_string(root().join("Cargo.toml")).unwrap();
        assert!(text.contains("[workspace]"));
    }
}
