//! `cargo xtask docs`: the documentation of every published crate, with the features that docs.rs makes it with, all where
//! the crate names none, and without any.
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
        for features in [&*on_docs_rs(krate), "--no-default-features"] {
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

/// The option of cargo for the features that a crate names for docs.rs: with all it may need what is not there.
fn on_docs_rs(krate: &Value) -> String {
    match krate["metadata"]["docs"]["rs"]["features"].as_array() {
        None => "--all-features".to_owned(),
        Some(named) => {
            let names: Vec<&str> = named.iter().filter_map(Value::as_str).collect();
            format!("--features={}", names.join(","))
        }
    }
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
    fn features_are_those_that_a_crate_names() {
        let krate = |features: Value| json!({"metadata": {"docs": {"rs": features}}});
        assert_eq!(on_docs_rs(&krate(json!({}))), "--all-features");
        let named = |names: Value| on_docs_rs(&krate(json!({"features": names})));
        assert_eq!(named(json!([])), "--features=");
        assert_eq!(named(json!(["a", "b"])), "--features=a,b");
    }

    #[test]
    fn a_program_without_pages_is_left_out() {
        let krate = |kind: &str, doc: bool| json!({"targets": [{"kind": [kind], "doc": doc}]});
        assert!(has_pages(&krate("lib", true)) && has_pages(&krate("proc-macro", true)));
        assert!(!has_pages(&krate("bin", false)) && !has_pages(&krate("custom-build", true)));
    }
}
