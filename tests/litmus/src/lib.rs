//! Litmus tests of what orders memory: fences alone, and malloc and free of every allocator.
//!
//! | module | what |
//! |---|---|
//! | [`arguments`] | what the program is called with |
//! | [`environment`] | how the launches of a test differ from each other |
//! | [`stage`] | a device with the kernels, launches until there are enough instances |
//! | [`shapes`] | one module for each shape: its launches, and what they may not show |
//! | [`list`] | every test by name |
//! | [`report`] | what came of a test, as a line |

pub mod arguments;
pub mod environment;
pub mod fences;
pub mod list;
pub mod report;
pub mod shapes;
pub mod stage;
