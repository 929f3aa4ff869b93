//! `cargo xtask docs`: the documentation of every published crate, with all its features, as docs.rs makes it, and with
//! none.
//!
//! Both without a device compiler and without a network, as there. A warning fails it.

use crate::package;
use crate::workspace::{self, PROFILE};
use serde_json::Value;
use warpheap_toolchain::error::Result;
use warpheap_toolchain::sh;

/// Runs the command.
///
/// # Errors
/// When a crate is not documented, or rustdoc warns of something.
pub fn run() -> Result {
    let metadata = workspace::metadata()?;
    for krate in package::published(&metadata).filter(|krate| has_pages(krate)) {
        let name = krate["name"].as_str().unwrap_or_default();
        println!("{name}");
        for features in ["--all-features", "--no-default-features"] {
            let mut cargo = workspace::cargo();
            cargo.args(["doc", "--quiet", "--no-deps", "--offline"]);
            cargo.args(["--profile", PROFILE, "--package", name]);
            cargo.arg(features);
            cargo.env("RUSTDOCFLAGS", "-Dwarnings");
            cargo.env("WARPHEAP_KERNELS", "prebuilt");
            sh::run(&mut cargo)?;
        }
    }
    Ok(())
}

/// Whether a crate is a library: the pages of a program say nothing that its help does not.
fn has_pages(krate: &Value) -> bool {
    let targets = krate["targets"].as_array().into_iter().flatten();
    let library = |target: &Value| {
        let kinds = target["kind"].as_array().into_iter().flatten();
        target["doc"] == true && kinds.into_iter().any(|kind| kind != "custom-build")
    };
    targets.into_iter().any(library)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_program_without_pages_is_left_out() {
        let krate = |kind: &str, doc: bool| json!({"targets": [{"kind": [kind], "doc": doc}]});
        assert!(has_pages(&krate("lib", true)) && has_pages(&krate("proc-macro", true)));
        assert!(!has_pages(&krate("bin", false)) && !has_pages(&krate("custom-build", true)));
    }
}
