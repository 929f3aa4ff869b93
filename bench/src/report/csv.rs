//! `results.csv`: a line for each row and metric, under a line of names.
//!
//! A row without metrics has one line, with the reason in its status.

use crate::row::{Metric, Row};
use crate::run::Run;

/// The names of the columns.
pub const COLUMNS: [&str; 24] = [
    "backend",
    "device",
    "scenario",
    "allocator",
    "call",
    "case",
    "size",
    "fill",
    "n",
    "pool_bytes",
    "metric",
    "unit",
    "better",
    "median",
    "p10",
    "p90",
    "to_store",
    "empty_ms",
    "store_ms",
    "bump_ms",
    "fence_ms",
    "right",
    "status",
    "version",
];

/// The run as CSV.
pub fn text(run: &Run) -> String {
    let mut text = String::new();
    line(&mut text, &COLUMNS.map(String::from));
    for row in &run.rows {
        if row.metrics.is_empty() {
            line(&mut text, &fields(run, row, None));
        }
        for metric in &row.metrics {
            line(&mut text, &fields(run, row, Some(metric)));
        }
    }
    text
}

fn fields(run: &Run, row: &Row, metric: Option<&Metric>) -> [String; COLUMNS.len()] {
    let or_empty = |number: Option<f64>| number.map_or_else(String::new, number_text);
    let of = |get: fn(&Metric) -> f64| or_empty(metric.map(get));
    let floor = |at: usize| or_empty(row.floors.map(|floors| floors.named()[at].1.median));
    let whole = |number: Option<u32>| number.map_or_else(String::new, |n| n.to_string());
    let unit = |metric: &Metric| {
        serde_json::to_value(metric.unit)
            .ok()?
            .as_str()
            .map(String::from)
    };
    let better = |metric: &Metric| {
        if metric.lower_is_better {
            "lower"
        } else {
            "higher"
        }
    };
    [
        run.backend.clone(),
        run.device.clone(),
        row.scenario.name().to_string(),
        row.allocator.clone(),
        row.call.name().to_string(),
        row.case.clone(),
        whole(row.size),
        whole(row.fill),
        row.n.to_string(),
        row.pool_bytes.to_string(),
        metric.map_or_else(String::new, |metric| metric.name.clone()),
        metric.and_then(unit).unwrap_or_default(),
        metric.map_or("", better).to_string(),
        of(|metric| metric.value.median),
        of(|metric| metric.value.p10),
        of(|metric| metric.value.p90),
        or_empty(metric.and_then(|metric| row.ratio(metric))),
        floor(0),
        floor(1),
        floor(2),
        floor(3),
        row.right.to_string(),
        row.status.clone(),
        run.version.clone(),
    ]
}

/// A number without digits that nobody measured.
fn number_text(number: f64) -> String {
    let text = format!("{number:.6}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

fn line(text: &mut String, fields: &[String]) {
    for (at, field) in fields.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        match field.contains([',', '"', '\n', '\r']) {
            true => *text += &format!("\"{}\"", field.replace('"', "\"\"")),
            false => *text += field,
        }
    }
    text.push('\n');
}
