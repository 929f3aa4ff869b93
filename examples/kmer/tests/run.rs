//! The program does what it says, on every backend that is compiled in and present.

use std::path::Path;
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
            eprintln!("SKIPPED: kmer on {backend}: {error}");
            false
        }
    }
}

fn run(backend: BackendKind, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_warpheap-kmer"))
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

/// A file in the folder of this test's temporary files.
fn file(name: &str, contents: &str) -> String {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, contents).expect("a temporary file");
    path.to_string_lossy().into_owned()
}

fn runs_on(backend: BackendKind) {
    if !is_there(backend) {
        return;
    }
    for k in ["1", "12", "16"] {
        let text = text_of(backend, &[k]);
        assert!(text.contains("are counted right"), "{text}");
    }
    let path = file(
        &format!("tiny-{backend}.fa"),
        ">one\nACG\nTNNac\n>two\nACG\n>\ngu\n",
    );
    let text = text_of(backend, &["3", &path]);
    assert!(
        text.contains("all 3 3-mers, 2 different ones, are counted right"),
        "{text}"
    );
    for line in ["2  ACG", "1  CGT", "1  come 2 to 3 times"] {
        assert!(text.contains(line), "no `{line}` in {text}");
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
    refused(&["17"], "`17` is no K");
    refused(&["three"], "`three` is no K");
    refused(&["3", "a.fa", "b.fa"], "too many arguments");
    refused(&["3", "/nonexistent/a.fa"], "cannot read /nonexistent/a.fa");
    refused(&["3", &file("no.fa", "ACGT\n")], "is no FASTA file");
    refused(
        &["3", &file("dash.fa", ">x\nAC\nA-C\n")],
        "dash.fa:3: `-` stands for no base",
    );
}
