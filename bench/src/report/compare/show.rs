//! A comparison for people: a message, a table, lists.

use super::{Change, Comparison, Verdict};
use crate::report::table::Table;
use crate::report::text;

/// How many cells a message names.
const NAMED: usize = 5;

impl Verdict {
    /// What a table says of it: nothing for noise.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Worse => "WORSE",
            Verdict::Same => "",
            Verdict::Better => "better",
        }
    }
}

impl Comparison {
    /// What a message says of the regressions, naming the worst cells; `None` if there are none.
    pub fn regressions(&self) -> Option<String> {
        let worse = self.worse().map(|change| {
            let by = text::ratio(change.worse);
            format!("{} {}: {by} times as bad", change.cell, change.metric)
        });
        let all: Vec<String> = self.broken.iter().cloned().chain(worse).collect();
        if all.is_empty() {
            return None;
        }
        let named = all[..all.len().min(NAMED)].join("; ");
        let more = match all.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        Some(format!(
            "{} of the earlier run's results became worse: {named}{more}",
            all.len()
        ))
    }

    /// All of it for a terminal.
    pub fn text(&self) -> String {
        let mut text = format!(
            "\nbeside the run of {}\n{}",
            self.earlier,
            self.table().text()
        );
        for (title, items) in self.lists() {
            text += &format!("{title}:\n");
            for item in items {
                text += &format!("  {item}\n");
            }
        }
        text + &self.summary() + "\n"
    }

    /// The changes as a table, the worst first.
    pub fn table(&self) -> Table {
        let columns = [
            ("cell", false),
            ("metric", false),
            ("earlier", true),
            ("now", true),
            ("now/earlier", true),
            ("bound", true),
            ("", false),
        ];
        let line = |change: &Change| {
            let value = |spread| text::spread(change.unit, spread);
            vec![
                change.cell.clone(),
                format!("{} {}", change.metric, text::unit(change.unit))
                    .trim_end()
                    .to_string(),
                value(&change.earlier),
                value(&change.later),
                text::ratio(change.ratio),
                text::ratio(change.bound),
                change.verdict().name().to_string(),
            ]
        };
        Table {
            head: columns.map(|(name, _)| name.to_string()).to_vec(),
            right: columns.map(|(_, right)| right).to_vec(),
            lines: self.changes.iter().map(line).collect(),
            sound: self
                .changes
                .iter()
                .map(|c| c.verdict() != Verdict::Worse)
                .collect(),
        }
    }

    /// What there is beside the changes, under titles.
    pub fn lists(&self) -> Vec<(&'static str, &[String])> {
        let lists = [
            ("no results any more", self.broken.as_slice()),
            ("in the earlier run alone", &self.missing),
            ("in this run alone", &self.added),
            ("to bear in mind", &self.notes),
        ];
        lists
            .into_iter()
            .filter(|(_, items)| !items.is_empty())
            .collect()
    }

    /// How many changes there are of which kind.
    pub fn summary(&self) -> String {
        let count = |verdict| {
            self.changes
                .iter()
                .filter(|c| c.verdict() == verdict)
                .count()
        };
        format!(
            "{} worse, {} better, {} within noise (the greatest of {} % and the spread of either run)",
            count(Verdict::Worse) + self.broken.len(),
            count(Verdict::Better),
            count(Verdict::Same),
            self.noise
        )
    }
}
