//! A run beside an earlier one: what became slower, and by how much more than noise.
//!
//! Cells are the same if scenario, allocator, call, case, size, fill, pool and number of lanes are; where
//! that number is what just fills the heap (S6, S10), it does not count. A
//! metric is **worse** if it is so by more than the noise bound, which is the greatest of: the percentage
//! that was asked for, and the spread (90th over 10th percentile) of either measurement.

mod show;

use super::error::ReportError;
use super::text;
use crate::row::{Metric, Row, Unit};
use crate::run::Run;
use crate::scenario::Scenario;
use crate::stats::Spread;

/// The noise bound in percent, unless another is asked for.
pub const NOISE: f64 = 10.0;

/// A metric of a cell in both runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The cell, in words.
    pub cell: String,
    /// The metric's name.
    pub metric: String,
    /// What it counts.
    pub unit: Unit,
    /// In the earlier run.
    pub earlier: Spread,
    /// In the later run.
    pub later: Spread,
    /// Later over earlier.
    pub ratio: f64,
    /// The same such that above 1 is worse, whichever way the metric goes.
    pub worse: f64,
    /// How much worse it may look for nothing: 1.1 for 10 %.
    pub bound: f64,
}

/// What to make of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Worse by more than the noise bound.
    Worse,
    /// Within the noise bound.
    Same,
    /// Better by more than the noise bound.
    Better,
}

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The earlier run, in words.
    pub earlier: String,
    /// The noise bound that was asked for, in percent.
    pub noise: f64,
    /// The metrics that both have, the worst first.
    pub changes: Vec<Change>,
    /// Cells that gave results and do not any more, with what they say now.
    pub broken: Vec<String>,
    /// Cells and metrics of the earlier run alone.
    pub missing: Vec<String>,
    /// Cells and metrics of the later run alone.
    pub added: Vec<String>,
    /// What else differs between the runs.
    pub notes: Vec<String>,
}

/// Whether a run on this device can be compared with an earlier one.
///
/// # Errors
/// [`ReportError::NotComparable`].
pub fn check(
    earlier: &Run,
    backend: &str,
    device: &str,
    warp_width: u32,
) -> Result<(), ReportError> {
    let widths = [earlier.warp_width, warp_width].map(|width| width.to_string());
    for (what, earlier, later) in [
        ("the backend", earlier.backend.as_str(), backend),
        ("the device", earlier.device.as_str(), device),
        ("a warp width of", &widths[0], &widths[1]),
    ] {
        if earlier != later {
            return Err(ReportError::NotComparable {
                what,
                earlier: earlier.to_string(),
                later: later.to_string(),
            });
        }
    }
    Ok(())
}

impl Comparison {
    /// `later` beside `earlier`; a change below `noise` percent counts for nothing.
    ///
    /// # Errors
    /// [`ReportError::NotComparable`] for runs on different devices, or whose pools all differ;
    /// [`ReportError::NothingShared`].
    pub fn new(earlier: &Run, later: &Run, noise: f64) -> Result<Self, ReportError> {
        check(earlier, &later.backend, &later.device, later.warp_width)?;
        let mut comparison = Comparison {
            earlier: format!(
                "{}, version {}",
                text::date(earlier.unix_time),
                earlier.version
            ),
            noise,
            changes: Vec::new(),
            broken: Vec::new(),
            missing: Vec::new(),
            added: Vec::new(),
            notes: notes(earlier, later),
        };
        comparison.missing = unasked(earlier, later);
        comparison.added = unasked(later, earlier);
        let mut pools = None;
        let (earlier_cells, later_cells) = (cells(earlier), cells(later));
        for &old in earlier_cells.iter().filter(|row| has(later, row.scenario)) {
            let like = later_cells.iter().filter(|new| same_cell(old, new));
            match like.clone().find(|new| new.pool_bytes == old.pool_bytes) {
                Some(new) => comparison.cell(old, new),
                None => {
                    let other = like.map(|new| new.pool_bytes).next();
                    let with =
                        other.map(|pool| format!(" (now with a pool of {})", text::bytes(pool)));
                    pools = pools.or(other.map(|now| (old.pool_bytes, now)));
                    let missing = text::cell(old) + &with.unwrap_or_default();
                    comparison.missing.push(missing);
                }
            }
        }
        for &new in later_cells.iter().filter(|row| has(earlier, row.scenario)) {
            if !earlier_cells.iter().any(|old| is_again(old, new)) {
                comparison.added.push(text::cell(new));
            }
        }
        if comparison.changes.is_empty() && comparison.broken.is_empty() {
            return Err(match pools {
                None => ReportError::NothingShared,
                Some((old, new)) => ReportError::NotComparable {
                    what: "a pool of",
                    earlier: text::bytes(old),
                    later: text::bytes(new),
                },
            });
        }
        comparison
            .changes
            .sort_by(|a, b| b.worse.total_cmp(&a.worse));
        Ok(comparison)
    }

