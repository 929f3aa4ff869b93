//! The program does what it says, on every backend that is compiled in and present.

use std::process::Command;
use warpheap_example_testing::{BackendKind, Outcome, cases, on_backends};

fn run(backend: BackendKind, arguments: &[&str]) -> Outcome {
    let program = env!("CARGO_BIN_EXE_warpheap-tasks");
    warpheap_example_testing::run(program, backend, arguments)
}

fn runs_on(backend: BackendKind) {
    for arguments in cases(
        backend,
        &[["12", "7", "40"], ["1", "200", "256"], ["3", "1", "1"]],
    ) {
        let text = run(backend, arguments).text(backend);
        assert!(text.contains("all walks are right"), "{text}");
    }
}

on_backends!(runs_on: host, vulkan, cuda);

#[cfg(feature = "host")]
#[test]
fn bad_input_is_refused() {
    let refused = |arguments: &[&str], part: &str| run(BackendKind::Host, arguments).refused(part);
    refused(&["none"], "`none` is no number");
    refused(&["1", "0"], "`0` is no number from 1");
    refused(&["1", "2", "2000000"], "`2000000` is no number from 1");
    refused(&["1", "2", "3", "4"], "too many arguments");
}

/// Warps of any width, one lane at a time in any order, in a memory that orders only what has to be.
#[cfg(feature = "host")]
#[test]
fn explored_at_any_width() {
    for (seed, width) in ["1", "4", "8", "32", "64"].into_iter().enumerate() {
        let outcome = warpheap_example_testing::outcome(
            Command::new(env!("CARGO_BIN_EXE_warpheap-tasks"))
                .args(["12", "7", "70"])
                .env("WARPHEAP_BACKEND", "host")
                .env("WARPHEAP_WARP_WIDTH", width)
                .env("WARPHEAP_RACES", "1")
                .env("WARPHEAP_SEED", seed.to_string()),
        );
        let text = outcome.text(BackendKind::Host);
        assert!(text.contains("all walks are right"), "{text}");
    }
}
