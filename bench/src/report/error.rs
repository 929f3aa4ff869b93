//! What can go wrong with files of results.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why results could not be read, written, drawn or compared.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file that cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file or folder that cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that does not hold the results of a run.
    #[error(
        "{} does not hold the results of a run: {problem}; give a results.json that `warpheap bench --out` wrote",
        path.display()
    )]
    NotResults {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// A line of a peers file that cannot be used.
    #[error("{file}, line {line}: {problem}")]
    Peers {
        /// The file.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        problem: String,
    },
    /// Two runs that say nothing about each other.
    #[error(
        "the runs cannot be compared: the earlier one has {what} {earlier}, this one {later}; measure both alike"
    )]
    NotComparable {
        /// What differs.
        what: &'static str,
        /// What the earlier run has.
        earlier: String,
        /// What the later run has.
        later: String,
    },
    /// Two runs without a cell that both measured.
    #[error(
        "the runs have no measurement in common: ask for the scenarios, sizes, lanes and allocators of the earlier one"
    )]
    NothingShared,
    /// A plot that could not be drawn.
    #[error("cannot draw {scenario}: {problem}")]
    Draw {
        /// The scenario.
        scenario: &'static str,
        /// Why.
        problem: String,
    },
}

impl ReportError {
    /// Whether the user has to give another file, rather than the machine having failed.
    pub fn is_input(&self) -> bool {
        !matches!(self, ReportError::Write { .. } | ReportError::Draw { .. })
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| ReportError::Write { path, source }
    }

    pub(super) fn read(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| ReportError::Read { path, source }
    }
}

/// What is wrong with a file, as it can be shown: it may hold words of the file, and these control characters.
pub(super) fn shown(problem: &str) -> String {
    let mut shown = String::with_capacity(problem.len());
    for char in problem.chars() {
        match char.is_control() {
            true => shown.extend(char.escape_default()),
            false => shown.push(char),
        }
    }
    shown
}
