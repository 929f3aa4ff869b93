//! `results.json`: a run as it is, to be read back.

use super::error::{ReportError, shown};
use crate::run::Run;
use std::path::Path;

/// The run as JSON.
pub fn text(run: &Run) -> String {
    // Only maps with odd keys and failing writers make errors; here are neither.
    serde_json::to_string_pretty(run).unwrap_or_default() + "\n"
}

/// Reads a file that [`text`] made.
///
/// # Errors
/// [`ReportError::Read`], [`ReportError::NotResults`].
pub fn read(path: &Path) -> Result<Run, ReportError> {
    let text = std::fs::read_to_string(path).map_err(ReportError::read(path))?;
    serde_json::from_str(&text).map_err(|error| ReportError::NotResults {
        path: path.to_path_buf(),
        problem: shown(&error.to_string()),
    })
}
