//! The times of the probe as an SVG: a bar for each allocator.

use super::show::title;
use crate::error::CliError;
use crate::plot::{self, Bar};
use crate::text::time;
use std::path::Path;
use warpheap_jobs::join::report::{Report, Run};

/// Draws the report into a file.
///
/// # Errors
/// As [`plot::bars`].
pub fn write(path: &Path, report: &Report) -> Result<(), CliError> {
    let device = &report.device;
    let about = format!(
        "{}; {}: {}",
        title(&report.join),
        device.backend,
        device.name
    );
    let bars: Vec<Bar> = report.runs.iter().map(bar).collect();
    plot::bars(path, "Probe of a hash join", &about, &bars)
}

fn bar(run: &Run) -> Bar {
    let probe = run.phases.of_probe();
    Bar {
        name: run.allocator.to_owned(),
        value: probe.as_secs_f64(),
        label: time(probe),
    }
}

#[cfg(test)]
mod tests {
    use super::super::show::tests::report;

    #[test]
    fn a_bar_is_as_long_as_the_probe() {
        let bar = super::bar(&report().runs[0]);
        assert_eq!((&bar.name[..], &bar.label[..]), ("Bump", "100 µs"));
        assert!((bar.value - 1e-4).abs() < 1e-9, "{bar:?}");
    }
}
