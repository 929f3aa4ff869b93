//! A graph that changes: its report for people is a table, and a plot of the rounds.

use super::args::GraphArgs;
use super::show::{graph_line, rate, source};
use crate::error::CliError;
use crate::plot::{self, Line};
use crate::text::{self, grouped, table, time};
use crate::{device, left_out, size};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use warpheap_jobs::allocators::{self, DEFAULT};
use warpheap_jobs::device::open;
use warpheap_jobs::graph::changing::report::{Footprint, Report, Run};
use warpheap_jobs::graph::changing::{self, Times};
use warpheap_jobs::progress::Progress;

/// Changes the graph with each of the allocators asked for.
///
/// # Errors
/// Options that make no sense, a bad file, a device that fails or answers wrongly, a plot that cannot be written.
pub fn run(args: &GraphArgs, progress: &dyn Progress) -> Result<String, CliError> {
    plot::check(args.changes.plot.as_deref())?;
    let (job, options) = (&args.job, args.changing()?);
    let all = warpheap_jobs::graph::all();
    let allocators = allocators::named(&job.allocator, &all, DEFAULT)?;
    let device = open(job.backend.as_deref(), job.device.as_deref())?;
    let report = changing::run(&device, &allocators, &options, progress)?;
    if let Some(path) = &args.changes.plot {
        draw(&report, path)?;
    }
    match job.json {
        true => text::json(&report),
        false => Ok(whole(&report)),
    }
}

/// The report for people.
fn whole(report: &Report) -> String {
    let mut text = device::lines(&report.device) + &graph_line(&report.graph);
    if report.rounds > 0 {
        text += &changes(report);
    }
    // Writing to a String cannot fail.
    if let Some(triangles) = report.triangles {
        let _ = writeln!(text, "triangles {}", grouped(triangles));
    }
    text += &searches(report);
    text += &components(report);
    text += "\ntime on the device, that of a round as a mean; in brackets that of mallocs and frees\n\n";
    text += &all_runs(report);
    text += &left_out::lines(&report.left_out);
    text
}

fn changes(report: &Report) -> String {
    let of = |focus: u32| format!(" of {} vertices", grouped(focus.into()));
    format!(
        "changes   {} rounds of {} edges{}: {} came, {} went\n",
        grouped(report.rounds.into()),
        grouped(report.updates.into()),
        report.focus.map_or_else(String::new, of),
        grouped(report.inserted),
        grouped(report.deleted),
    )
}

fn searches(report: &Report) -> String {
    let Some(searches) = &report.bfs else {
        return String::new();
    };
    let mut text = format!("search    from vertex {}\n", searches.source);
    for search in &searches.after {
        text += &format!(
            "          after {}: {} vertices reached, depth {}, {} edges looked at\n",
            search.after,
            grouped(search.reached.into()),
            grouped(search.depth.into()),
            grouped(search.edges),
        );
    }
    text
}

fn components(report: &Report) -> String {
    let mut text = String::new();
    for (number, components) in report.components.iter().enumerate() {
        let head = if number == 0 { "components" } else { "" };
        text += &format!(
            "{head:10} after {}: {}, the largest of {} vertices\n",
            components.after,
            grouped(components.count.into()),
            grouped(components.largest.into()),
        );
    }
    text
}

fn all_runs(report: &Report) -> String {
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
    if report.triangles.is_some() {
        head.push("triangles");
    }
    if report.page_rank {
        head.push("PageRank");
    }
    if report.bfs.is_some() {
        head.extend(["BFS", "edges/s"]);
    }
    if !report.components.is_empty() {
        head.push("components");
    }
    head.push("check");
    let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(String::from).collect()];
    for run in &report.runs {
        let (inserts, deletes) = (mean(&run.inserts), mean(&run.deletes));
        let mut row = vec![
            run.allocator.to_owned(),
            size::display(run.pool_bytes),
            both(run.init),
            both(inserts),
            ratio(inserts.all, mean_of(&report.rebuild.inserts)),
            both(deletes),
            ratio(deletes.all, mean_of(&report.rebuild.deletes)),
            size::display(largest(run, |footprint| footprint.bytes_live)),
            size::display(largest(run, |footprint| footprint.bytes_used)),
            size::display(run.footprint.last().map_or(0, |last| last.bytes_used)),
        ];
        row.extend(run.triangles.map(time));
        if report.page_rank {
            row.push(time(mean_of(&run.page_ranks)));
        }
        if let Some(searches) = &report.bfs {
            let times: Vec<Duration> = run.searches.iter().map(|search| search.time).collect();
            let edges: u64 = searches.after.iter().map(|search| search.edges).sum();
            let all: Duration = times.iter().sum();
            row.push(time(mean_of(&times)));
            row.push(rate(edges, all));
        }
        if !report.components.is_empty() {
            row.push(time(mean_of(&run.components)));
        }
        row.push("ok".to_owned());
        rows.push(row);
    }
    let mut row = vec![
        "rebuilt sparse rows".to_owned(),
        "-".to_owned(),
        time(report.rebuild.init),
        time(mean_of(&report.rebuild.inserts)),
        "1.00".to_owned(),
        time(mean_of(&report.rebuild.deletes)),
        "1.00".to_owned(),
        size::display(report.rebuild.bytes),
        size::display(2 * report.rebuild.bytes),
        size::display(2 * report.rebuild.bytes),
    ];
    row.extend(report.triangles.map(|_| "-".to_owned()));
    row.extend(report.page_rank.then(|| "-".to_owned()));
    if report.bfs.is_some() {
        row.extend(["-", "-"].map(String::from));
    }
    row.extend((!report.components.is_empty()).then(|| "-".to_owned()));
    row.push("ok".to_owned());
    rows.push(row);
    table(&rows)
}

/// Draws the time of each round, the insertions before the deletions.
///
/// # Errors
/// As [`plot::lines`].
fn draw(report: &Report, path: &Path) -> Result<(), CliError> {
    let points = |times: Vec<Duration>| -> Vec<(f64, f64)> {
        let milliseconds = times.iter().map(|time| time.as_secs_f64() * 1e3);
        (1..).map(f64::from).zip(milliseconds).collect()
    };
    let mut lines: Vec<Line> = report
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
        points: points([&report.rebuild.inserts[..], &report.rebuild.deletes].concat()),
    });
    let title = format!(
        "{}: rounds of {} edges, inserted, then deleted",
        source(&report.graph.source),
        grouped(report.updates.into())
    );
    plot::lines(path, &title, "round", "ms on the device", &lines)
}

fn largest(run: &Run, bytes: impl Fn(&Footprint) -> u64) -> u64 {
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
