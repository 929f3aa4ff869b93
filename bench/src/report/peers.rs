//! What other allocators reach: figures to lay under those of a run.
//!
//! A peers file is CSV: lines that begin with `#` are comments, then a line of names, then a line for
//! each allocator and cell. Columns, in this order: `allocator`, `scenario`, `case` (a size, or what
//! [`Row::case`] says), `n`, `malloc_ms`, `free_ms`, `total_ms`, `utilisation`, `range_ratio` (each may
//! be empty), `status`.

use super::error::{ReportError, shown};
use crate::row::{Metric, Row, Unit};
use crate::scenario::Scenario;
use clap::ValueEnum;
use csv::{ErrorKind, Position, Reader, ReaderBuilder, StringRecord, Trim};
use std::collections::HashMap;
use std::path::Path;

/// What the published allocators for CUDA reach on an H200.
const H200: &str = include_str!("../../peers/h200.csv");

/// The columns of figures, with the metric that each is about.
const FIGURES: [(&str, &str); 5] = [
    ("malloc_ms", Metric::MALLOC),
    ("free_ms", Metric::FREE),
    ("total_ms", Metric::TOTAL),
    ("utilisation", Metric::UTILISATION),
    ("range_ratio", Metric::RANGE),
];

/// The columns before the figures.
const CELL: [&str; 4] = ["allocator", "scenario", "case", "n"];

/// One allocator in one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// The allocator.
    pub allocator: String,
    /// The scenario.
    pub scenario: Scenario,
    /// What varies within the scenario.
    pub case: String,
    /// Number of lanes.
    pub n: u32,
    /// What was measured: the metric's name and its value.
    pub figures: Vec<(&'static str, f64)>,
    /// `ok`, or how it ended.
    pub status: String,
}

/// A file of figures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Peers {
    /// Its comment: where the figures come from.
    pub origin: String,
    /// Its lines.
    pub peers: Vec<Peer>,
}

impl Peers {
    /// The figures that the library has for devices of this name; none for most.
    ///
    /// # Errors
    /// [`ReportError::Peers`] if the library were built with a file that cannot be read.
    pub fn built_in(backend: &str, device: &str) -> Result<Self, ReportError> {
        match backend != "host" && device.contains("H200") {
            true => Self::parse("the built-in figures of an H200", H200),
            false => Ok(Peers::default()),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`ReportError::Read`], [`ReportError::Peers`].
    pub fn read(path: &Path) -> Result<Self, ReportError> {
        let text = std::fs::read_to_string(path).map_err(ReportError::read(path))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// Reads the text of a file that is called `file`.
    ///
    /// # Errors
    /// [`ReportError::Peers`], with the first line that cannot be used.
    pub fn parse(file: &str, text: &str) -> Result<Self, ReportError> {
        let bad = |(at, problem): (Option<Position>, String)| ReportError::Peers {
            file: file.to_string(),
            line: at.map_or(1, |at| line_of(text, &at)),
            problem: shown(&problem),
        };
        let comments = text.lines().map_while(|line| line.strip_prefix('#'));
        let origin: Vec<&str> = comments.map(str::trim).collect();
        let mut reader = ReaderBuilder::new()
            .comment(Some(b'#'))
            .trim(Trim::All)
            .from_reader(text.as_bytes());
        check_head(&mut reader).map_err(bad)?;
        let mut seen = HashMap::new();
        let mut peers = Vec::new();
        for record in reader.records() {
            let record = record.map_err(|error| bad(broken(&error)))?;
            let at = record.position().cloned();
            let peer = peer(&record).map_err(|problem| bad((at.clone(), problem)))?;
            let cell = (
                peer.allocator.clone(),
                peer.scenario,
                plain(&peer.case),
                peer.n,
            );
            if let Some(Some(first)) = seen.insert(cell, at.clone()) {
                let first = line_of(text, &first);
                let problem = format!("the same allocator and cell as line {first}");
                return Err(bad((at, problem)));
            }
            peers.push(peer);
        }
        Ok(Peers {
            origin: origin.join("\n"),
            peers,
        })
    }

    /// Every figure for this metric of this row's cell, with the peer it is of.
    pub fn beside<'a>(
        &'a self,
        row: &'a Row,
        metric: &'a Metric,
    ) -> impl Iterator<Item = (&'a Peer, f64)> {
        let peers = self.peers.iter().filter(|peer| peer.is_about(row));
        peers.filter_map(|peer| Some((peer, peer.figure(metric)?)))
    }

    /// The best of the peers that handed out right memory, and its figure. Those that free nothing are
    /// floors and no peers of an allocator that does.
    pub fn best<'a>(&'a self, row: &'a Row, metric: &'a Metric) -> Option<(&'a Peer, f64)> {
        let able = self
            .beside(row, metric)
            .filter(|(peer, _)| peer.counts() && peer.frees());
        match metric.lower_is_better {
            true => able.min_by(|a, b| a.1.total_cmp(&b.1)),
            false => able.max_by(|a, b| a.1.total_cmp(&b.1)),
        }
    }
}

