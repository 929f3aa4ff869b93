//! What is drawn of a scenario: panels of lines, before anything is put on paper.

use super::peers::Peers;
use super::text;
use crate::row::{Call, Metric, Row, Unit};
use crate::run::Run;
use crate::scenario::{Axis, Scenario};

/// One plot: a metric along the axis of its scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What is drawn.
    pub title: String,
    /// What goes along the horizontal axis.
    pub axis: Axis,
    /// Places along the horizontal axis, from left to right, with what is written there.
    pub ticks: Vec<(f64, String)>,
    /// What goes along the vertical axis.
    pub unit: Unit,
    /// Whether the vertical axis is logarithmic.
    pub log: bool,
    /// The lines, those that others are drawn over first.
    pub lines: Vec<Line>,
}

/// What a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An allocator of the run, with its place among them.
    Allocator(usize),
    /// A floor of the run.
    Floor,
    /// An allocator of a peers file.
    Peer,
}

/// One line of a plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is called.
    pub name: String,
    /// What it is about.
    pub kind: Kind,
    /// Its points, from left to right: place along the horizontal axis, value.
    pub points: Vec<(f64, f64)>,
}

/// The names of the lines that rows of this run make, in the order of their colours.
pub fn names(run: &Run) -> Vec<String> {
    let mut names = Vec::new();
    for row in &run.rows {
        let name = line_name(row);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The panels of a scenario: a panel for each metric, and for each size where lanes vary.
pub fn panels(run: &Run, peers: &Peers, scenario: Scenario) -> Vec<Panel> {
    let rows: Vec<&Row> = run
        .rows
        .iter()
        .filter(|row| row.scenario == scenario)
        .collect();
    let mut groups: Vec<&str> = vec![""];
    if scenario.axis() == Axis::Lanes {
        groups = in_order(rows.iter().map(|row| row.case.as_str()));
    }
    let metrics = rows.iter().flat_map(|row| &row.metrics);
    let metrics = in_order(metrics.map(|metric| metric.name.as_str()));
    let mut panels = Vec::new();
    for metric in metrics {
        for group in &groups {
            let rows: Vec<&Row> = rows
                .iter()
                .copied()
                .filter(|row| group.is_empty() || row.case == *group)
                .collect();
            let title = match (scenario.axis(), group.parse::<u32>()) {
                (Axis::Lanes, Ok(size)) => format!("{metric}, {size} bytes"),
                (Axis::Lanes, Err(_)) => format!("{metric}, {group}"),
                _ => metric.to_string(),
            };
            panels.extend(panel(&names(run), &rows, peers, metric, title));
        }
    }
    panels
}

/// One panel; `None` if there is nothing to draw.
fn panel(
    names: &[String],
    rows: &[&Row],
    peers: &Peers,
    metric: &str,
    title: String,
) -> Option<Panel> {
    let axis = rows.first()?.scenario.axis();
    let ticks = ticks(axis, rows);
    let place = |row: &Row| place(axis, &ticks, row);
    let measured = |row: &'_ Row| row.metric(metric).map(|metric| metric.value.median);
    let unit = rows.iter().find_map(|row| row.metric(metric))?.unit;
    // Times carry their unit at each mark.
    let title = match unit {
        Unit::MopsPerSecond | Unit::Percent => format!("{title} ({})", unit.label()),
        _ => title,
    };
    let log = is_log(rows.iter().find_map(|row| row.metric(metric))?);
    let drawable = |value: f64| value.is_finite() && (!log || value > 0.0);
    let mut lines = Vec::new();

    // The cells, each once, whichever allocator measured it.
    let mut cells: Vec<(f64, &Row, &Metric)> = Vec::new();
    for row in rows {
        if let (Some(x), Some(metric)) = (place(row), row.metric(metric))
            && !cells
                .iter()
                .any(|(at, other, _)| *at == x && other.n == row.n)
        {
            cells.push((x, row, metric));
        }
    }
    let mut add = |name: &str, kind, x: f64, value: f64| {
        if !drawable(value) {
            return;
        }
        let known = lines
            .iter_mut()
            .find(|line: &&mut Line| line.name == name && line.kind == kind);
        match known {
            Some(line) => line.points.push((x, value)),
            None => lines.push(Line {
                name: name.to_string(),
                kind,
                points: vec![(x, value)],
            }),
        }
    };
    for (x, row, metric) in &cells {
        for (peer, value) in peers.beside(row, metric).filter(|(peer, _)| peer.counts()) {
            add(&peer.allocator, Kind::Peer, *x, value);
        }
    }
    if unit == Unit::Millis {
        for (x, row, _) in &cells {
            for (name, floor) in row.floors.iter().flat_map(|floors| floors.named()) {
                add(name, Kind::Floor, *x, floor.median);
            }
        }
    }
    for (index, name) in names.iter().enumerate() {
        for row in rows.iter().filter(|row| line_name(row) == *name) {
            if let (Some(x), Some(value)) = (place(row), measured(row)) {
                add(name, Kind::Allocator(index), x, value);
            }
        }
    }
    for line in &mut lines {
        line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    let drawn = lines
        .iter()
        .any(|line| matches!(line.kind, Kind::Allocator(_)));
    drawn.then_some(Panel {
        title,
        axis,
        ticks,
        unit,
        log,
        lines,
    })
}

/// Whether a metric is drawn on a logarithmic axis: shares and counts are not.
fn is_log(metric: &Metric) -> bool {
    let share = metric.unit == Unit::Ratio && !metric.lower_is_better;
    !(share || matches!(metric.unit, Unit::Percent | Unit::Count))
}

/// The places of `rows` along an axis with what is written there.
fn ticks(axis: Axis, rows: &[&Row]) -> Vec<(f64, String)> {
    if axis == Axis::Case {
        let cases = in_order(rows.iter().map(|row| row.case.as_str()));
        let cases = cases.into_iter().enumerate();
        return cases
            .map(|(at, case)| (at as f64, case.to_string()))
            .collect();
    }
    let mut values: Vec<f64> = rows.iter().filter_map(|row| row.place()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let tick = |value: f64| match axis {
        Axis::Size => (value.log2(), text::size(value)),
        Axis::Lanes => (value.log2(), text::lanes(value as u32)),
        Axis::Fill | Axis::Case => (value, text::tick(Unit::Percent, value)),
    };
    values
        .into_iter()
        .filter(|value| *value > 0.0)
        .map(tick)
        .collect()
}

/// Where a row lies along an axis: the logarithm of sizes and lanes, the number of a case.
fn place(axis: Axis, ticks: &[(f64, String)], row: &Row) -> Option<f64> {
    match axis {
        Axis::Case => ticks
            .iter()
            .find(|(_, case)| *case == row.case)
            .map(|(x, _)| *x),
        Axis::Fill => row.place(),
        Axis::Size | Axis::Lanes => row.place().filter(|value| *value > 0.0).map(f64::log2),
    }
}

/// The allocator, and how it was called unless each lane called by itself.
fn line_name(row: &Row) -> String {
    match row.call {
        Call::Lane => row.allocator.clone(),
        Call::Warp => format!("{} (warp)", row.allocator),
    }
}

/// Each once, in the order of their first appearance.
pub(super) fn in_order<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for item in items {
        if !seen.contains(&item) {
            seen.push(item);
        }
    }
    seen
}
