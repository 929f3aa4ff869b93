//! How many edges leave each vertex, counted by all ranks together.

use super::borders::Borders;
use crate::error::JobError;
use crate::graph::edges::out_degrees;
use warpheap_dist::World;

/// How many edges leave each of so many vertices, of those that all ranks have; the same on all ranks. A call of all ranks.
///
/// Each rank adds up for its vertices what all have counted, and all have the sums then: half of what it takes to send 8 bytes for each
/// vertex.
///
/// # Errors
/// As [`World::exchange`] and [`World::all_gather_slices`].
pub fn of_all(
    world: &World,
    edges: &[[u32; 2]],
    borders: &Borders,
    vertices: u32,
) -> Result<Vec<u32>, JobError> {
    let mut counts = out_degrees(edges, vertices);
    let of = |rank| {
        let range = borders.of(rank);
        &counts[range.start as usize..range.end as usize]
    };
    let parts: Vec<&[u32]> = (0..world.size()).map(of).collect();
    let received = world.exchange(&parts)?;
    let mine = summed(&received, borders.of(world.rank()).len());
    world.all_gather_slices(&world.agree(mine)?, &mut counts)?;
    Ok(counts)
}

/// The sums of the counts of so many vertices.
fn summed(parts: &[Vec<u32>], vertices: usize) -> Result<Vec<u32>, JobError> {
    let mut sums = vec![0u32; vertices];
    for part in parts {
        for (sum, count) in sums.iter_mut().zip(part) {
            *sum = sum.checked_add(*count).ok_or_else(|| {
                let most = u32::MAX;
                JobError::Usage(format!(
                    "more than {most} edges leave one vertex, and no more can be handled: take a smaller graph"
                ))
            })?;
        }
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use super::summed;

    #[test]
    fn degrees_are_sums_that_32_bits_hold() {
        let sums = summed(&[vec![1, 0], vec![u32::MAX - 1, 5]], 2);
        assert_eq!(sums.unwrap(), [u32::MAX, 5]);
        assert!(summed(&[vec![1], vec![u32::MAX]], 1).is_err());
    }
}
