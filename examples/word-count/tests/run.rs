//! The program does what it says, on every backend that is compiled in and present.

use std::path::{Path, PathBuf};
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
            eprintln!("SKIPPED: word-count on {backend}: {error}");
            false
        }
    }
}

fn run(backend: BackendKind, arguments: &[&Path]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpheap-word-count"))
        .args(arguments)
        .env("WARPHEAP_BACKEND", backend.name())
        .output()
        .expect("the program starts")
}

/// What is printed of a run that goes well.
fn text_of(backend: BackendKind, arguments: &[&Path]) -> String {
    let output = run(backend, arguments);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{errors}");
    assert!(text.contains(&format!("({backend})")), "{text}");
    text
}

/// A file in the folder of this test's temporary files.
fn file(name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).expect("a temporary file");
    path
}

fn runs_on(backend: BackendKind) {
    if !is_there(backend) {
        return;
    }
    let text = text_of(backend, &[]);
    assert!(
        text.contains("words") && text.contains("are counted right"),
        "{text}"
    );

    let long = "x".repeat(32) + " " + &"y".repeat(33) + " " + &"z".repeat(100);
    let words = format!("The cat, the dog; THE end. Größe größe it's {long}");
    let path = file(&format!("words-{backend}.txt"), words);
    let text = text_of(backend, &[&path]);
    assert!(
        text.contains("left out: 2 words of more than 32 bytes"),
        "{text}"
    );
    assert!(
        text.contains("all 10 words, 7 different ones, are counted right"),
        "{text}"
    );
    for line in ["3  the", "2  größe", "1  it's", "1  cat"] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }

    let path = file(&format!("empty-{backend}.txt"), "");
    assert!(
        text_of(backend, &[&path]).contains("all 0 words"),
        "nothing to count"
    );
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
    let refused = |arguments: &[&Path], part: &str| {
        let output = run(BackendKind::Host, arguments);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{errors}");
        assert!(
            errors.starts_with("error: ") && errors.contains(part),
            "{errors}"
        );
    };
    let missing = Path::new("/nonexistent/words.txt");
    refused(&[missing], "/nonexistent/words.txt");
    refused(&[missing, missing], "at most one file");
    refused(&[&file("zero.bin", b"ab\0cd")], "byte 2 is zero");
}
