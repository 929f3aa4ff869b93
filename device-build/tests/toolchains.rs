//! The search for a toolchain, in folders that look like toolchains: a script stands in for rustc.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::TempDir;
use warpheap_build::toolchain::Origin;
use warpheap_build::{Format, Search};

const HOST: &str = "x86_64-unknown-linux-gnu";

fn put(path: &Path, text: &str, executable: bool) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("folder");
    fs::write(path, text).expect("file");
    fs::set_permissions(
        path,
        fs::Permissions::from_mode(if executable { 0o755 } else { 0o644 }),
    )
    .expect("mode");
}

/// A sysroot with everything.
fn sysroot(at: &Path) {
    let script =
        format!("#!/bin/sh\necho 'rustc 1.96.0-nightly (abc 2026-04-10)'\necho 'host: {HOST}'\n");
    put(&at.join("bin/rustc"), &script, true);
    put(
        &at.join("lib/rustlib/src/rust/library/core/src/lib.rs"),
        "",
        false,
    );
    put(&at.join("lib/rustlib").join(HOST).join("bin/llc"), "", true);
    put(
        &at.join("lib/rustlib")
            .join(HOST)
            .join("bin/self-contained/llvm-bitcode-linker"),
        "",
        true,
    );
    put(&at.join("lib/librustc_codegen_spirv.so"), "", false);
}

/// One test at a time: a script cannot be run while another thread, about to start a process, still has it
/// open for writing.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn search(temp: &TempDir) -> Search {
    Search {
        toolchain_dir: Some(temp.path().join("made")),
        rustup_toolchains: Some(temp.path().join("rustup")),
        cargo: Some("/outer/cargo".into()),
        ..Search::default()
    }
}

#[test]
fn each_place_is_searched_in_order() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    let mut search = search(&temp);
    let origin = |search: &Search| {
        search
            .find(Format::Ptx)
            .ok()
            .map(|toolchain| toolchain.origin)
    };
    assert_eq!(origin(&search), None);
    sysroot(
        &temp
            .path()
            .join("rustup")
            .join(format!("nightly-2026-04-11-{HOST}")),
    );
    assert_eq!(origin(&search), Some(Origin::RustupNightly));
    sysroot(&temp.path().join("rustup/rust-device"));
    assert_eq!(origin(&search), Some(Origin::RustupDevice));
    let made = temp.path().join("made/rust-device-1.96.0");
    sysroot(&made);
    assert_eq!(
        origin(&search),
        Some(Origin::RustupDevice),
        "an unfinished toolchain was taken"
    );
    put(&made.join(".complete"), "", true);
    assert_eq!(origin(&search), Some(Origin::Made));
    sysroot(&temp.path().join("mine"));
    search.device_toolchain = Some(temp.path().join("mine"));
    assert_eq!(origin(&search), Some(Origin::Environment));
}

#[test]
fn a_toolchain_that_is_named_and_broken_is_not_passed_over() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    sysroot(&temp.path().join("rustup/rust-device"));
    let mut search = search(&temp);
    search.device_toolchain = Some(temp.path().join("absent"));
    let error = search
        .find(Format::Ptx)
        .expect_err("a named toolchain that is not there")
        .to_string();
    assert!(
        error.contains("absent/bin/rustc is not there")
            && error.contains("unset WARPHEAP_DEVICE_TOOLCHAIN"),
        "{error}"
    );
}

#[test]
fn missing_parts_are_named_by_their_components() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    let at = temp.path().join("rustup/rust-device");
    let search = search(&temp);
    for (file, component, ptx, spirv) in [
        (
            "lib/rustlib/src/rust/library/core/src/lib.rs".to_owned(),
            "rust-src",
            false,
            false,
        ),
        (
            format!("lib/rustlib/{HOST}/bin/llc"),
            "llvm-tools",
            false,
            true,
        ),
        (
            format!("lib/rustlib/{HOST}/bin/self-contained/llvm-bitcode-linker"),
            "llvm-bitcode-linker",
            false,
            true,
        ),
        (
            "lib/librustc_codegen_spirv.so".to_owned(),
            "rustc_codegen_spirv =0.10.0-alpha.1",
            true,
            false,
        ),
    ] {
        sysroot(&at);
        fs::remove_file(at.join(&file)).expect("remove");
        for (format, makes) in [(Format::Ptx, ptx), (Format::Spirv, spirv)] {
            match search.find(format) {
                Ok(_) => assert!(makes, "{format} without {component}"),
                Err(error) => {
                    assert!(!makes, "no {format} without {component}: {error}");
                    assert!(
                        error.to_string().contains(&format!("lacks {component}")),
                        "{error}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_compiler_that_does_not_run_is_no_toolchain() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    let at = temp.path().join("rustup/rust-device");
    sysroot(&at);
    put(
        &at.join("bin/rustc"),
        "#!/bin/sh\necho 'libLLVM.so is missing' >&2\nexit 127\n",
        true,
    );
    let error = search(&temp)
        .find(Format::Ptx)
        .expect_err("a broken compiler")
        .to_string();
    assert!(error.contains("libLLVM.so is missing"), "{error}");
}

#[test]
fn the_spirv_backend_may_lie_elsewhere() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    let at = temp.path().join("rustup/rust-device");
    sysroot(&at);
    fs::remove_file(at.join("lib/librustc_codegen_spirv.so")).expect("remove");
    let mut search = search(&temp);
    search.spirv_backend = Some(temp.path().join("backend.so"));
    let error = search
        .find(Format::Spirv)
        .expect_err("no backend")
        .to_string();
    assert!(
        error.contains("which WARPHEAP_SPIRV_BACKEND names"),
        "{error}"
    );
    put(&temp.path().join("backend.so"), "", false);
    let toolchain = search.find(Format::Spirv).expect("backend");
    assert_eq!(toolchain.spirv_backend, search.spirv_backend);
    assert_eq!(
        toolchain.cargo,
        Path::new("/outer/cargo"),
        "the running cargo serves a toolchain without its own"
    );
    put(&at.join("bin/cargo"), "", true);
    assert_eq!(
        search.find(Format::Spirv).expect("backend").cargo,
        at.join("bin/cargo")
    );
}

#[test]
fn the_report_tells_what_there_is_and_what_to_do() {
    let _turn = alone();
    let temp = TempDir::new().expect("temporary folder");
    let at = temp.path().join("rustup/rust-device");
    sysroot(&at);
    fs::remove_file(at.join("lib/librustc_codegen_spirv.so")).expect("remove");
    let report = search(&temp).report();
    assert_eq!(report.candidates.len(), 4);
    assert!(report.advice(Format::Ptx).is_empty());
    assert!(!report.advice(Format::Spirv).is_empty());
    let text = report.to_string();
    for part in [
        "rust-device (rustc 1.96.0-nightly (abc 2026-04-10)); makes PTX; no SPIR-V: lacks",
        "to compile SPIR-V: ",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(!text.contains("to compile PTX"), "{text}");
}
