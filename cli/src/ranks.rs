//! Commands that several processes do together, if a launcher of MPI started them, and those that they do not.

use crate::error::CliError;
use warpheap_dist::{DistError, World, one_of_several};
use warpheap_jobs::error::JobError;

/// Joins the world, does a command in it, and leaves. With several ranks an error of one ends all, with its message and exit code.
///
/// # Errors
/// Those of the command of a process that is alone.
pub fn around(
    command: impl FnOnce(&World) -> Result<String, CliError>,
) -> Result<String, CliError> {
    let world = World::join().map_err(|error: DistError| JobError::from(error))?;
    match command(&world) {
        Ok(text) => {
            world.leave();
            Ok(text)
        }
        Err(error) if world.size() > 1 => world.fail_with(error.code(), &error),
        Err(error) => Err(error),
    }
}

/// Refuses a command of one process where a launcher started several: each would do all of it, and write over what others wrote.
///
/// # Errors
/// [`CliError::Usage`]; several with MPI tell it once.
pub fn alone(command: &str) -> Result<(), CliError> {
    let Some((rank, size)) = one_of_several() else {
        return Ok(());
    };
    let refused = CliError::Usage(format!(
        "`{command}` is a command of one process, and this is process {rank} of {size}: start it once, without a launcher of MPI"
    ));
    match cfg!(feature = "mpi") {
        true => around(|world| world.agree(Err(refused))).map(drop),
        false => Err(refused),
    }
}

/// Says of a command that looks at one machine that each of several processes does it.
pub fn each(command: &str) {
    if let Some((0, size)) = one_of_several() {
        eprintln!("`{command}` has no ranks: each of {size} processes looks at its own machine");
    }
}
