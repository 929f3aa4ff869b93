//! [`run`]: a program of several ranks.

use crate::World;
use std::fmt::Display;
use std::process::ExitCode;

/// Joins the world, runs `job`, and leaves: the body of a `main`. An error ends the job on all ranks, with exit code 1 and one
/// line on standard error that names the rank.
pub fn run<E: Display>(job: impl FnOnce(&World) -> Result<(), E>) -> ExitCode {
    let world = match World::join() {
        Ok(world) => world,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    match job(&world) {
        Ok(()) => world.leave(),
        Err(error) => world.fail(&error),
    }
    ExitCode::SUCCESS
}
