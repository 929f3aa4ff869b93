//! Allocators around allocators: what is wanted for diagnosis stays out of the fast paths.

mod counted;
mod failing;

pub use counted::Counted;
pub use failing::Failing;
