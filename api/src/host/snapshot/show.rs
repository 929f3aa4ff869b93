//! A snapshot as text.

use super::{RegionUse, Snapshot, UseTotals};
use crate::host::naming::size;
use std::fmt;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Uses that a sentence names one by one.
const NAMED: usize = 4;

fn plural(count: u64, one: &str) -> String {
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {one}{s}")
}

impl Snapshot {
    /// Why a request may find nothing though memory is free, in one or two sentences: how much is free in one piece, and what
    /// ties the rest.
    pub fn reason(&self) -> String {
        let free = self.free_bytes();
        let Some(run) = self.largest_free_run() else {
            return format!(
                "{} does not tell where its {} of free memory lie.",
                self.stats.allocator,
                size(free)
            );
        };
        let uses = self.uses();
        let tied: u64 = uses
            .iter()
            .filter(|totals| totals.usage.has_class())
            .map(|totals| totals.bytes.saturating_sub(totals.used_bytes))
            .sum();
        let mut text = format!("Largest free run {} of {} free", size(run), size(free));
        if tied > 0 {
            text += &format!(
                "; {} of it can serve one size class each, inside the {}s of that class",
                size(tied),
                self.unit
            );
        }
        text.push('.');
        let pinned = self.pinned();
        if pinned.regions > 0 {
            let one = pinned.regions == 1;
            text += &format!(
                " {} {} pinned, less than an eighth in use: {} {} {} ({}).",
                plural(pinned.regions, self.unit),
                if one { "is" } else { "are" },
                plural(pinned.blocks, "block"),
                if pinned.blocks == 1 { "ties" } else { "tie" },
                size(pinned.bytes),
                where_pinned(&uses)
            );
        }
        text
    }

    /// A line for each use.
    fn rows(&self) -> Vec<[String; 9]> {
        let unit = format!("{}s", self.unit);
        let head = [
            "use",
            "block bytes",
            &unit,
            "bytes",
            "blocks",
            "bytes in use",
            "fill",
            "free places",
            "pinned",
        ];
        let mut rows: Vec<[String; 9]> = Vec::from([head.map(str::to_string)]);
        let known = |number: Option<u64>| number.map_or_else(|| "?".to_string(), |n| n.to_string());
        for totals in self.uses() {
            let classed = totals.usage.has_class();
            let blocks = classed || matches!(totals.usage, RegionUse::Run(_));
            let only = |is: bool, text: String| if is { text } else { String::new() };
            let percent = |share: f64| format!("{:.1} %", share * 100.0);
            // The sums of a class may tell what its parts do not.
            let fill = totals.fill().map_or_else(|| "?".to_string(), percent);
            rows.push([
                totals.usage.name().to_string(),
                totals
                    .usage
                    .block()
                    .map_or_else(String::new, |block| block.to_string()),
                only(totals.units > 0, totals.units.to_string()),
                totals.bytes.to_string(),
                only(blocks, known(totals.live_blocks)),
                only(blocks, totals.used_bytes.to_string()),
                only(classed, fill),
                only(classed, known(totals.free_places)),
                only(classed, totals.pinned.regions.to_string()),
            ]);
        }
        rows
    }
}

/// Where most of what is pinned lies: `64 B: 40, 128 B: 21`.
fn where_pinned(uses: &[UseTotals]) -> String {
    let mut uses: Vec<&UseTotals> = uses
        .iter()
        .filter(|totals| totals.pinned.regions > 0)
        .collect();
    uses.sort_by_key(|totals| core::cmp::Reverse(totals.pinned.bytes));
    let mut text = String::new();
    for totals in uses.iter().take(NAMED) {
        let of = match totals.usage {
            RegionUse::Slab(bytes) => format!("class {}", size(bytes)),
            other => other.name().to_string(),
        };
        let comma = if text.is_empty() { "" } else { ", " };
        text += &format!("{comma}{of}: {}", totals.pinned.regions);
    }
    if uses.len() > NAMED {
        text += ", …";
    }
    text
}

impl fmt::Display for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.stats)?;
        if self.unit_bytes > 0 {
            write!(f, ", {}s of {}", self.unit, size(self.unit_bytes))?;
        }
        let rows = self.rows();
        let mut widths = [0; 9];
        for row in &rows {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = (*width).max(cell.chars().count());
            }
        }
        for row in &rows {
            let mut line = format!("{:<width$}", row[0], width = widths[0]);
            for (cell, width) in row.iter().zip(widths).skip(1) {
                line += &format!("  {cell:>width$}");
            }
            write!(f, "\n{}", line.trim_end())?;
        }
        if let Some(bytes) = self.rounding_bytes() {
            write!(f, "\nRounding takes {} of what is in use.", size(bytes))?;
        }
        write!(f, "\n{}", self.reason())
    }
}
