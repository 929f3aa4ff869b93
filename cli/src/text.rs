//! How numbers, times and tables are written for people.

use crate::error::CliError;
use serde::Serialize;
use std::time::Duration;

/// A value as JSON, for programs.
///
/// # Errors
/// [`CliError::Write`] for what JSON cannot hold.
pub fn json(value: &impl Serialize) -> Result<String, CliError> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    Ok(text + "\n")
}

/// A number with its digits in groups of three: `16,777,216`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration with a unit that fits: `1.234 s`, `12.3 ms`, `45 µs`.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{seconds:.2} s")
    } else if seconds >= 1e-3 {
        format!("{:.1} ms", seconds * 1e3)
    } else {
        format!("{:.0} µs", seconds * 1e6)
    }
}

/// A share as percents: `12.5 %`.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Rows of cells in columns as wide as needed: the first column to the left, the others to the right.
///
/// The first row is the head and gets a rule under it.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
            if column == 0 {
                line += &format!("{cell:<width$}");
            } else {
                line += &format!("  {cell:>width$}");
            }
        }
        text += line.trim_end();
        text.push('\n');
        if number == 0 {
            text += &"-".repeat(widths.iter().sum::<usize>() + 2 * columns.saturating_sub(1));
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The names of a JSON object's fields.
    pub fn keys(value: &serde_json::Value) -> Vec<String> {
        let fields = value.as_object();
        fields.map_or_else(Vec::new, |fields| fields.keys().cloned().collect())
    }

    #[test]
    fn groups_digits() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1000), "1,000");
        assert_eq!(grouped(16_777_216), "16,777,216");
    }

    #[test]
    fn picks_a_unit_of_time() {
        assert_eq!(time(Duration::from_micros(45)), "45 µs");
        assert_eq!(time(Duration::from_micros(12_345)), "12.3 ms");
        assert_eq!(time(Duration::from_millis(1234)), "1.23 s");
    }

    #[test]
    fn lines_columns_up() {
        let rows = [["name", "size"], ["a", "1"], ["long µ", "1234567"]];
        let rows: Vec<Vec<String>> = rows.map(|row| row.map(String::from).to_vec()).to_vec();
        assert_eq!(
            table(&rows),
            "name       size\n---------------\na             1\nlong µ  1234567\n"
        );
    }
}
