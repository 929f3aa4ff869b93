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
            eprintln!("SKIPPED: swap on {backend}: {error}");
            false
        }
    }
}

fn run(backend: BackendKind, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpheap-swap"))
        .args(["--backend", backend.name()])
        .args(arguments)
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
    let names = [
        "WarpHeap",
        "ScatterAlloc",
        "Gallatin",
        "RandomWalk",
        "SizeList",
    ];
    let rows = |text: &str| -> Vec<String> {
        let first = text
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        first
            .filter(|first| names.contains(first))
            .map(String::from)
            .collect()
    };
    let all = text_of(backend, &["--allocator", "all"]);
    assert_eq!(rows(&all), names, "{all}");
    assert!(all.contains("all sums are right"), "{all}");
    assert_eq!(
        rows(&text_of(backend, &["--allocator", "Gallatin"])),
        ["Gallatin"]
    );
    assert_eq!(rows(&text_of(backend, &[])), ["WarpHeap"]);
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
    refused(
        &["--allocator", "magic"],
        "no allocator `magic` here: WarpHeap, ScatterAlloc",
    );
    refused(&["--allocator"], "--allocator needs a value");
    refused(&["--loud"], "unknown option `--loud`");
    refused(&["--backend", "abacus"], "abacus");
}
