//! A report for people: a list for one run, a table for several, the top vertices below.

use super::report::{GraphReport, Report, Run, Source, Top};
use crate::allocators::LeftOut;
use crate::size;
use crate::text::{grouped, percent, table, time};
use std::fmt::{self, Write};
use std::time::Duration;

impl Report {
    /// The report for people: a list for one run, a table for several.
    pub fn text(&self) -> String {
        let mut text = self.device.text() + &self.graph.line();
        match &self.runs[..] {
            [run] => text += &run.text(self.graph.edges),
            runs => text += &self.runs_table(runs),
        }
        text += &LeftOut::text(&self.left_out);
        // The checks made sure that all runs have the same ranks.
        if let Some(run) = self.runs.first() {
            text += &format!("\n{}", top_table(&run.top));
        }
        text
    }

    fn runs_table(&self, runs: &[Run]) -> String {
        let head = [
            "allocator",
            "pool",
            "mallocs",
            "frees",
            "live",
            "used",
            "utilisation",
            "insert",
            "rank",
            "free",
            "edges/s",
            "check",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        for run in runs {
            rows.push(vec![
                run.allocator.to_owned(),
                size::display(run.pool_bytes),
                grouped(run.mallocs),
                grouped(run.frees),
                size::display(run.bytes_live),
                size::display(run.bytes_used),
                percent(run.utilisation),
                time(run.phases.insert),
                time(run.phases.rank),
                time(run.phases.free),
                rate(self.graph.edges, run.phases.insert),
                "ok".to_owned(),
            ]);
        }
        format!("\n{}", table(&rows))
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, size, edge_factor) = match self {
            Source::File { file } => return f.write_str(file),
            Source::Rmat { size, edge_factor } => ("R-MAT", size, Some(edge_factor)),
            Source::Grid { size } => ("grid", size, None),
            Source::Mesh { size } => ("mesh", size, None),
            Source::Hub { size, edge_factor } => ("hub", size, Some(edge_factor)),
        };
        write!(f, "{kind}, scale {}", size.scale)?;
        if let Some(edge_factor) = edge_factor {
            write!(f, ", edge factor {edge_factor}")?;
        }
        write!(f, ", seed {}", size.seed)
    }
}

impl GraphReport {
    /// The line that says which graph it is.
    pub fn line(&self) -> String {
        format!(
            "graph     {}: {} vertices, {} edges, at most {} into one vertex\n",
            self.source,
            grouped(self.vertices.into()),
            grouped(self.edges),
            grouped(self.largest_in_degree.into()),
        )
    }
}

impl Run {
    fn text(&self, edges: u64) -> String {
        let phases = &self.phases;
        let on_device = |device: Duration| format!(" ({} on the device)", time(device));
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<10}{value}");
        };
        line("allocator", self.allocator.to_owned());
        line("pool", size::display(self.pool_bytes));
        for step in &self.steps {
            let to = size::display(step.pool_bytes);
            line("grown", format!("to {to} in {}", time(step.time)));
        }
        line("mallocs", grouped(self.mallocs));
        line("frees", grouped(self.frees));
        line("live", size::display(self.bytes_live));
        line(
            "used",
            format!(
                "{} (utilisation {})",
                size::display(self.bytes_used),
                percent(self.utilisation)
            ),
        );
        line("prepare", time(phases.prepare));
        line("upload", time(phases.upload));
        line(
            "insert",
            format!(
                "{}{}, {} batches, {} edges/s",
                time(phases.insert),
                on_device(phases.insert_device),
                grouped(self.batches.into()),
                rate(edges, phases.insert)
            ),
        );
        line(
            "rank",
            format!(
                "{}{}, {} iterations",
                time(phases.rank),
                on_device(phases.rank_device),
                self.iterations
            ),
        );
        line("collect", time(phases.collect));
        line(
            "free",
            format!("{}{}", time(phases.free), on_device(phases.free_device)),
        );
        line(
            "check",
            format!(
                "{}, neighbours equal, ranks within {:.1e} of the reference",
                time(phases.check),
                self.rank_error
            ),
        );
        text
    }
}

fn top_table(top: &[Top]) -> String {
    let mut rows = vec![["vertex", "rank", "in-degree"].map(String::from).to_vec()];
    for top in top {
        rows.push(vec![
            top.vertex.to_string(),
            format!("{:.6e}", top.rank),
            grouped(top.in_degree.into()),
        ]);
    }
    table(&rows)
}

fn rate(count: u64, time: Duration) -> String {
    let per_second = count as f64 / time.as_secs_f64().max(1e-9);
    for (limit, unit) in [(1e9, "G"), (1e6, "M"), (1e3, "k")] {
        if per_second >= limit {
            return format!("{:.1} {unit}", per_second / limit);
        }
    }
    format!("{per_second:.0}")
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;

    #[test]
    fn text_shows_a_list_or_a_table() {
        let one = report(1).text();
        assert!(one.contains("mallocs   12,345\n"), "{one}");
        assert!(one.contains("vertex         rank  in-degree\n"), "{one}");
        let two = report(2).text();
        let rows: Vec<&str> = two
            .lines()
            .filter(|line| line.starts_with("Bump"))
            .collect();
        assert_eq!(rows.len(), 2, "{two}");
        assert!(
            rows[0].contains("12,345") && rows[0].contains("50.0 %"),
            "{two}"
        );
    }
}
