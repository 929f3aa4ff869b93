//! Why a cell has no times.

use crate::contents::Wrong;
use crate::row::Row;
use warpheap_api::host::{KernelFailure, LaunchReport, Prepared};

/// Why a cell has no times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Requests failed.
    Failed(KernelFailure),
    /// Blocks were handed out that may not be.
    Wrong(Wrong),
    /// Blocks did not hold what was written to them.
    Damaged(u32),
}

impl Refusal {
    /// The first failure among the reports of `launches`.
    pub fn of(launches: &[Prepared], reports: &[LaunchReport]) -> Option<Self> {
        let pairs = launches.iter().zip(reports);
        let mut failures = pairs.filter_map(|(launch, report)| report.failure(launch.entry()));
        failures.next().map(Refusal::Failed)
    }

    /// `wrong`, if there is anything wrong.
    pub fn of_wrong(wrong: Wrong) -> Option<Self> {
        (!wrong.is_nothing()).then_some(Refusal::Wrong(wrong))
    }

    /// This number of damaged blocks, if there are some.
    pub fn of_damaged(blocks: u32) -> Option<Self> {
        (blocks != 0).then_some(Refusal::Damaged(blocks))
    }

    /// Says it in the row.
    pub fn tell(&self, row: &mut Row) {
        row.status = match self {
            Refusal::Failed(failure) => {
                let [exhausted, contended, unsupported] = failure.by_cause;
                format!(
                    "{} of {} failed: {exhausted} exhausted, {contended} contended, {unsupported} unsupported",
                    failure.lanes, row.n
                )
            }
            Refusal::Wrong(wrong) => wrong.to_string(),
            Refusal::Damaged(blocks) => {
                format!("WRONG: {blocks} blocks did not hold what was written to them")
            }
        };
        row.right &= matches!(self, Refusal::Failed(_));
    }
}
