//! The results of a run for people and programs: files, tables, plots, comparisons.
//!
//! | module | answers |
//! |---|---|
//! | [`table`] | what a terminal shows |
//! | [`json`], [`csv`] | the files for programs |
//! | [`chart`] | what is drawn: panels of lines |
//! | [`svg`], `scale`, `labels` | how it is drawn |
//! | [`html`] | the page with everything on it |
//! | [`compare`] | what became slower since an earlier run |
//! | [`peers`] | what other allocators reach |
//! | [`text`] | how numbers are written |

pub mod chart;
pub mod compare;
pub mod csv;
mod error;
pub mod html;
pub mod json;
mod labels;
pub mod peers;
mod scale;
pub mod svg;
pub mod table;
pub mod text;

pub use error::ReportError;

use crate::run::Run;
use crate::scenario::Scenario;
use compare::Comparison;
use peers::Peers;
use std::path::{Path, PathBuf};

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The results.
    pub run: &'a Run,
    /// What lies under them.
    pub peers: &'a Peers,
    /// How they stand to an earlier run's.
    pub comparison: Option<&'a Comparison>,
    /// The command that measured them.
    pub command: &'a str,
}

impl Report<'_> {
    /// Writes `results.json`, `results.csv`, a plot `S1.svg` and so on for each scenario, and
    /// `report.html` into a folder, which is made if need be; returns the files.
    ///
    /// # Errors
    /// [`ReportError::Write`], [`ReportError::Draw`].
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, ReportError> {
        std::fs::create_dir_all(folder).map_err(ReportError::write(folder))?;
        let plots = self.plots()?;
        let mut files = vec![
            ("results.json".to_string(), json::text(self.run)),
            ("results.csv".to_string(), csv::text(self.run)),
        ];
        for (scenario, svg) in &plots {
            files.push((format!("{}.svg", scenario.name()), svg.clone()));
        }
        files.push(("report.html".to_string(), html::page(self, &plots)));
        let mut written = Vec::new();
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(ReportError::write(&path))?;
            written.push(path);
        }
        Ok(written)
    }

    /// The plots of the scenarios that have something to draw.
    ///
    /// # Errors
    /// [`ReportError::Draw`].
    pub fn plots(&self) -> Result<Vec<(Scenario, String)>, ReportError> {
        let names = chart::names(self.run);
        let mut plots = Vec::new();
        for scenario in Scenario::ALL {
            let panels = chart::panels(self.run, self.peers, scenario);
            if !panels.is_empty() {
                plots.push((scenario, svg::svg(scenario, &names, &panels)?));
            }
        }
        Ok(plots)
    }
}
