//! `warpheap toolchain` and `warpheap kernels`: what a project with kernels does once and not in each build.
//!
//! They print while they work, which takes minutes.

use crate::done::Done;
use crate::error::CliError;
use warpheap_toolchain::kernels::{self, Project};
use warpheap_toolchain::{compilers, error::Result};

/// Looks for the compilers for device code, makes them where there are none, and tries them.
///
/// # Errors
/// There are none, and none can be made here.
pub fn toolchain(args: &compilers::Args) -> std::result::Result<Done, CliError> {
    done(compilers::run(args, None))
}

/// Compiles what is stale of the images of the project that this folder is in, or checks them.
///
/// # Errors
/// There is no project with kernels, one of them does not compile, or an image does not fit its sources.
pub fn kernels(args: &kernels::Args) -> std::result::Result<Done, CliError> {
    done(Project::here("warpheap kernels").and_then(|project| kernels::run(args, &project)))
}

fn done(outcome: Result) -> std::result::Result<Done, CliError> {
    match outcome {
        Ok(()) => Ok(String::new().into()),
        Err(error) => Err(CliError::Run(error.to_string())),
    }
}
