//! The SPIR-V codegen backend of rust-gpu, compiled with the compiler that will load it.

use super::{BACKEND_FILE, RUST_GPU, compiler::clean_env, layout::Sysroot};
use crate::error::Result;
use crate::{cargo, sh};
use std::path::{Path, PathBuf};
use std::process::Command;

const CRATE: &str = "rustc_codegen_spirv";

/// Fetches the backend's crate, compiles it with the sysroot's rustc and adds it to the sysroot.
///
/// `libraries` are the compiler's own libraries in that sysroot. Only this build needs them: they are
/// removed, since they are large and a device crate must not find them.
///
/// # Errors
/// When crates.io does not answer or the crate does not compile.
pub fn build(
    sysroot: &Sysroot,
    source: &Path,
    libraries: &[PathBuf],
    work: &Path,
    jobs: Option<u32>,
) -> Result {
    let crate_dir = fetch(work)?;
    let compiler_source = sysroot.link_compiler_source(source)?;
    let target = work.join("target-backend");
    let mut cargo = cargo::cargo();
    cargo
        .current_dir(&crate_dir)
        .args(["build", "--release", "--locked", "--lib", "--target-dir"])
        .arg(&target);
    if let Some(jobs) = jobs {
        cargo.arg(format!("-j{jobs}"));
    }
    // The backend insists on one nightly by its commit; this compiler is the release branched from it.
    clean_env(&mut cargo)
        .env("RUSTC", sysroot.rustc())
        .env("RUSTGPU_SKIP_TOOLCHAIN_CHECK", "1")
        // The crate that brings spirv-opt has it look through all its tables after each pass, which finds mistakes of
        // its own and takes as long as the passes.
        .env("CXXFLAGS", "-USPIRV_CHECK_CONTEXT")
        .env("CARGO_PROFILE_RELEASE_STRIP", "debuginfo");
    sh::run(&mut cargo)?;
    sysroot.add_backend(&target.join("release").join(BACKEND_FILE))?;
    sh::remove(&compiler_source)?;
    libraries.iter().try_for_each(|file| sh::remove(file))
}

/// Copies the crate's sources out of cargo's registry: it is built as a package of its own, with the
/// lock file that its authors published.
fn fetch(work: &Path) -> Result<PathBuf> {
    let asking = work.join("fetch");
    sh::make_dir(&asking.join("src"))?;
    sh::write(&asking.join("src/lib.rs"), "")?;
    let manifest = asking.join("Cargo.toml");
    sh::write(
        &manifest,
        format!(
            "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
             [dependencies]\n{CRATE} = \"={RUST_GPU}\"\n\n[workspace]\n"
        ),
    )?;
    let metadata = cargo::metadata(&manifest)?;
    let published = cargo::package_dir(&metadata, CRATE)?;
    let copy = work.join(CRATE);
    sh::remove(&copy)?;
    sh::quiet(
        Command::new("cp")
            .args(["-a", "--no-preserve=ownership"])
            .arg(&published)
            .arg(&copy),
    )?;
    Ok(copy)
}
