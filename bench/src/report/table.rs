//! The results as tables: one for each scenario, with aligned columns.

use super::chart::in_order;
use super::peers::Peers;
use super::text;
use crate::row::{Metric, OK, Row, Unit};
use crate::run::Run;
use crate::scenario::{Axis, Scenario};

/// A table of one scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// The names of the columns.
    pub head: Vec<String>,
    /// Whether the column is flush right.
    pub right: Vec<bool>,
    /// The cells, line by line.
    pub lines: Vec<Vec<String>>,
    /// Whether what was handed out was right, line by line.
    pub sound: Vec<bool>,
}

/// All tables of a run with a title over each.
pub fn tables(run: &Run, peers: &Peers) -> String {
    let mut text = String::new();
    for scenario in Scenario::ALL {
        let table = table(run, peers, scenario);
        if !table.lines.is_empty() {
            if !text.is_empty() {
                text.push('\n');
            }
            text += &format!(
                "{}: {}\n{}",
                scenario.name(),
                scenario.title(),
                table.text()
            );
        }
    }
    text
}

/// The table of a scenario; without lines if nothing of it was measured.
pub fn table(run: &Run, peers: &Peers, scenario: Scenario) -> Table {
    let mut rows: Vec<&Row> = run
        .rows
        .iter()
        .filter(|row| row.scenario == scenario)
        .collect();
    // Allocators of one cell under each other; cells in the order in which they were measured.
    let cells = in_order(rows.iter().map(|row| (row.case.clone(), row.n)));
    rows.sort_by_key(|row| {
        cells
            .iter()
            .position(|cell| (&cell.0, cell.1) == (&row.case, row.n))
    });
    let metrics = in_order(
        rows.iter()
            .flat_map(|row| &row.metrics)
            .map(|m| (m.name.as_str(), m.unit)),
    );
    let calls = in_order(rows.iter().map(|row| row.call)).len() > 1;
    let floors = rows.iter().any(|row| row.floors.is_some());
    // Where their number is not asked for, it is 1 or less.
    let lanes = rows.iter().any(|row| row.n > 1);
    let beside = |name: &str| {
        let of = |row: &&Row| {
            row.metric(name)
                .is_some_and(|m| peers.best(row, m).is_some())
        };
        rows.iter().any(of)
    };

    let mut table = Table {
        head: Vec::new(),
        right: Vec::new(),
        lines: Vec::new(),
        sound: Vec::new(),
    };
    let mut column = |name: &str, right| {
        table.head.push(name.to_string());
        table.right.push(right);
    };
    column(what(scenario.axis()), true);
    if lanes {
        column("lanes", true);
    }
    column("allocator", false);
    if calls {
        column("call", false);
    }
    if floors {
        column("store µs", true);
    }
    for (name, unit) in &metrics {
        column(format!("{name} {}", text::unit(*unit)).trim_end(), true);
        if *unit == Unit::Millis && floors {
            column("/store", true);
        }
        if beside(name) {
            column("best peer", true);
            column("/peer", true);
        }
    }
    column("status", false);
    for &row in &rows {
        let mut line = vec![row.case.clone()];
        if lanes {
            line.push(text::lanes(row.n));
        }
        line.push(row.allocator.clone());
        if calls {
            line.push(row.call.name().to_string());
        }
        if floors {
            line.push(
                row.floors
                    .map_or_else(dash, |f| text::value(Unit::Millis, f.store.median)),
            );
        }
        for (name, unit) in &metrics {
            let metric = row.metric(name);
            line.push(metric.map_or_else(dash, |m| text::spread(m.unit, &m.value)));
            if *unit == Unit::Millis && floors {
                let ratio = metric.and_then(|metric| row.ratio(metric));
                line.push(ratio.map_or_else(dash, text::ratio));
            }
            if beside(name) {
                line.extend(best(peers, row, metric));
            }
        }
        line.push(status(row));
        table.lines.push(line);
        table.sound.push(row.right);
    }
    table
}

/// The best peer with its figure, and this row's over that.
fn best(peers: &Peers, row: &Row, metric: Option<&Metric>) -> [String; 2] {
    let best = metric.and_then(|metric| Some((metric, peers.best(row, metric)?)));
    match best {
        None => [dash(), dash()],
        Some((metric, (peer, value))) => [
            format!("{} {}", peer.allocator, text::value(metric.unit, value)),
            text::ratio(metric.value.median / value),
        ],
    }
}

fn status(row: &Row) -> String {
    match (row.right, row.status.as_str()) {
        (true, OK) => OK.to_string(),
        (true, status) => status.to_string(),
        (false, status) => format!("WRONG: {status}"),
    }
}

/// The name of what varies.
fn what(axis: Axis) -> &'static str {
    match axis {
        Axis::Size | Axis::Lanes => "bytes",
        Axis::Fill => "fill",
        Axis::Case => "case",
    }
}

fn dash() -> String {
    "-".to_string()
}

impl Table {
    /// The table for a terminal, its head included.
    pub fn text(&self) -> String {
        let lines = || std::iter::once(&self.head).chain(&self.lines);
        let width = |at: usize| {
            lines()
                .map(|line| line[at].chars().count())
                .max()
                .unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let mut text = String::new();
        for line in lines() {
            let mut shown = String::new();
            for ((cell, &width), right) in line.iter().zip(&widths).zip(&self.right) {
                shown += &match right {
                    true => format!("{cell:>width$}  "),
                    false => format!("{cell:<width$}  "),
                };
            }
            text += shown.trim_end();
            text.push('\n');
        }
        text
    }
}
