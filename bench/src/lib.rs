//! Scenarios and timing of warpheap.
//!
//! | module | answers |
//! |---|---|
//! | [`options`] | what is asked for on the command line |
//! | [`scenario`] | which scenarios there are |
//! | [`row`], [`run`] | what is known after one cell, after all of them |
//! | [`stats`] | median and spread |

mod error;
pub mod options;
pub mod row;
pub mod run;
pub mod scenario;
pub mod stats;

pub use error::BenchError;
