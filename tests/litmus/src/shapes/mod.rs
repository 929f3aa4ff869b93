//! The shapes: what each needs, its launches, and what their outcomes mean.

pub mod mailbox;
pub mod pairs;
pub mod reuse;

use crate::report::{Counted, Rule, Verdict};
use crate::stage::Totals;

/// The verdict on a test.
fn verdict(rule: Rule, totals: &Totals, instances: u64, weak: u64, note: String) -> Verdict {
    let note = match totals.example {
        None => note,
        Some([kind, lane, place, expected, found]) => format!(
            "{note}; the first one: kind {kind}, lane {lane}, place {place}, expected {expected:#x}, found {found:#x}"
        ),
    };
    Verdict::Ran(
        rule,
        Counted {
            instances,
            weak,
            launches: totals.launches,
            time: totals.time,
            note,
        },
    )
}

/// Counts with their names.
fn named(totals: &Totals, names: &[(&str, usize)]) -> String {
    let counts = names
        .iter()
        .map(|&(name, at)| format!("{name} {}", totals.words[at]));
    counts.collect::<Vec<_>>().join(", ")
}
