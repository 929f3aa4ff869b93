//! Things sorted by whom they belong to.

use crate::threads::in_parts;

/// Things that are worth a thread.
const LEAST: u32 = 1 << 14;

/// Some of `things` for each of so many ranks, as `owner` says, in their order; on several threads.
pub fn by_owner<T: Copy + Send + Sync>(
    things: &[T],
    ranks: usize,
    owner: impl Fn(&T) -> usize + Sync,
) -> Vec<Vec<T>> {
    let sorted = in_parts(things.len() as u32, LEAST, |range| {
        let mut parts = vec![Vec::new(); ranks];
        for thing in &things[range.start as usize..range.end as usize] {
            parts[owner(thing)].push(*thing);
        }
        parts
    });
    let mut parts = vec![Vec::new(); ranks];
    for some in sorted {
        for (part, things) in parts.iter_mut().zip(some) {
            part.extend(things);
        }
    }
    parts
}
