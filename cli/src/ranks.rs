//! Commands that several processes do together, if a launcher of MPI started them.

use crate::error::CliError;
use warpheap_dist::{DistError, World};
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
