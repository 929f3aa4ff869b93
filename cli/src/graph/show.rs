//! A report for people: a list for one run, a table for several, the top vertices below.

use crate::text::{grouped, percent, table, time};
use crate::{device, left_out, size};
use std::fmt::Write;
use std::time::Duration;
use warpheap_jobs::graph::report::{GraphReport, RankReport, Report, Run, Source, Top};

/// The report for people: a list for one run, a table for several.
pub fn text(report: &Report) -> String {
    let mut text = device::lines(&report.device) + &graph_line(&report.graph);
    if let Some(run) = report.runs.first() {
        text += &format!("checksum  {:016x}\n", run.checksum);
    }
    match &report.runs[..] {
        [run] => text += &one_run(run, report.graph.edges),
        runs => text += &runs_table(report, runs),
    }
    text += &ranks_table(&report.ranks);
    if let Some(carrier) = &report.carrier {
        text += &format!("ranks of vertices went from device to device by {carrier}\n");
    }
    text += &left_out::lines(&report.left_out);
    // The checks made sure that all runs have the same ranks.
    if let Some(run) = report.runs.first() {
        text += &format!("\n{}", top_table(&run.top));
    }
    text
}

fn runs_table(report: &Report, runs: &[Run]) -> String {
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
            rate(report.graph.edges, run.phases.insert),
            if report.checked { "ok" } else { "left out" }.to_owned(),
        ]);
    }
    format!("\n{}", table(&rows))
}

/// Where a graph came from.
pub fn source(source: &Source) -> String {
    let (kind, size, edge_factor) = match source {
        Source::File { file } => return file.clone(),
        Source::Rmat { size, edge_factor } => ("R-MAT", size, Some(edge_factor)),
        Source::Grid { size } => ("grid", size, None),
        Source::Mesh { size } => ("mesh", size, None),
        Source::Hub { size, edge_factor } => ("hub", size, Some(edge_factor)),
    };
    let factor = |edge_factor| format!(", edge factor {edge_factor}");
    let factor = edge_factor.map_or_else(String::new, factor);
    format!("{kind}, scale {}{factor}, seed {}", size.scale, size.seed)
}

/// The line that says which graph it is.
pub fn graph_line(graph: &GraphReport) -> String {
    format!(
        "graph     {}: {} vertices, {} edges, at most {} into one vertex\n",
        source(&graph.source),
        grouped(graph.vertices.into()),
        grouped(graph.edges),
        grouped(graph.largest_in_degree.into()),
    )
}

fn one_run(run: &Run, edges: u64) -> String {
    let phases = &run.phases;
    let on_device = |device: Duration| format!(" ({} on the device)", time(device));
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{name:<10}{value}");
    };
    line("allocator", run.allocator.to_owned());
    line("pool", size::display(run.pool_bytes));
    for step in &run.steps {
        let to = size::display(step.pool_bytes);
        line("grown", format!("to {to} in {}", time(step.time)));
    }
    line("mallocs", grouped(run.mallocs));
    line("frees", grouped(run.frees));
    line("live", size::display(run.bytes_live));
    line(
        "used",
        format!(
            "{} (utilisation {})",
            size::display(run.bytes_used),
            percent(run.utilisation)
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
            grouped(run.batches.into()),
            rate(edges, phases.insert)
        ),
    );
    line(
        "rank",
        format!(
            "{}{}, {} iterations",
            time(phases.rank),
            on_device(phases.rank_device),
            run.iterations
        ),
    );
    line("collect", time(phases.collect));
    line(
        "free",
        format!("{}{}", time(phases.free), on_device(phases.free_device)),
    );
    line(
        "check",
        match run.rank_error {
            Some(error) => format!(
                "{}, neighbours equal, ranks within {error:.1e} of the reference",
                time(phases.check)
            ),
            None => "left out, but for numbers of neighbours and the sum of ranks".to_owned(),
        },
    );
    text
}

