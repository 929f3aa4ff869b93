//! A report for people: a list for one run, a table for several, the most frequent k-mers below.

use super::report::{Report, Run, Source};
use crate::allocators::LeftOut;
use crate::size;
use crate::text::{grouped, percent, table, time};
use std::fmt::Write;

impl Report {
    /// The report for people.
    pub fn text(&self) -> String {
        let mut text = self.head();
        match &self.runs[..] {
            [run] => text += &run.text(),
            runs => text += &runs_table(runs),
        }
        text += &LeftOut::text(&self.left_out);
        if !self.top.is_empty() {
            // The checks made sure that all runs have the same.
            let mut rows = vec![["k-mer", "count"].map(String::from).to_vec()];
            let row = |top: &super::report::Top| vec![top.kmer.clone(), grouped(top.count.into())];
            rows.extend(self.top.iter().map(row));
            text += &format!("\n{}", table(&rows));
        }
        text
    }

    fn head(&self) -> String {
        let input = &self.input;
        let source = match &input.source {
            Source::File { file } => file.clone(),
            Source::Reads { seed } => format!("reads of a random genome, seed {seed}"),
        };
        let strands = if self.canonical {
            ", both strands as one"
        } else {
            ""
        };
        let once = self.spectrum.first().filter(|first| first.count == 1);
        format!(
            "{}\
             input     {source}: {} sequences, {} bases, {} unknown letters\n\
             k-mers    {} of {} bases{strands}, {} different ones, {} of them once\n",
            self.device.text(),
            grouped(input.records.into()),
            grouped(input.bases.into()),
            grouped(input.unknown),
            grouped(self.total),
            self.k,
            grouped(self.distinct),
            grouped(once.map_or(0, |first| first.kmers)),
        )
    }
}

impl Run {
    fn text(&self) -> String {
        let phases = &self.phases;
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<10}{value}");
        };
        line("allocator", self.allocator.to_owned());
        line("pool", size::display(self.pool_bytes));
        let blocks = size::display(self.bytes_blocks);
        let entries = size::display(self.bytes_entries);
        line("map", format!("{blocks} for {entries} of keys and counts"));
        let used = size::display(self.bytes_used);
        let share = percent(self.utilisation);
        line("used", format!("{used} (utilisation {share})"));
        line("upload", time(phases.upload));
        line(
            "count",
            format!(
                "{} ({} on the device), {} batches, {:.1} Mkmers/s",
                time(phases.count),
                time(phases.count_device),
                grouped(self.batches.into()),
                self.mkmers_per_s
            ),
        );
        line("read", time(phases.read));
        line("free", time(phases.free));
        line(
            "check",
            format!("{}, as the CPU counts", time(phases.check)),
        );
        text
    }
}

fn runs_table(runs: &[Run]) -> String {
    let head = [
        "allocator",
        "pool",
        "map",
        "used",
        "utilisation",
        "count",
        "Mkmers/s",
        "read",
        "free",
        "check",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for run in runs {
        rows.push(vec![
            run.allocator.to_owned(),
            size::display(run.pool_bytes),
            size::display(run.bytes_blocks),
            size::display(run.bytes_used),
            percent(run.utilisation),
            time(run.phases.count),
            format!("{:.1}", run.mkmers_per_s),
            time(run.phases.read),
            time(run.phases.free),
            "ok".to_owned(),
        ]);
    }
    format!("\n{}", table(&rows))
}

#[cfg(test)]
mod tests {
    use super::super::report::tests::report;

    #[test]
    fn text_shows_a_list_or_a_table() {
        let one = report(1).text();
        assert!(one.contains("utilisation 50.0 %"), "{one}");
        assert!(
            one.contains("k-mer  count\n------------\nACG    1,234\n"),
            "{one}"
        );
        let two = report(2).text();
        let rows = two.lines().filter(|line| line.starts_with("Bump"));
        assert_eq!(rows.filter(|row| row.contains("12.5")).count(), 2, "{two}");
    }
}
