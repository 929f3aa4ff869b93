//! A project that has nothing but the packages: no checkout, no network.

use super::Package;
use crate::error::{Result, message};
use crate::sh;
use crate::workspace::{self, ALL_BACKENDS, PROFILE};
use std::path::{Path, PathBuf};
use std::process::Command;
use warpheap_build::{Format, toolchain};

/// What the project is called.
const PROJECT: &str = "from-packages";

/// What tells cargo to take every crate from a folder.
const SOURCES: &str = r#"[source.crates-io]
replace-with = "packages"

[source.packages]
directory = "../packages"

[net]
offline = true
"#;

/// Builds the project and runs its kernels: on the host, and where something compiles them also on Vulkan, unless that is
/// `None`, with variables that name a driver.
///
/// # Errors
/// When it does not compile or a kernel goes wrong.
pub fn run(packages: &[Package], vulkan: Option<&[(&str, &str)]>) -> Result {
    let folder = workspace::root().join("target/from-packages");
    sh::remove(&folder)?;
    sh::make_dir(&folder)?;
    registry(&folder.join("packages"), packages)?;
    let project = make(&folder)?;
    sh::make_dir(&project.join(".cargo"))?;
    sh::write(&project.join(".cargo/config.toml"), SOURCES)?;

    let vulkan = match vulkan {
        None => Err("no driver"),
        Some(_) if toolchain::find(Format::Spirv).is_err() => {
            Err("nothing compiles its kernels here")
        }
        Some(variables) => Ok(variables),
    };
    let features = match vulkan {
        Ok(_) => "host,vulkan",
        Err(_) => "host",
    };
    run_on(&project, features, "host", &[])?;
    match vulkan {
        Ok(variables) => run_on(&project, features, "vulkan", variables)?,
        Err(why) => println!("not run on Vulkan: {why}"),
    }
    // They open the emulator by themselves.
    sh::run(&mut cargo(&project, "test", features))
}

/// Fills a folder with all crates that the workspace is compiled with, ours as they are published.
fn registry(folder: &Path, packages: &[Package]) -> Result {
    let mut cargo = workspace::cargo();
    cargo.args(["vendor", "--quiet", "--locked", "--versioned-dirs"]);
    // Kernels are compiled with `core` from its sources, and cargo wants to see all that the other crates beside it depend on.
    if let Ok(toolchain) = toolchain::find(Format::Spirv) {
        let library = toolchain.sysroot.join("lib/rustlib/src/rust/library");
        cargo.arg("--sync").arg(library.join("Cargo.toml"));
        // Its manifest has parts that a stable cargo refuses.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    sh::quiet(cargo.arg(folder))?;
    for Package { file, .. } in packages {
        let mut tar = Command::new("tar");
        sh::quiet(tar.arg("-xzf").arg(file).arg("-C").arg(folder))?;
        let Some(name) = file.file_stem() else {
            continue;
        };
        // What cargo wants in a folder that stands for a registry; it checks no file that is not named.
        let checksums = folder.join(name).join(".cargo-checksum.json");
        sh::write(&checksums, r#"{"files":{}}"#)?;
    }
    Ok(())
}

/// Makes a project as a user does, with `warpheap new`.
fn make(folder: &Path) -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    // The program beside its tests, in the whole workspace: nothing is compiled with other features than for the tests.
    cargo.args([
        "test",
        "--quiet",
        "--no-run",
        "--workspace",
        "--test",
        "cli",
    ]);
    cargo.args(["--profile", PROFILE, "--features", ALL_BACKENDS]);
    sh::run(&mut cargo)?;
    let built = workspace::target_dir(&workspace::metadata()?)?.join(PROFILE);
    let program = built.join("warpheap");
    sh::run(
        Command::new(program)
            .args(["new", PROJECT])
            .current_dir(folder),
    )?;
    Ok(folder.join(PROJECT))
}

/// Runs the project's program, built with cargo features, on a backend.
fn run_on(project: &Path, features: &str, backend: &str, variables: &[(&str, &str)]) -> Result {
    let mut run = cargo(project, "run", features);
    run.env("WARPHEAP_BACKEND", backend)
        .envs(variables.iter().copied());
    let said = sh::stdout(&mut run)?;
    if !said.contains(&format!(
        "the last of 300 lists adds up to 44850 on {backend}"
    )) {
        return message(format!("the project made of the packages said: {said}"));
    }
    print!("{said}");
    Ok(())
}

/// A command of cargo's in the project, with nothing of the checkout's: its own folder, and not what may be said of kernels.
fn cargo(project: &Path, command: &str, features: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.current_dir(project).arg(command);
    cargo.args(["--quiet", "--no-default-features", "--features", features]);
    cargo.env("CARGO_TARGET_DIR", project.join("target"));
    cargo.env_remove("WARPHEAP_KERNELS");
    cargo
}
