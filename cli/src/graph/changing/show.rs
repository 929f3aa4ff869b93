//! The report for people: a table, and a plot of the rounds.

use super::merge::Times;
use super::report::{Report, Run};
use crate::allocators::LeftOut;
use crate::error::CliError;
use crate::plot::{self, Line};
use crate::size;
use crate::text::{grouped, table, time};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

impl Report {
    /// The report for people.
    pub fn text(&self) -> String {
        let mut text = self.device.text() + &self.graph.line();
        if self.rounds > 0 {
            text += &self.changes();
        }
        // Writing to a String cannot fail.
        if let Some(triangles) = self.triangles {
            let _ = writeln!(text, "triangles {}", grouped(triangles));
        }
        text += "\ntime on the device, that of a round as a mean; in brackets that of mallocs and frees\n\n";
        text += &self.table();
        text += &LeftOut::text(&self.left_out);
        text
    }

    fn changes(&self) -> String {
        let of = |focus: u32| format!(" of {} vertices", grouped(focus.into()));
        format!(
            "changes   {} rounds of {} edges{}: {} came, {} went\n",
            grouped(self.rounds.into()),
            grouped(self.updates.into()),
            self.focus.map_or_else(String::new, of),
            grouped(self.inserted),
            grouped(self.deleted),
        )
    }

    fn table(&self) -> String {
        let mut head = vec![
            "allocator",
            "pool",
            "init",
            "insert",
            "/ rebuild",
            "delete",
            "/ rebuild",
            "live",
            "used",
            "used at the end",
        ];
        if self.triangles.is_some() {
            head.push("triangles");
        }
        if self.page_rank {
            head.push("PageRank");
        }
        head.push("check");
        let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(String::from).collect()];
        for run in &self.runs {
            let (inserts, deletes) = (mean(&run.inserts), mean(&run.deletes));
            let mut row = vec![
                run.allocator.to_owned(),
                size::display(run.pool_bytes),
                both(run.init),
                both(inserts),
                ratio(inserts.all, mean_of(&self.rebuild.inserts)),
                both(deletes),
                ratio(deletes.all, mean_of(&self.rebuild.deletes)),
                size::display(largest(run, |footprint| footprint.bytes_live)),
                size::display(largest(run, |footprint| footprint.bytes_used)),
                size::display(run.footprint.last().map_or(0, |last| last.bytes_used)),
            ];
            row.extend(run.triangles.map(time));
            if self.page_rank {
                row.push(time(mean_of(&run.page_ranks)));
            }
            row.push("ok".to_owned());
            rows.push(row);
        }
        let mut row = vec![
            "rebuilt sparse rows".to_owned(),
            "-".to_owned(),
            time(self.rebuild.init),
            time(mean_of(&self.rebuild.inserts)),
            "1.00".to_owned(),
            time(mean_of(&self.rebuild.deletes)),
            "1.00".to_owned(),
            size::display(self.rebuild.bytes),
            size::display(2 * self.rebuild.bytes),
            size::display(2 * self.rebuild.bytes),
        ];
        row.extend(self.triangles.map(|_| "-".to_owned()));
        row.extend(self.page_rank.then(|| "-".to_owned()));
        row.push("ok".to_owned());
        rows.push(row);
        table(&rows)
    }

    /// Draws the time of each round, the insertions before the deletions.
    ///
    /// # Errors
    /// As [`plot::lines`].
    pub fn plot(&self, path: &Path) -> Result<(), CliError> {
        let points = |times: Vec<Duration>| -> Vec<(f64, f64)> {
            let milliseconds = times.iter().map(|time| time.as_secs_f64() * 1e3);
            (1..).map(f64::from).zip(milliseconds).collect()
        };
        let mut lines: Vec<Line> = self
            .runs
            .iter()
            .map(|run| Line {
                name: run.allocator.to_owned(),
                points: points(
                    run.inserts
                        .iter()
                        .chain(&run.deletes)
                        .map(|t| t.all)
                        .collect(),
                ),
            })
            .collect();
        lines.push(Line {
            name: "rebuilt sparse rows".to_owned(),
            points: points([&self.rebuild.inserts[..], &self.rebuild.deletes].concat()),
        });
        let title = format!(
            "{}: rounds of {} edges, inserted, then deleted",
            self.graph.source,
            grouped(self.updates.into())
        );
        plot::lines(path, &title, "round", "ms on the device", &lines)
    }
}

fn largest(run: &Run, bytes: impl Fn(&super::report::Footprint) -> u64) -> u64 {
    run.footprint.iter().map(bytes).max().unwrap_or(0)
}

fn mean(times: &[Times]) -> Times {
    let of = |part: fn(&Times) -> Duration| mean_of(&times.iter().map(part).collect::<Vec<_>>());
    Times {
        heap: of(|times| times.heap),
        all: of(|times| times.all),
    }
}

fn mean_of(times: &[Duration]) -> Duration {
    times.iter().sum::<Duration>() / times.len().max(1) as u32
}

fn both(times: Times) -> String {
    format!("{} ({})", time(times.all), time(times.heap))
}

fn ratio(time: Duration, to: Duration) -> String {
    format!("{:.2}", time.as_secs_f64() / to.as_secs_f64().max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_ratios() {
        let times = [1, 3].map(|ms| Times {
            heap: Duration::from_millis(ms),
            all: Duration::from_millis(2 * ms),
        });
        assert_eq!(both(mean(&times)), "4.0 ms (2.0 ms)");
        assert_eq!(mean_of(&[]), Duration::ZERO);
        assert_eq!(
            ratio(Duration::from_millis(3), Duration::from_millis(2)),
            "1.50"
        );
    }
}
