//! The results as data: rows, JSON, CSV.

use crate::BenchError;
use crate::lab::Floors;
use crate::plan::{Plan, Scenario};
use crate::stats::Spread;
use serde::Serialize;
use std::fmt::Write;
use std::path::Path;
use warpheap_api::host::DeviceInfo;

/// One cell of a scenario with one allocator. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The scenario.
    pub scenario: Scenario,
    /// The allocator.
    pub allocator: &'static str,
    /// `lane` if lanes called by themselves, `warp` if those of a warp called together.
    pub call: &'static str,
    /// Bytes of each request.
    pub size: u32,
    /// Number of lanes, each with one request.
    pub n: u32,
    /// The floors at this number of lanes.
    #[serde(flatten)]
    pub floors: Floors,
    /// Time of the malloc kernel, unless something failed.
    pub malloc: Option<Spread>,
    /// Time of the free kernel, for allocators that free.
    pub free: Option<Spread>,
    /// Whether what was handed out was right.
    pub right: bool,
    /// `ok`, or what failed.
    pub status: String,
}

impl Row {
    /// A time of this row over that of the kernel that stores one word per lane.
    pub fn ratio(&self, time: Option<Spread>) -> Option<f64> {
        let store = self.floors.store.median;
        time.filter(|_| store > 0.0).map(|time| time.median / store)
    }
}

/// All results of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Name of the backend.
    pub backend: &'static str,
    /// Name of the device.
    pub device: String,
    /// Its driver.
    pub driver: String,
    /// Lanes of a warp.
    pub warp_width: u32,
    /// Bytes of the pool.
    pub pool_bytes: u64,
    /// Timed repeats of each measurement.
    pub repeats: u32,
    /// The rows.
    pub rows: Vec<Row>,
}

impl Report {
    /// A report without rows.
    pub fn new(device: &DeviceInfo, plan: &Plan) -> Self {
        Report {
            backend: device.backend.name(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            warp_width: device.warp_width,
            pool_bytes: plan.pool,
            repeats: plan.repeats,
            rows: Vec::new(),
        }
    }

    /// Whether everything that was handed out was right.
    pub fn is_right(&self) -> bool {
        self.rows.iter().all(|row| row.right)
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        // Only maps with odd keys and failing writers make errors; here are neither.
        text.unwrap_or_default() + "\n"
    }

    /// The report as CSV, one line per row under a line of names; times in milliseconds.
    pub fn csv(&self) -> String {
        let mut text =
            String::from("backend,device,scenario,allocator,call,size,n,empty_ms,store_ms");
        for kernel in ["malloc", "free"] {
            let _ = write!(text, ",{kernel}_ms,{kernel}_p10_ms,{kernel}_p90_ms");
        }
        text.push_str(",status\n");
        for row in &self.rows {
            let _ = write!(
                text,
                "{},{},{},{},{},{},{},{:.6},{:.6}",
                self.backend,
                quoted(&self.device),
                row.scenario.name(),
                row.allocator,
                row.call,
                row.size,
                row.n,
                row.floors.empty.median,
                row.floors.store.median
            );
            for time in [row.malloc, row.free] {
                let _ = match time {
                    Some(t) => write!(text, ",{:.6},{:.6},{:.6}", t.median, t.p10, t.p90),
                    None => write!(text, ",,,"),
                };
            }
            let _ = writeln!(text, ",{}", quoted(&row.status));
        }
        text
    }

    /// Writes the files that were asked for.
    ///
    /// # Errors
    /// [`BenchError::Write`].
    pub fn write(&self, json: Option<&Path>, csv: Option<&Path>) -> Result<(), BenchError> {
        let write = |path: &Path, text: String| {
            std::fs::write(path, text).map_err(|source| BenchError::Write {
                path: path.to_path_buf(),
                source,
            })
        };
        if let Some(path) = json {
            write(path, self.json())?;
        }
        if let Some(path) = csv {
            write(path, self.csv())?;
        }
        Ok(())
    }
}

/// A field of a CSV file: in quotes where commas, quotes or line ends are in it.
fn quoted(field: &str) -> String {
    match field.contains([',', '"', '\n']) {
        true => format!("\"{}\"", field.replace('"', "\"\"")),
        false => field.to_string(),
    }
}
