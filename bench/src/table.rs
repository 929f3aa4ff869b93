//! The results for people: a table with aligned columns. Times are in microseconds, with the 10th and
//! 90th percentile, and over the time of the kernel that stores one word per lane.

use crate::report::Row;
use crate::stats::Spread;
use std::fmt::Write;

/// Names of the columns; those of numbers are flush right.
const COLUMNS: [(&str, bool); 11] = [
    ("scenario", false),
    ("allocator", false),
    ("call", false),
    ("size", true),
    ("n", true),
    ("store us", true),
    ("malloc us", true),
    ("/store", true),
    ("free us", true),
    ("/store", true),
    ("status", false),
];

/// The table of `rows`, its head included.
pub fn table(rows: &[Row]) -> String {
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(at, (name, _))| {
            let widest = cells.iter().map(|row| row[at].chars().count()).max();
            widest.unwrap_or(0).max(name.len())
        })
        .collect();
    let mut text = String::new();
    let names = COLUMNS.map(|(name, _)| name.to_string());
    for row in std::iter::once(&names).chain(&cells) {
        let mut line = String::new();
        for ((cell, &width), (_, right)) in row.iter().zip(&widths).zip(COLUMNS) {
            let _ = match right {
                true => write!(line, "{cell:>width$}  "),
                false => write!(line, "{cell:<width$}  "),
            };
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn cells(row: &Row) -> [String; COLUMNS.len()] {
    let none = || "-".to_string();
    let time = |time: Option<Spread>| {
        time.map_or_else(none, |t| {
            let [median, low, high] = [t.median, t.p10, t.p90].map(micros);
            format!("{median} ({low}..{high})")
        })
    };
    let ratio = |time| row.ratio(time).map_or_else(none, |r| format!("{r:.2}"));
    [
        row.scenario.name().to_string(),
        row.allocator.to_string(),
        row.call.to_string(),
        row.size.to_string(),
        row.n.to_string(),
        micros(row.floors.store.median),
        time(row.malloc),
        ratio(row.malloc),
        time(row.free),
        ratio(row.free),
        row.status.clone(),
    ]
}

/// Milliseconds as microseconds, with as many digits as the clock of a GPU is worth.
fn micros(millis: f64) -> String {
    let micros = millis * 1e3;
    match micros < 100.0 {
        true => format!("{micros:.1}"),
        false => format!("{micros:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::Floors;
    use crate::plan::Scenario;

    #[test]
    fn columns_are_aligned_and_what_is_not_known_is_a_dash() {
        let spread = |median: f64| Spread {
            median,
            p10: median / 2.0,
            p90: median * 2.0,
        };
        let row = Row {
            scenario: Scenario::S1,
            allocator: "Bump",
            call: "lane",
            size: 16,
            n: 1 << 20,
            floors: Floors {
                empty: spread(0.003),
                store: spread(0.0056),
            },
            malloc: Some(spread(0.028)),
            free: None,
            right: true,
            status: "ok".into(),
        };
        let longer = Row {
            allocator: "ScatterAlloc",
            malloc: Some(spread(1.5)),
            ..row.clone()
        };
        let text = table(&[row, longer]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(
            lines[1].contains("28.0 (14.0..56.0)    5.00        -       -  ok"),
            "{text}"
        );
        assert!(lines[2].contains("1500 (750..3000)  267.86"), "{text}");
        let status = lines[0].find("status").unwrap();
        assert!(
            lines[1..].iter().all(|line| &line[status..] == "ok"),
            "{text}"
        );
    }
}
