//! The program does what it says, on every backend that is compiled in and present.

use std::process::Command;
use warpheap::BackendKind;
use warpheap::backends::{self, FoundDevice};

/// The devices of a backend; none, said aloud, if they are not required.
fn devices(backend: BackendKind) -> Vec<FoundDevice> {
    backends::devices(backend).unwrap_or_else(|error| {
        let required = format!("WARPHEAP_REQUIRE_{}", backend.name().to_uppercase());
        let required = std::env::var_os(required).is_some_and(|value| value == "1");
        assert!(!required, "{error}");
        eprintln!("SKIPPED: the quickstart on {backend}: {error}");
        Vec::new()
    })
}

fn runs_on(backend: BackendKind) {
    let found = devices(backend);
    if found.is_empty() {
        return;
    }
    for allocator in ["Bump", "ScatterAlloc", "WarpHeap"] {
        let output = Command::new(env!("CARGO_BIN_EXE_warpheap-quickstart"))
            .arg(allocator)
            .env("WARPHEAP_BACKEND", backend.name())
            .output()
            .expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}{errors}");
        assert!(text.contains(&format!("({backend})")), "{text}");
        assert!(text.contains("all 1024 lists are right"), "{text}");
        // All that the lists held is free again, where blocks can be freed.
        if allocator != "Bump" {
            let freed = format!("freed:  {allocator}: 0 of ");
            assert!(text.contains(&freed), "{text}");
        }
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
