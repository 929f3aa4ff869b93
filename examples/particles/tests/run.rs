//! The program does what it says, on every backend that is compiled in and present.

use std::process::{Command, Output};
use warpheap::BackendKind;
use warpheap::backends;

/// Whether a backend has a device; if it has none and needs none, that is said aloud.
fn is_there(backend: BackendKind) -> bool {
    match backends::devices(backend) {
        Ok(found) => !found.is_empty(),
        Err(error) => {
            let required = format!("WARPHEAP_REQUIRE_{}", backend.name().to_uppercase());
            let required = std::env::var_os(required).is_some_and(|value| value == "1");
            assert!(!required, "{error}");
            eprintln!("SKIPPED: particles on {backend}: {error}");
            false
        }
    }
}

fn run(backend: BackendKind, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpheap-particles"))
        .args(arguments)
        .env("WARPHEAP_BACKEND", backend.name())
        .output()
        .expect("the program starts")
}

/// What is printed of a run that goes well.
fn text_of(backend: BackendKind, arguments: &[&str]) -> String {
    let output = run(backend, arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains(&format!("({backend})")), "{text}");
    text
}

fn runs_on(backend: BackendKind) {
    if !is_there(backend) {
        return;
    }
    for (particles, steps) in [("4000", "21"), ("1", "3"), ("300", "100")] {
        let text = text_of(backend, &[particles, steps]);
        let right = format!("all {steps} steps of {particles} particles are right");
        assert!(text.contains(&right), "{text}");
    }
}

#[cfg(feature = "host")]
#[test]
fn on_the_host() {
    runs_on(BackendKind::Host);
}

#[cfg(feature = "vulkan")]
#[test]
fn on_vulkan() {
    runs_on(BackendKind::Vulkan);
}

#[cfg(feature = "cuda")]
#[test]
fn on_cuda() {
    runs_on(BackendKind::Cuda);
}

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| {
        let output = run(BackendKind::Host, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains(part),
            "{errors}"
        );
    };
    refused(&["none"], "`none` is no number");
    refused(&["0"], "`0` is no number from 1");
    refused(&["10", "2000000"], "`2000000` is no number from 1");
    refused(&["1", "2", "3"], "too many arguments");
}
