//! A project that has nothing but the packages: no checkout, no network.

use super::Package;
use crate::tested;
use crate::workspace::{self, PROFILE};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use warpheap_build::{Format, toolchain};
use warpheap_toolchain::error::{Error, Result, message};
use warpheap_toolchain::sh;

/// What the project is called.
const PROJECT: &str = "from-packages";

/// What a program says that is asked for CUDA where there is no driver, with what to do behind it.
const NO_DRIVER: &str =
    "no NVIDIA driver: libcuda.so.1 cannot be loaded (34); install the NVIDIA driver";

/// Fewer crates than this are compiled for a project that has the host backend alone, ours counted in and its own not.
const CRATES: usize = 50;

/// What tells cargo to take every crate from a folder.
const SOURCES: &str = r#"[source.crates-io]
replace-with = "packages"

[source.packages]
directory = "../packages"

[net]
offline = true
"#;

/// Builds the project and runs its kernels: on the host, and where something compiles them also on Vulkan, unless that is
/// `None`, with variables that name a driver. Where something compiles them it is also built for CUDA, which takes nothing
/// of CUDA's; a machine without a driver is told so. The program that makes the project is compiled with the features `tested`.
///
/// # Errors
/// When it does not compile or a kernel goes wrong.
pub fn run(packages: &[Package], vulkan: Option<&[(&str, &str)]>, tested: &str) -> Result {
    let folder = workspace::root().join("target/from-packages");
    sh::remove(&folder)?;
    sh::make_dir(&folder)?;
    registry(&folder.join("packages"), packages)?;
    let project = make(&folder, tested)?;
    sh::make_dir(&project.join(".cargo"))?;
    sh::write(&project.join(".cargo/config.toml"), SOURCES)?;
    count(&project)?;

    let vulkan = match vulkan {
        None => Err("no driver"),
        Some(_) if toolchain::find(Format::Spirv).is_err() => {
            Err("nothing compiles its kernels here")
        }
        Some(variables) => Ok(variables),
    };
    let cuda = toolchain::find(Format::Ptx).is_ok();
    let mut features = String::from("host");
    for (feature, chosen) in [("vulkan", vulkan.is_ok()), ("cuda", cuda)] {
        if chosen {
            features = format!("{features},{feature}");
        }
    }
    let features = &features;
    run_on(&project, features, "host", &[])?;
    match vulkan {
        Ok(variables) => run_on(&project, features, "vulkan", variables)?,
        Err(why) => println!("not run on Vulkan: {why}"),
    }
    match cuda {
        true => run_without_driver(&project, features)?,
        false => println!("not built for CUDA: nothing compiles its kernels here"),
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
fn make(folder: &Path, features: &str) -> Result<PathBuf> {
    // The program beside its tests: nothing is compiled in another way than for them.
    let mut cargo = tested::cargo(features);
    cargo.args(["--quiet", "--no-run", "--test", "cli"]);
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

/// Counts the crates that are compiled for the project with the host backend, as `docs/packages.md` tells.
fn count(project: &Path) -> Result {
    let mut tree = cargo(project, "tree", "host");
    tree.args(["--edges", "normal,build", "--prefix", "none"]);
    let crates = crates(&sh::stdout(&mut tree)?);
    println!("{crates} crates are compiled for the host backend");
    match crates < CRATES {
        true => Ok(()),
        false => message(format!(
            "a project with the host backend compiles {crates} crates, which should be fewer than {CRATES}: see with \
             `cargo tree -e normal,build` in {} what brings them, and turn its features off or take a smaller one",
            project.display()
        )),
    }
}

/// How many crates a tree of cargo's names without a prefix, but for the first, which is the project.
fn crates(tree: &str) -> usize {
    // A line is `NAME VERSION`, and what is said of the crate behind it.
    let crates: BTreeSet<Vec<&str>> = tree
        .lines()
        .skip(1)
        .map(|line| line.split_whitespace().take(2).collect())
        .filter(|name: &Vec<&str>| name.len() == 2)
        .collect();
    crates.len()
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

/// Asks the project's program for CUDA where there is no driver.
fn run_without_driver(project: &Path, features: &str) -> Result {
    // The machine may have one; an empty file of that name hides it.
    let none = project.join("target/no-driver");
    sh::make_dir(&none)?;
    sh::write(&none.join("libcuda.so.1"), "")?;
    let mut run = cargo(project, "run", features);
    run.env("WARPHEAP_BACKEND", "cuda");
    run.env("LD_LIBRARY_PATH", &none);
    match sh::quiet(&mut run) {
        Err(Error::Failed { output, .. }) if output.contains(NO_DRIVER) => {
            println!("built for CUDA, and says what is missing without a driver");
            Ok(())
        }
        Err(error) => Err(error),
        Ok(said) => message(format!(
            "without a CUDA driver the project made of the packages said: {said}"
        )),
    }
}

/// A command of cargo's in the project, with nothing of the checkout's: its own folder, and not what may be said of kernels.
fn cargo(project: &Path, command: &str, features: &str) -> Command {
    let mut cargo = workspace::cargo();
    cargo.current_dir(project).arg(command);
    cargo.args(["--quiet", "--no-default-features", "--features", features]);
    cargo.env("CARGO_TARGET_DIR", project.join("target"));
    cargo.env_remove("WARPHEAP_KERNELS");
    // Set, lest the checkout's configuration sets it: no library of CUDA's is to be found.
    cargo.env("CUDA_LIBRARY_PATH", "");
    cargo
}

#[cfg(test)]
mod tests {
    use super::crates;

    #[test]
    fn a_crate_counts_once_and_the_project_not() {
        let tree = "mine v0.1.0 (/mine)\na v1.0.0\nb v1.0.0 (proc-macro)\na v2.0.0\na v1.0.0 (*)\n\n\
                    [build-dependencies]\nb v1.0.0 (proc-macro) (*)\n";
        assert_eq!(crates(tree), 3);
    }
}
