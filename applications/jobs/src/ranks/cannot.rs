//! What one rank cannot, none does.

use warpheap_dist::{DistError, Op, World};

/// What this rank has, if all ranks have something. If not, `Err` with why the lowest cannot that has nothing, on rank 0, and with
/// nothing on the others. A call of all ranks.
///
/// # Errors
/// As [`World::gather`].
pub fn all_can<T, E: ToString>(
    world: &World,
    mine: Result<T, E>,
) -> Result<Result<T, Option<String>>, DistError> {
    let why = mine.as_ref().err().map(ToString::to_string);
    let mut cannot = [u64::from(mine.is_err())];
    world.reduce(Op::Max, &mut cannot)?;
    let reasons = world.gather(why.unwrap_or_default().as_bytes())?;
    Ok(match mine {
        Ok(mine) if cannot == [0] => Ok(mine),
        _ => {
            let first = reasons.into_iter().find(|why| !why.is_empty());
            Err(first.map(|why| String::from_utf8_lossy(&why).into_owned()))
        }
    })
}
