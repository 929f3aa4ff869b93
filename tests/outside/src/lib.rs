//! Runs kernels of a project outside the library's workspace with every allocator, and checks what they leave.
//!
//! | module | what |
//! |---|---|
//! | [`arguments`] | what the program is called with |
//! | [`stage`] | a device with the kernels, pools of the right size, launches |
//! | [`jobs`] | one module for each kernel: its launches, and the check on the CPU |
//! | [`list`] | every job with every allocator |
//! | [`alone`] | jobs in processes of their own |
//! | [`report`] | what came of a job, as a line |

pub mod alone;
pub mod arguments;
pub mod jobs;
pub mod list;
pub mod report;
pub mod stage;
