//! The compilers for device code.
//!
//! PTX and SPIR-V come from one compiler, rustc 1.96.0 calling itself a nightly, with rust-gpu's
//! codegen backend and `llvm-bitcode-linker` in its folder. Where rustup's servers can be reached the
//! pinned nightly does the same. The command uses what is there, checks it by compiling a small crate
//! for both targets, and makes the folder from Debian packages and crates.io when there is nothing.

mod archive;
mod backend;
mod check;
mod compiler;
mod layout;

use crate::error::{Result, message};
use crate::{debian, sh};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use warpheap_build::{Format, toolchain};

/// The version of rustc.
const RUST: &str = "1.96.0";
/// The version of rust-gpu's crates.
const RUST_GPU: &str = toolchain::SPIRV_BACKEND_VERSION;
/// The machine that all of this runs on.
const HOST: &str = "x86_64-unknown-linux-gnu";
/// The file name of the SPIR-V backend.
const BACKEND_FILE: &str = "librustc_codegen_spirv.so";
/// The name under which rustup knows the toolchain.
const RUSTUP_NAME: &str = "rust-device";

/// Arguments of the command `toolchain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only check what is there; never make anything
    #[arg(long, conflicts_with_all = ["from", "rebuild"])]
    check: bool,
    /// Take a prebuilt toolchain from a .tar.xz or from a folder that holds one
    #[arg(long, value_name = "DIR|ARCHIVE", conflicts_with = "rebuild")]
    from: Option<PathBuf>,
    /// Make it even if a usable one is there
    #[arg(long)]
    rebuild: bool,
    /// How many jobs to compile with
    #[arg(long, short, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    jobs: Option<u32>,
}

/// Runs the command. What it tries them with is compiled in the folder `target`, else in one beside the toolchain.
///
/// # Errors
/// When there is no usable toolchain and none can be made here; the message says what is missing.
pub fn run(args: &Args, target: Option<&Path>) -> Result {
    let place = folder()?;
    if let Some(from) = &args.from {
        archive::install(from, &place)?;
        link_rustup(&place);
    } else if args.rebuild
        || (!args.check && !place.join(".complete").is_file() && something_lacks())
    {
        build(&place, args.jobs)?;
        link_rustup(&place);
    }
    match target {
        Some(target) => check::report(target),
        None => check::report(&beside(&place, "check")),
    }
}

/// Whether there is a format that no toolchain of this machine makes.
fn something_lacks() -> bool {
    Format::ALL
        .into_iter()
        .any(|format| toolchain::find(format).is_err())
}

/// Makes the toolchain in `place`; what was done before an interruption is used again.
fn build(place: &Path, jobs: Option<u32>) -> Result {
    if !cfg!(all(
        target_os = "linux",
        target_arch = "x86_64",
        target_env = "gnu"
    )) {
        return message(format!(
            "the device toolchain can only be made on {HOST}; elsewhere use rustup: \
             `rustup toolchain install {} -c rust-src,rustc-dev,llvm-tools,llvm-bitcode-linker`",
            toolchain::NIGHTLY
        ));
    }
    let begin = Instant::now();
    debian::ensure(&compiler::INSTALLED, "Making the device toolchain", true)?;
    let work = beside(place, "work");
    let bootstrap = compiler::Bootstrap::unpack(&work, jobs)?;
    let sysroot = layout::Sysroot::new(&beside(place, "part"))?;
    bootstrap.standard_library(&sysroot)?;
    let libraries = bootstrap.rustc(&sysroot)?;
    backend::build(&sysroot, &bootstrap.source(), &libraries, &work, jobs)?;
    bootstrap.bitcode_linker(&sysroot)?;
    sysroot.complete(place)?;
    sh::remove(&work)?;
    println!(
        "made {} in {} s",
        place.display(),
        begin.elapsed().as_secs()
    );
    Ok(())
}

/// Where the made toolchain lies: `$WARPHEAP_TOOLCHAIN_DIR` or a folder in the user's cache.
fn folder() -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let root = match (set("WARPHEAP_TOOLCHAIN_DIR"), set("HOME")) {
        (Some(root), _) => PathBuf::from(root),
        (None, Some(home)) => PathBuf::from(home).join(".cache/warpheap/toolchain"),
        (None, None) => {
            return message(
                "neither WARPHEAP_TOOLCHAIN_DIR nor HOME is set: where should the toolchain go?",
            );
        }
    };
    let root = std::path::absolute(&root).map_err(|e| sh::file("find", &root, e))?;
    Ok(root.join(format!("{RUSTUP_NAME}-{RUST}")))
}

/// A folder next to `place` with a suffix to its name.
fn beside(place: &Path, suffix: &str) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// Makes the toolchain known to rustup as `rust-device`, for people; nothing here depends on it.
fn link_rustup(place: &Path) {
    if sh::which("rustup").is_none() {
        return;
    }
    let linked = sh::quiet(
        Command::new("rustup")
            .args(["toolchain", "link", RUSTUP_NAME])
            .arg(place),
    );
    if let Err(error) = linked {
        eprintln!("warning: {error}");
    }
}
