//! The program does what it says, on every backend that is compiled in and present.

use warpheap_example_testing::{BackendKind, Outcome, file, on_backends};

/// Where files for the program are written.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_warpheap-word-count");
    warpheap_example_testing::run(program, backend, arguments)
}

fn runs_on(backend: BackendKind) {
    let text = run(backend, &[]).text(backend);
    assert!(
        text.contains("words") && text.contains("are counted right"),
        "{text}"
    );

    let long = "x".repeat(32) + " " + &"y".repeat(33) + " " + &"z".repeat(100);
    let words = format!("The cat, the dog; THE end. Größe größe it's {long}");
    let path = file(FOLDER, &format!("words-{backend}.txt"), words);
    let text = run(backend, &[&path]).text(backend);
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

    let path = file(FOLDER, &format!("empty-{backend}.txt"), "");
    assert!(
        run(backend, &[&path]).text(backend).contains("all 0 words"),
        "nothing to count"
    );
}

on_backends!(runs_on: host, vulkan, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    let missing = "/nonexistent/words.txt";
    refused(&[missing], "/nonexistent/words.txt");
    refused(&[missing, missing], "at most one file");
    refused(&[&file(FOLDER, "zero.bin", b"ab\0cd")], "byte 2 is zero");
}
