//! Programs that are measured beside the lab's own kernels: jobs for people, which check what they come to.

use crate::row::{Call, Metric, OK, Row};
use crate::scenario::Scenario;

/// A program: a row for each allocator.
pub trait Program {
    /// Which scenario it is.
    fn scenario(&self) -> Scenario;

    /// What it works on, in words.
    fn case(&self) -> String;

    /// How many of them it works on: rows, bases, edges, keys.
    fn n(&self) -> u32;

    /// Runs it with the allocator of this name.
    ///
    /// # Errors
    /// It did not come to an end, or to a wrong one.
    fn measure(&mut self, allocator: &str) -> Result<Measured, Refused>;
}

/// What a program came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Bytes of its heap.
    pub pool_bytes: u64,
    /// What was measured.
    pub metrics: Vec<Metric>,
}

/// Why there is nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The allocator cannot do it; why.
    Cannot(String),
    /// The result is not right; how.
    Wrong(String),
}

/// The row of `program` with this allocator.
pub(crate) fn row(program: &mut dyn Program, allocator: &str) -> Row {
    let mut row = Row {
        scenario: program.scenario(),
        allocator: allocator.to_string(),
        call: Call::Lane,
        case: program.case(),
        size: None,
        fill: None,
        n: program.n(),
        pool_bytes: 0,
        floors: None,
        metrics: Vec::new(),
        right: true,
        status: OK.to_string(),
    };
    match program.measure(allocator) {
        Ok(measured) => {
            row.pool_bytes = measured.pool_bytes;
            row.metrics = measured.metrics;
        }
        Err(Refused::Cannot(why)) => row.status = format!("not measured: {why}"),
        Err(Refused::Wrong(how)) => {
            row.status = format!("WRONG: {how}");
            row.right = false;
        }
    }
    row
}
