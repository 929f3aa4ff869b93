//! The two ways, as the host runs them.

mod levels;
mod sharing;

pub(crate) use levels::by_levels;
pub(crate) use sharing::by_sharing;

use crate::Found;
use warpheap_tasks::{Family, Tree};

/// Does the tasks below the root on the CPU: what they found, and the families below them.
fn begin(tree: Tree) -> (Found, Vec<Family>) {
    let mut found = Found::default();
    let mut families = Vec::new();
    for below in (0..tree.roots).map(|n| tree.root(n)) {
        found.visit(below);
        if tree.is_inner(below) {
            families.push(below);
        }
    }
    (found, families)
}
