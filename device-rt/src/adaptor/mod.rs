//! Allocators around allocators: what is wanted for diagnosis stays out of the fast paths.

pub(crate) mod checked;
mod counted;
mod failing;
pub(crate) mod limited;
pub(crate) mod traced;
mod within;

pub use checked::{ByProgram, ByVariable, Checked, Chooser};
pub use counted::Counted;
pub use failing::Failing;
pub use limited::Limited;
pub use traced::Traced;
