//! The program does what it says, on every backend that is compiled in and present.

use warpheap_example_testing::{BackendKind, Outcome, cases, file, on_backends};

/// Where files for the program are written.
const FOLDER: &str = env!("CARGO_TARGET_TMPDIR");

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_warpheap-kmer");
    warpheap_example_testing::run(program, backend, arguments)
}

fn runs_on(backend: BackendKind) {
    for k in cases(backend, &["12", "1", "16"]) {
        let text = run(backend, &[k]).text(backend);
        assert!(text.contains("are counted right"), "{text}");
    }
    let path = file(
        FOLDER,
        &format!("tiny-{backend}.fa"),
        ">one\nACG\nTNNac\n>two\nACG\n>\ngu\n",
    );
    let text = run(backend, &["3", &path]).text(backend);
    assert!(
        text.contains("all 3 3-mers, 2 different ones, are counted right"),
        "{text}"
    );
    for line in ["2  ACG", "1  CGT", "1  come 2 to 3 times"] {
        assert!(text.contains(line), "no `{line}` in {text}");
    }
}

on_backends!(runs_on: host, vulkan, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    refused(&["17"], "`17` is no K");
    refused(&["three"], "`three` is no K");
    refused(&["3", "a.fa", "b.fa"], "too many arguments");
    refused(&["3", "/nonexistent/a.fa"], "cannot read /nonexistent/a.fa");
    refused(&["3", &file(FOLDER, "no.fa", "ACGT\n")], "is no FASTA file");
    refused(
        &["3", &file(FOLDER, "dash.fa", ">x\nAC\nA-C\n")],
        "dash.fa:3: `-` stands for no base",
    );
}
