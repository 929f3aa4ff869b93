//! What is asked for.

use super::tables::Input;
use crate::error::{JobError, within};
use std::ops::RangeInclusive;

/// Two tables, and how they are joined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The tables.
    pub input: Input,
    /// Bytes of a page: a power of two, one of [`PAGES`](Self::PAGES).
    pub page: u32,
    /// Right rows for each lane of the probe, one or more.
    pub per_lane: u32,
    /// How often the probe is done, once or more.
    pub repeats: u32,
    /// Bytes of the pool; what the join needs if none are given.
    pub pool: Option<u64>,
    /// Whether the matches are held against the CPU's. If not, heaps are made for as many as there can be.
    pub checked: bool,
    /// Rows of a table that a rank sends at a time, one of [`BATCHES`](Self::BATCHES). A process that is alone sends none.
    pub batch: u32,
}

impl Options {
    /// The sizes of a page, in bytes.
    pub const PAGES: RangeInclusive<u32> = 32..=2048;
    /// Bytes of a page when nobody says how many.
    pub const PAGE: u32 = 128;
    /// Right rows for each lane when nobody says how many.
    pub const PER_LANE: u32 = 32;
    /// Probes when nobody says how many.
    pub const REPEATS: u32 = 3;
    /// How many rows a rank may send at a time.
    pub const BATCHES: RangeInclusive<u32> = 1..=1 << 24;
    /// Rows that a rank sends at a time when nobody says how many.
    pub const BATCH: u32 = 1 << 20;

    /// Checks that all is within bounds.
    ///
    /// # Errors
    /// [`JobError::Usage`] for what is not.
    pub(super) fn check(&self) -> Result<(), JobError> {
        within("--page", self.page, Self::PAGES)?;
        if !self.page.is_power_of_two() {
            return Err(JobError::Usage(format!(
                "--page {} is no power of two: {} is the next",
                self.page,
                self.page.next_power_of_two()
            )));
        }
        within("--per-lane", self.per_lane, 1..=u32::MAX)?;
        within("--batch", self.batch, Self::BATCHES)?;
        within("--repeats", self.repeats, 1..=u32::MAX)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            input: Input::default(),
            page: Self::PAGE,
            per_lane: Self::PER_LANE,
            repeats: Self::REPEATS,
            pool: None,
            checked: true,
            batch: Self::BATCH,
        }
    }
}
