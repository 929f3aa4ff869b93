//! Allocators around allocators: what is wanted for diagnosis stays out of the fast paths.

pub(crate) mod checked;
mod counted;
mod failing;

pub use checked::Checked;
pub use counted::Counted;
pub use failing::Failing;
