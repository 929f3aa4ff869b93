//! The kernels as a compiler for device code makes them, where there is one. No GPU is needed.

use std::fs;
use std::path::Path;
use std::process::Command;
use warpheap_build::{Format, Search};
use warpheap_raw::host::ptx;

/// The text of the kernels, compiled as the README says; `None` without a compiler for it.
fn compiled() -> Option<String> {
    let toolchain = match Search::from_env().find(Format::Ptx) {
        Ok(toolchain) => toolchain,
        Err(missing) => {
            eprintln!("skipped: {missing}");
            return None;
        }
    };
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    let mut cargo = Command::new(&toolchain.cargo);
    // What the cargo that runs this test was told is not for another compiler.
    for name in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "RUSTUP_TOOLCHAIN"] {
        cargo.env_remove(name);
    }
    let status = cargo
        .args(["build", "--release", "--locked", "--quiet"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels"))
        .env("RUSTC", &toolchain.rustc)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", &target)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the kernels do not compile");
    let path = target.join("nvptx64-nvidia-cuda/release/raw_kernels.ptx");
    Some(fs::read_to_string(path).expect("cargo made it"))
}

/// The text of a function or entry.
fn body<'a>(ptx: &'a str, name: &str) -> &'a str {
    let start = ptx
        .find(&format!(".entry {name}("))
        .expect("there is such an entry");
    let body = &ptx[start..];
    &body[..body.find("\n}").expect("it ends")]
}

const OWN_LANE: &str = "%lanemask_eq";

#[test]
fn plain_cargo_makes_ptx_that_is_right_as_it_is() {
    let Some(text) = compiled() else { return };
    assert_eq!(ptx::check(&text), Ok(()));
    let masks = text.matches("activemask.b32").count();
    assert!(masks > 5, "{masks} masks");
    assert_eq!(
        text.matches(OWN_LANE).count(),
        masks,
        "each has the own lane"
    );
    for entry in [
        "bind",
        "collect",
        "delay",
        "refusals",
        "pass_handles",
        "pass_pointers",
        "malloc_handles",
        "free_handles",
        "malloc_pointers",
        "free_pointers",
        "malloc_global",
        "free_global",
    ] {
        assert!(!body(&text, entry).is_empty());
    }
    assert!(
        text.contains(".visible .global .align 8 .b8 WARPHEAP[56]"),
        "what the host binds"
    );
    assert!(
        body(&text, "malloc_handles").contains(".param .align 8 .b8 malloc_handles_param_0[56]"),
        "a heap by value"
    );
    assert!(!text.contains(".extern"), "nothing is missing");
    for asks in ["refusals", "malloc_global"] {
        assert!(
            body(&text, asks).contains("call.uni"),
            "{asks}: a request was left out"
        );
    }

    let old = ptx::tuned(&text, (8, 0), 13_000);
    let new = ptx::tuned(&text, (9, 0), 13_000);
    for tuned in [&old, &new] {
        assert_eq!(ptx::check(tuned), Ok(()));
        assert!(
            !body(tuned, "free_handles").contains(OWN_LANE),
            "it calls nothing"
        );
        let calling = body(tuned, "malloc_handles");
        assert!(
            calling.contains("call.uni") && calling.contains(OWN_LANE),
            "it calls"
        );
    }
    assert!(old.contains("fence.acq_rel.gpu;") && !old.contains("fence.acquire.gpu;"));
    assert!(!new.contains("fence.acq_rel.gpu;") && new.contains("fence.acquire.gpu;"));
    // Beside that nothing changes.
    assert_eq!(old.lines().count(), text.lines().count());
    if let Some(folder) = std::env::var_os("RAW_DOOR_PTX") {
        fs::write(Path::new(&folder).join("tuned.ptx"), &*new).expect("a folder");
    }
}
