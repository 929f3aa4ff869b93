//! Results of the lab, and figures of other allocators.

use super::file::{Temporary, check_message};
use warpheap_bench::report::compare::{Comparison, NOISE};
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{Report, csv, json, table};
use warpheap_bench::row::Row;

/// The first byte says what the others are: figures of other allocators, or `results.json`.
pub fn run(bytes: &[u8]) {
    let Some((&control, bytes)) = bytes.split_first() else {
        return;
    };
    match control % 2 {
        0 => peers(&String::from_utf8_lossy(bytes)),
        _ => results(bytes),
    }
}

fn peers(text: &str) {
    match Peers::parse("p", text) {
        // What is missing is missing behind the last line.
        Err(error) => check_message(&error.to_string(), "p", format!("{text}\n").as_bytes()),
        Ok(peers) => {
            for peer in &peers.peers {
                assert!(peer.n > 0 && !peer.allocator.is_empty());
                assert!(peer.figures.iter().all(|(_, figure)| *figure >= 0.0));
            }
        }
    }
}

fn results(bytes: &[u8]) {
    let file = Temporary::new("results.json", bytes);
    let run = match json::read(&file.path) {
        Ok(run) => run,
        Err(error) => return check_message(&error.to_string(), "results.json", b""),
    };
    std::fs::write(&file.path, json::text(&run)).expect("a file is written");
    let again = json::read(&file.path).expect("what was written");
    assert_eq!(again, run);
    let lines = csv::text(&run).lines().count();
    let metrics = |row: &Row| row.metrics.len().max(1);
    assert!(lines > run.rows.iter().map(metrics).sum::<usize>());
    let peers = Peers::default();
    let _ = table::tables(&run, &peers);
    if let Ok(comparison) = Comparison::new(&run, &again, NOISE) {
        assert_eq!(comparison.regressions(), None, "of a run with itself");
        let report = Report {
            run: &run,
            peers: &peers,
            comparison: Some(&comparison),
            command: "warpheap bench",
        };
        let _ = (comparison.text(), report.write(file.folder()));
    }
}
