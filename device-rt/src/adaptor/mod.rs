//! Allocators around allocators: what is wanted for diagnosis stays out of the fast paths.

mod counted;

pub use counted::Counted;