impl Peer {
    /// Whether its memory was right and every request served, up to where the figure was taken.
    pub fn counts(&self) -> bool {
        !matches!(self.status.as_str(), "overlap" | "nulls")
    }

    /// Whether it frees, as far as this line tells.
    fn frees(&self) -> bool {
        let has = |name| self.figures.iter().any(|(of, _)| *of == name);
        has(Metric::FREE) || !has(Metric::MALLOC)
    }

    /// Whether it was measured in the cell of `row`.
    pub fn is_about(&self, row: &Row) -> bool {
        let same_case = || match (row.size, self.case.parse::<u32>()) {
            (Some(size), Ok(case)) => size == case,
            _ => plain(&row.case) == plain(&self.case),
        };
        // The number of lanes that fill a pool is not what is measured there.
        let same_n = row.scenario == Scenario::S6 || row.n == self.n;
        self.scenario == row.scenario && same_n && same_case()
    }

    /// Its figure for `metric`, in the unit of that.
    pub fn figure(&self, metric: &Metric) -> Option<f64> {
        let (_, value) = self.figures.iter().find(|(name, _)| *name == metric.name)?;
        match metric.unit {
            Unit::Percent => Some(100.0 * value),
            _ => Some(*value),
        }
    }
}

/// Whether the names of the columns are as they have to be.
fn check_head(reader: &mut Reader<&[u8]>) -> Result<(), (Option<Position>, String)> {
    let head = reader.headers().map_err(|error| broken(&error))?.clone();
    let figures = FIGURES.iter().map(|(name, _)| *name);
    let want: Vec<_> = CELL.into_iter().chain(figures).chain(["status"]).collect();
    match head.iter().eq(want.iter().copied()) {
        true => Ok(()),
        false => Err((
            head.position().cloned(),
            format!("the columns have to be {}", want.join(",")),
        )),
    }
}

/// One line.
fn peer(record: &StringRecord) -> Result<Peer, String> {
    let field = |at: usize| record.get(at).unwrap_or_default();
    for (at, name) in [(0, "allocator"), (2, "case"), (9, "status")] {
        if field(at).is_empty() {
            return Err(format!("`{name}` is empty"));
        }
    }
    let scenario = Scenario::from_str(field(1), true)
        .map_err(|_| format!("no scenario is called `{}`", field(1)))?;
    let n = match field(3).parse() {
        Ok(n) if n > 0 => n,
        _ => return Err(format!("`{}` is no number of lanes", field(3))),
    };
    let mut figures = Vec::new();
    for (at, (name, metric)) in FIGURES.iter().enumerate() {
        let text = field(CELL.len() + at);
        if text.is_empty() {
            continue;
        }
        match text.parse::<f64>() {
            Ok(value) if value.is_finite() && value >= 0.0 => figures.push((*metric, value)),
            _ => return Err(format!("`{text}` is no figure for {name}")),
        }
    }
    if figures.is_empty() && field(9) == "ok" {
        return Err("the status is `ok`, but there is no figure".into());
    }
    Ok(Peer {
        allocator: field(0).to_string(),
        scenario,
        case: field(2).to_string(),
        n,
        figures,
        status: field(9).to_string(),
    })
}

/// The place and the problem of an error of the CSV reader.
fn broken(error: &csv::Error) -> (Option<Position>, String) {
    let problem = match error.kind() {
        ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => format!("{len} fields where there are {expected_len} columns"),
        _ => error.to_string(),
    };
    (error.position().cloned(), problem)
}

/// The line of a record, from 1. The CSV reader says where the comments before it begin.
fn line_of(text: &str, at: &Position) -> u64 {
    let rest = usize::try_from(at.byte())
        .ok()
        .and_then(|byte| text.get(byte..));
    let lines = rest.unwrap_or_default().lines();
    let passed = lines.take_while(|line| line.starts_with('#') || line.is_empty());
    at.line() + passed.count() as u64
}

/// A case without what may be written in one way or another: `pow2-16..64` is `pow2 16..64`.
fn plain(case: &str) -> String {
    let words = case.split(|c: char| !c.is_ascii_alphanumeric());
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").to_ascii_lowercase()
}
