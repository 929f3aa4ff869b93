//! The program does what it says, on every backend that is compiled in and present.

use warpheap_example_testing::{BackendKind, Outcome, cases, on_backends};

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_warpheap-particles");
    warpheap_example_testing::run(program, backend, arguments)
}

fn runs_on(backend: BackendKind) {
    for &[particles, steps] in cases(backend, &[["4000", "21"], ["1", "3"], ["300", "100"]]) {
        let text = run(backend, &[particles, steps]).text(backend);
        let right = format!("all {steps} steps of {particles} particles are right");
        assert!(text.contains(&right), "{text}");
    }
}

on_backends!(runs_on: host, vulkan, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    refused(&["none"], "`none` is no number");
    refused(&["0"], "`0` is no number from 1");
    refused(&["10", "2000000"], "`2000000` is no number from 1");
    refused(&["1", "2", "3"], "too many arguments");
}
