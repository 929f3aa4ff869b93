//! A launch for each level of the tree: lanes do the tasks of one, and write down those of the next.

use super::{CHILDREN, Family, Tree};
use warpheap::device::*;
use warpheap::rt::sync::{Group, Team, group_sum};

/// Words over which the lanes' sums are spread.
pub const SUMS: usize = 64;

/// Does the tasks of the families in `from`, `sizes[level]` of them, and appends the families below these to `to`. The next element
/// of `sizes` counts them, also those for which there is no room. The tasks' hashes are added to `sums`.
#[kernel(unsafe(slices))]
pub fn one_level(
    tree: &Tree,
    from: &[Family],
    to: &mut [Family],
    sizes: &[AtomicWord],
    sums: &[AtomicWord],
    level: u32,
) {
    let size = sizes[level as usize].load();
    let tasks = size * CHILDREN;
    let mut task = thread::index();
    while task < tasks {
        let family = from[(task / CHILDREN) as usize];
        let next = task % CHILDREN;
        let below = Family { next, ..family }.below();

        let group = Group::here();
        let sum = group_sum(group, below.hash).total;
        let inner = tree.is_inner(below);
        let alike = Team::by_key(group, inner as u32);
        let mut first = 0;
        if Team::new(group, group.lanes()).leads() {
            sums[task as usize / 32 % SUMS].fetch_add(sum);
        }
        if inner & alike.leads() {
            first = sizes[level as usize + 1].fetch_add(alike.count());
        }
        let place = (alike.broadcast(first) + alike.rank()) as usize;
        if inner & (place < to.len()) {
            to[place] = below;
        }
        task += thread::count();
    }
}
