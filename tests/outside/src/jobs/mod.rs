//! The jobs: what a kernel needs, its launches, and the check of what it leaves.

pub mod blocks;
pub mod branches;
pub mod collections;
pub mod exploration;
pub mod trees;

use std::error::Error;

/// Fails with a text unless something holds.
fn expect(holds: bool, text: impl FnOnce() -> String) -> Result<(), Box<dyn Error>> {
    match holds {
        true => Ok(()),
        false => Err(text().into()),
    }
}