    /// The changes that are worse by more than noise.
    pub fn worse(&self) -> impl Iterator<Item = &Change> {
        self.changes
            .iter()
            .filter(|change| change.verdict() == Verdict::Worse)
    }

    /// One cell of both runs.
    fn cell(&mut self, old: &Row, new: &Row) {
        let name = text::cell(old);
        let lost = old
            .metrics
            .iter()
            .any(|metric| new.metric(&metric.name).is_none());
        if (old.right && !new.right) || (lost && new.metrics.is_empty()) {
            self.broken.push(format!("{name}: {}", new.status));
        } else {
            for metric in old.metrics.iter().filter(|m| new.metric(&m.name).is_none()) {
                self.missing.push(format!("{name} {}", metric.name));
            }
        }
        // Of a name that is there twice, the first counts.
        let first = |metric: &&Metric| {
            new.metric(&metric.name)
                .is_some_and(|m| std::ptr::eq(m, *metric))
        };
        for metric in new.metrics.iter().filter(first) {
            match old.metric(&metric.name) {
                Some(before) => self.changes.push(change(&name, before, metric, self.noise)),
                None => self.added.push(format!("{name} {}", metric.name)),
            }
        }
    }
}

impl Change {
    /// What to make of it.
    pub fn verdict(&self) -> Verdict {
        match self.worse {
            worse if worse > self.bound => Verdict::Worse,
            worse if worse * self.bound < 1.0 => Verdict::Better,
            _ => Verdict::Same,
        }
    }
}

fn change(cell: &str, old: &Metric, new: &Metric, noise: f64) -> Change {
    let ratio = over(new.value.median, old.value.median);
    let worse = match new.lower_is_better {
        true => ratio,
        false => over(old.value.median, new.value.median),
    };
    let widths = [old.value, new.value].map(|value| match value.p10 > 0.0 {
        true => value.p90 / value.p10,
        false => 1.0,
    });
    Change {
        cell: cell.to_string(),
        metric: new.name.clone(),
        unit: new.unit,
        earlier: old.value,
        later: new.value,
        ratio,
        worse,
        bound: widths.into_iter().fold(1.0 + noise / 100.0, f64::max),
    }
}

/// A quotient where nothing over nothing is no change.
fn over(a: f64, b: f64) -> f64 {
    match (a == 0.0, b == 0.0) {
        (true, true) => 1.0,
        (false, true) => f64::INFINITY,
        _ => a / b,
    }
}

/// Whether a scenario was part of a run.
fn has(run: &Run, scenario: Scenario) -> bool {
    run.rows.iter().any(|row| row.scenario == scenario)
}

/// The scenarios that only the first of two runs has, a line each.
fn unasked(run: &Run, other: &Run) -> Vec<String> {
    let mut lines = Vec::new();
    for scenario in Scenario::ALL {
        let cells = run
            .rows
            .iter()
            .filter(|row| row.scenario == scenario)
            .count();
        if cells > 0 && !has(other, scenario) {
            lines.push(format!("{}, all of its {cells} cells", scenario.name()));
        }
    }
    lines
}

fn same_cell(a: &Row, b: &Row) -> bool {
    let same_n = a.n == b.n || matches!(a.scenario, Scenario::S6 | Scenario::S10);
    (a.scenario, a.call, a.size, a.fill) == (b.scenario, b.call, b.size, b.fill)
        && same_n
        && a.allocator == b.allocator
        && a.case == b.case
}

/// Whether a row is the cell of another one, in a pool of the same size.
fn is_again(a: &Row, b: &Row) -> bool {
    same_cell(a, b) && a.pool_bytes == b.pool_bytes
}

/// The rows of a run. Of a cell that it has twice, as where a size was asked for twice, the first counts.
fn cells(run: &Run) -> Vec<&Row> {
    let mut cells: Vec<&Row> = Vec::with_capacity(run.rows.len());
    for row in &run.rows {
        if !cells.iter().any(|known| is_again(known, row)) {
            cells.push(row);
        }
    }
    cells
}

/// What differs between the runs and may explain changes.
fn notes(earlier: &Run, later: &Run) -> Vec<String> {
    let mut notes = Vec::new();
    if earlier.driver != later.driver {
        notes.push(format!(
            "the driver was {}, now {}",
            earlier.driver, later.driver
        ));
    }
    // The largest number of lanes says the most about the device's memory.
    let stores = earlier
        .rows
        .iter()
        .filter_map(|row| Some((row.n, row.floors?.store.median)));
    let widest = stores.max_by_key(|(n, _)| *n);
    let later_store = |n: u32| {
        let rows = later.rows.iter().filter(|row| row.n == n);
        rows.filter_map(|row| Some(row.floors?.store.median)).next()
    };
    if let Some((n, old)) = widest
        && let Some(new) = later_store(n)
        && !(0.9..=1.1).contains(&over(new, old))
    {
        notes.push(format!(
            "the store kernel at {} lanes took {} µs, now {} µs: the device itself was not in the same state",
            text::lanes(n),
            text::value(Unit::Millis, old),
            text::value(Unit::Millis, new)
        ));
    }
    notes
}
