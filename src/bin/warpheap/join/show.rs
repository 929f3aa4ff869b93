//! A report for people: what was joined, and a table with a row for each allocator.

use super::report::{JoinReport, Report, Run, Source};
use crate::size;
use crate::text::{grouped, table, time};

impl Report {
    /// The report for people.
    pub fn text(&self) -> String {
        let device = &self.device;
        let mut text = format!(
            "device    {}: {} ({}), warps of {}\n",
            device.backend, device.name, device.driver, device.warp_width
        );
        text += &self.join.text();
        let head = [
            "allocator",
            "pool",
            "pages",
            "utilisation",
            "partition",
            "build",
            "probe",
            "on the device",
            "free",
            "Mtuples/s",
            "check",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(self.runs.iter().map(row));
        text += &format!("\n{}", table(&rows));
        text
    }
}

impl JoinReport {
    /// What the report or its plot is about, in a line.
    pub fn title(&self) -> String {
        format!(
            "{} x {} rows, {} matches, pages of {} bytes",
            grouped(self.rows_left.into()),
            grouped(self.rows_right.into()),
            grouped(self.matches),
            self.page_bytes
        )
    }

    fn text(&self) -> String {
        let source = match &self.source {
            Source::Files { left, right } => format!("{left} and {right}"),
            Source::Generated {
                matches,
                skew_percent,
                seed,
            } => format!(
                "generated, {matches} matches for each right row, {skew_percent} % with one key, seed {seed}"
            ),
        };
        format!(
            "tables    {source}\njoin      {}\nlayout    {} partitions, {} buckets, {} lanes probe\n",
            self.title(),
            grouped(self.partitions),
            grouped(self.buckets),
            grouped(self.lanes.into())
        )
    }
}

fn row(run: &Run) -> Vec<String> {
    let phases = &run.phases;
    vec![
        run.allocator.to_owned(),
        size::display(run.pool_bytes),
        grouped(run.pages),
        format!("{:.1} %", run.utilisation * 100.0),
        time(phases.partition),
        time(phases.build),
        time(phases.probe),
        time(phases.probe_device),
        time(phases.free),
        format!("{:.1}", run.probe_mtuples_per_s),
        "ok".to_owned(),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;

    #[test]
    fn every_run_is_a_row() {
        let text = report().text();
        for part in [
            "generated, 3 matches",
            "100 x 200 rows, 600 matches",
            "128 bytes",
        ] {
            assert!(text.contains(part), "no `{part}` in: {text}");
        }
        for (name, rate) in [("Bump", "2.0"), ("WarpHeap", "1.0")] {
            let row = text.lines().find(|line| line.starts_with(name));
            let row = row.unwrap_or_default();
            assert!(row.contains("75.0 %") && row.contains(rate), "{text}");
        }
    }
}
