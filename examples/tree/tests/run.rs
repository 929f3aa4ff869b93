//! The program does what it says, on every backend that is compiled in and present.

use warpheap_example_testing::{BackendKind, Outcome, on_backends};

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_warpheap-tree");
    warpheap_example_testing::run(program, backend, arguments)
}

fn runs_on(backend: BackendKind) {
    for (lanes, numbers) in [("1000", "64"), ("3", "1"), ("2", "5000")] {
        let text = run(backend, &[lanes, numbers]).text(backend);
        assert!(
            text.contains(&format!("all {lanes} trees are right")),
            "{text}"
        );
    }
}

on_backends!(runs_on: host, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    refused(&["none"], "`none` is no number");
    refused(&["0"], "`0` is no number from 1");
    refused(&["10", "2000000"], "`2000000` is no number from 1");
    refused(&["1", "2", "3"], "too many arguments");
}
