//! The program does what it says, on every backend that is compiled in and present.

use warpheap_example_testing::{BackendKind, cases, on_backends, run};

fn runs_on(backend: BackendKind) {
    for &allocator in cases(backend, &["WarpHeap", "Bump", "ScatterAlloc"]) {
        let program = env!("CARGO_BIN_EXE_warpheap-quickstart");
        let text = run(program, backend, &[allocator]).text(backend);
        assert!(text.contains("all 1024 lists are right"), "{text}");
        // All that the lists held is free again, where blocks can be freed.
        if allocator != "Bump" {
            let freed = format!("freed:  {allocator}: 0 of ");
            assert!(text.contains(&freed), "{text}");
        }
    }
}

on_backends!(runs_on: host, vulkan, cuda);
