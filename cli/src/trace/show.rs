//! `warpheap trace show`: a trace as tables.

use super::{ShowArgs, perfetto};
use crate::error::CliError;
use crate::{size, text};
use std::time::Duration;
use warpheap_jobs::trace::file;
use warpheap_jobs::trace::summary::{Row, Summary};

/// Shows a trace, or writes its time line.
///
/// # Errors
/// A file that is no trace, one that cannot be written.
pub fn run(args: &ShowArgs) -> Result<String, CliError> {
    crate::plot::check(args.perfetto.as_deref())?;
    let trace = file::read(&args.file)?;
    if let Some(path) = &args.perfetto {
        let line = text::json(&perfetto::time_line(&trace))?;
        std::fs::write(path, line)
            .map_err(|error| CliError::Run(format!("cannot write {}: {error}", path.display())))?;
        return Ok(format!(
            "{} written: open it at https://ui.perfetto.dev\n",
            path.display()
        ));
    }
    let summary = Summary::new(&trace);
    match args.json {
        true => text::json(&summary),
        false => Ok(tables(&summary)),
    }
}

/// A trace as two tables.
fn tables(summary: &Summary) -> String {
    let mut text = format!(
        "{}: {} events of {} kernel(s)",
        summary.allocator,
        text::grouped(summary.events),
        summary.kernels.len()
    );
    if summary.lost > 0 {
        text += &format!(
            ", {} more were lost: counts are too low, and blocks whose free was lost seem live",
            text::grouped(summary.lost)
        );
    }
    text += "\n\n";
    let clock = summary.clock;
    let kernels = summary
        .kernels
        .iter()
        .map(|(name, row)| (name.clone(), row));
    text += &table("kernel", kernels, &summary.all, clock);
    text.push('\n');
    let sizes = summary
        .sizes
        .iter()
        .map(|(bytes, row)| (format!("up to {}", size::display(*bytes)), row));
    text + &table("size", sizes, &summary.all, clock)
}

fn table<'a>(
    what: &str,
    rows: impl Iterator<Item = (String, &'a Row)>,
    all: &'a Row,
    clock: bool,
) -> String {
    // Without a clock a block lives for so many events.
    let lifetime = match clock {
        true => "mean life",
        false => "mean life in events",
    };
    let head = [
        what, "mallocs", "frees", "resizes", "failures", "bytes", "live", "peak", lifetime,
    ];
    let mut lines = vec![head.map(String::from).to_vec()];
    for (name, row) in rows.chain([("all".to_owned(), all)]) {
        let life = match row.mean_lifetime() {
            None => "-".to_owned(),
            Some(nanoseconds) if clock => text::time(Duration::from_nanos(nanoseconds)),
            Some(events) => text::grouped(events),
        };
        lines.push(vec![
            name,
            text::grouped(row.mallocs),
            text::grouped(row.frees),
            text::grouped(row.resizes),
            text::grouped(row.failures),
            size::display(row.bytes),
            size::display(row.live_bytes),
            size::display(row.peak_bytes),
            life,
        ]);
    }
    text::table(&lines)
}
