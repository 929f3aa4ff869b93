//! Set-up, kernels, tests and release chores: `cargo xtask <command>`.

mod book;
mod bundle;
mod cuda_stub;
mod docs;
mod malloc;
mod mutants;
mod package;
mod rustc;
mod test;
mod tested;
mod vulkan;
mod workspace;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use warpheap_build::DeviceCrate;
use warpheap_toolchain::compilers;
use warpheap_toolchain::error::Result;
use warpheap_toolchain::kernels::{self, Project};

/// Set-up, kernels, tests and release chores of warpheap.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Make, install or check the compilers for device code
    Toolchain(compilers::Args),
    /// Make a libcuda to link `examples/raw` against without a CUDA toolkit
    CudaStub(cuda_stub::Args),
    /// Compile the kernels of the workspace into `prebuilt/`, or check those that are there
    Kernels(kernels::Args),
    /// Run every test of the workspace, on Debian from a bare machine up
    Test(test::Args),
    /// Leave out each fence and barrier of device code in turn, and see what misses it
    Mutants(mutants::Args),
    /// Put every program into one folder for a machine without Rust
    Bundle(bundle::Args),
    /// Check the links of the documentation, and build the book
    Book(book::Args),
    /// Document every published crate with the features that docs.rs takes, and without any; warnings are errors
    Docs,
    /// Pack the crates that are published
    Package(package::Args),
}

fn main() -> ExitCode {
    if let Some(code) = rustc::run_if_meant(std::env::args_os()) {
        return code;
    }
    let done = match Cli::parse().command {
        Task::Toolchain(args) => toolchain(&args),
        Task::CudaStub(args) => cuda_stub::run(&args),
        Task::Kernels(args) => kernels(&args),
        Task::Test(args) => test::run(&args),
        Task::Mutants(args) => mutants::run(&args),
        Task::Bundle(args) => bundle::run(&args),
        Task::Book(args) => book::run(&args),
        Task::Docs => docs::run(),
        Task::Package(args) => package::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The compilers are tried where the workspace's device crates are compiled, which has use of what that compiles of `core`.
fn toolchain(args: &compilers::Args) -> Result {
    let krate = DeviceCrate::read(&workspace::root().join("kernels"))?;
    compilers::run(args, Some(krate.target_dir()))
}

fn kernels(args: &kernels::Args) -> Result {
    let workspace = Project::at(workspace::root(), "cargo xtask kernels")?;
    kernels::run(args, &workspace)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn wrong_arguments_are_refused() {
        for line in [
            &["xtask"][..],
            &["xtask", "no-such-command"],
            &["xtask", "toolchain", "--check", "--from", "x"],
            &["xtask", "toolchain", "--jobs", "0"],
            &["xtask", "test", "--skip-vulkan", "--system-vulkan"],
            &["xtask", "test", "name-without-dashes"],
            &["xtask", "bundle", "--out"],
            &["xtask", "kernels", "--force"],
        ] {
            assert!(Cli::try_parse_from(line).is_err(), "{line:?}");
        }
        assert!(Cli::try_parse_from(["xtask", "test", "--", "name"]).is_ok());
    }
}
