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
            eprintln!("SKIPPED: tree on {backend}: {error}");
            false
        }
    }
}

fn run(backend: BackendKind, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpheap-tree"))
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
    for (lanes, numbers) in [("1000", "64"), ("3", "1"), ("2", "5000")] {
        let text = text_of(backend, &[lanes, numbers]);
        assert!(
            text.contains(&format!("all {lanes} trees are right")),
            "{text}"
        );
    }
}

#[cfg(feature = "host")]
#[test]
fn on_the_host() {
    runs_on(BackendKind::Host);
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
