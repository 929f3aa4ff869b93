//! The program does what it says, on every backend that is compiled in and present.

use std::process::Command;
use warpheap_example_testing::{BackendKind, Outcome, cases, on_backends, outcome};

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    outcome(
        Command::new(env!("CARGO_BIN_EXE_warpheap-swap"))
            .args(["--backend", backend.name()])
            .args(arguments),
    )
}

fn runs_on(backend: BackendKind) {
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
    let all = (&["--allocator", "all"][..], &names[..]);
    let one = (&["--allocator", "Gallatin"][..], &["Gallatin"][..]);
    let default = (&[][..], &["WarpHeap"][..]);
    for (arguments, allocators) in cases(backend, &[default, one, all]) {
        let text = run(backend, arguments).text(backend);
        assert_eq!(rows(&text), *allocators, "{text}");
        assert!(text.contains("all sums are right"), "{text}");
    }
}

on_backends!(runs_on: host, vulkan, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    refused(
        &["--allocator", "magic"],
        "no allocator `magic` here: WarpHeap, ScatterAlloc",
    );
    refused(&["--allocator"], "--allocator needs a value");
    refused(&["--loud"], "unknown option `--loud`");
    refused(&["--backend", "abacus"], "abacus");
}
