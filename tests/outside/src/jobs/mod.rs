//! The jobs: what a kernel needs, its launches, and the check of what it leaves.

pub mod agents;
pub mod blocks;
pub mod branches;
pub mod collections;
pub mod exploration;
pub mod octrees;
pub mod products;
pub mod trees;

use std::error::Error;

/// Fails with a text unless something holds.
fn expect(holds: bool, text: impl FnOnce() -> String) -> Result<(), Box<dyn Error>> {
    match holds {
        true => Ok(()),
        false => Err(text().into()),
    }
}

/// The texts that say something, as one.
fn notes<const N: usize>(notes: [String; N]) -> String {
    let notes = notes.into_iter().filter(|note| !note.is_empty());
    notes.collect::<Vec<_>>().join("; ")
}