/// What each of several ranks did; of the first allocator, where it depends on that.
fn ranks_table(ranks: &[RankReport]) -> String {
    if ranks.is_empty() {
        return String::new();
    }
    let head = [
        "rank",
        "read",
        "vertices",
        "edges",
        "sent",
        "load",
        "cut",
        "exchange",
        "hidden",
        "degrees",
        "CPU",
        "insert",
        "rank",
        "on the device",
        "all-gather",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for rank in ranks {
        let phases = rank.runs.first().map(|run| run.phases).unwrap_or_default();
        rows.push(vec![
            rank.rank.to_string(),
            grouped(rank.edges_read),
            grouped(rank.vertices),
            grouped(rank.edges),
            size::display(rank.bytes_sent + rank.bytes_gathered),
            time(rank.load),
            time(rank.exchanged.cut),
            time(rank.exchanged.exchange),
            time(rank.exchanged.hidden),
            time(rank.degrees),
            time(rank.reference),
            time(phases.insert),
            time(phases.rank),
            time(phases.rank_device),
            time(phases.all_gather),
        ]);
    }
    format!("\n{}", table(&rows))
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

/// How many in a second, as a short number.
pub fn rate(count: u64, time: Duration) -> String {
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
    use super::*;
    use crate::device::tests::device;
    use crate::text::tests::keys;
    use warpheap_jobs::graph::report::{Phases, SCHEMA, Size, top};

    /// A report of equal runs.
    fn report(runs: usize) -> Report {
        let run = Run {
            allocator: "Bump",
            pool_bytes: 1 << 20,
            batch_edges: 100,
            steps: Vec::new(),
            batches: 3,
            mallocs: 12_345,
            frees: 7,
            bytes_live: 1000,
            bytes_used: 2000,
            utilisation: 0.5,
            iterations: 20,
            rank_error: Some(1e-6),
            rank_sum: 1.0,
            checksum: 0xABC,
            phases: Phases::default(),
            top: top(&[0.1, 0.5, 0.4], &[0, 1, 2], 1, 2),
        };
        Report {
            schema: SCHEMA,
            device: device(),
            graph: GraphReport {
                source: Source::Rmat {
                    size: Size { scale: 3, seed: 9 },
                    edge_factor: 2,
                },
                vertices: 8,
                edges: 16,
                largest_in_degree: 5,
                load: Duration::from_millis(1500),
            },
            runs: vec![run; runs],
            left_out: Vec::new(),
            checked: true,
            ranks: Vec::new(),
            carrier: None,
        }
    }

    #[test]
    fn json_names_are_stable() {
        let json = serde_json::to_value(report(1)).unwrap_or_default();
        assert_eq!(
            keys(&json),
            ["checked", "device", "graph", "left_out", "runs", "schema"]
        );
        assert_eq!(
            keys(&json["device"]),
            ["backend", "driver", "load_s", "name", "warp_width"]
        );
        let graph = [
            "edge_factor",
            "edges",
            "largest_in_degree",
            "load_s",
            "scale",
            "seed",
            "source",
            "vertices",
        ];
        assert_eq!(keys(&json["graph"]), graph);
        assert_eq!(json["graph"]["source"], "rmat");
        assert_eq!(json["graph"]["load_s"], 1.5);
        let run = [
            "all_gather_s",
            "allocator",
            "batch_edges",
            "batches",
            "bytes_live",
            "bytes_used",
            "check_s",
            "checksum",
            "collect_s",
            "free_device_s",
            "free_s",
            "frees",
            "insert_device_s",
            "insert_s",
            "iterations",
            "mallocs",
            "pool_bytes",
            "prepare_s",
            "rank_device_s",
            "rank_error",
            "rank_s",
            "rank_sum",
            "top",
            "upload_s",
            "utilisation",
        ];
        assert_eq!(keys(&json["runs"][0]), run);
        assert_eq!(
            keys(&json["runs"][0]["top"][0]),
            ["in_degree", "rank", "vertex"]
        );
    }

    #[test]
    fn several_ranks_have_a_row_each() {
        let mut report = report(1);
        assert!(!text(&report).contains("exchange"));
        let rank = |rank| RankReport {
            rank,
            bytes_sent: 4000,
            bytes_gathered: 96,
            runs: report.runs.clone(),
            ..RankReport::default()
        };
        report.ranks = (0..3).map(rank).collect();
        report.carrier = Some("NCCL 2.27.3".into());
        let json = serde_json::to_value(&report).unwrap_or_default();
        assert_eq!(
            keys(&json["ranks"][2]).join(" "),
            "bytes_gathered bytes_sent cut_device_s cut_s degrees_s edges edges_read exchange_s hidden_s load_s rank reference_s runs vertices"
        );
        let text = text(&report);
        let rows = text.lines().filter(|line| line.contains("4.00 KiB"));
        assert_eq!(rows.count(), 3, "{text}");
        assert!(text.contains("by NCCL 2.27.3\n"), "{text}");
    }

    #[test]
    fn what_nobody_checked_is_said() {
        let mut report = report(1);
        report.checked = false;
        report.runs[0].rank_error = None;
        let json = serde_json::to_value(&report).unwrap_or_default();
        assert_eq!(json["runs"][0].get("rank_error"), None);
        assert_eq!(json["runs"][0]["checksum"], "0000000000000abc");
        let one = text(&report);
        assert!(one.contains("check     left out"), "{one}");
        report.runs.push(report.runs[0].clone());
        assert!(text(&report).contains("left out\n"));
    }

    #[test]
    fn text_shows_a_list_or_a_table() {
        let one = text(&report(1));
        assert!(one.contains("mallocs   12,345\n"), "{one}");
        assert!(one.contains("vertex         rank  in-degree\n"), "{one}");
        let two = text(&report(2));
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
