//! JSON, CSV, and the folder they lie in.

use crate::run;
use std::path::Path;
use warpheap_bench::report::peers::Peers;
use warpheap_bench::report::{Report, ReportError, csv as results, json};

fn write(folder: &Path) -> Result<Vec<String>, ReportError> {
    let (run, peers) = (run(), Peers::default());
    let report = Report {
        run: &run,
        peers: &peers,
        comparison: None,
        command: "warpheap bench",
    };
    let files = report.write(folder)?;
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().to_string();
    Ok(files.iter().map(name).collect())
}

#[test]
fn the_folder_is_made_and_holds_a_plot_for_each_scenario_with_results() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    let files = write(&deep).unwrap();
    assert_eq!(
        files,
        [
            "results.json",
            "results.csv",
            "S1.svg",
            "S3.svg",
            "S5.svg",
            "S6.svg",
            "S10.svg",
            "S13.svg",
            "report.html"
        ]
    );
    for file in files {
        assert!(
            std::fs::metadata(deep.join(&file)).unwrap().len() > 100,
            "{file}"
        );
    }
    assert_eq!(json::read(&deep.join("results.json")).unwrap(), run());
}

#[test]
fn a_folder_that_cannot_be_made_and_files_that_are_no_results_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "{\"version\": 1}").unwrap();
    let error = write(&file.join("under")).unwrap_err();
    assert!(!error.is_input());
    assert!(error.to_string().contains("cannot write") && error.to_string().contains("under"));
    let error = json::read(&file).unwrap_err();
    assert!(error.is_input());
    let text = error.to_string();
    assert!(
        text.contains("does not hold the results") && text.contains("line 1"),
        "{text}"
    );
    let text = json::read(&folder.path().join("none"))
        .unwrap_err()
        .to_string();
    assert!(
        text.contains("cannot read") && text.contains("none"),
        "{text}"
    );
}

#[test]
fn csv_has_a_line_for_each_row_and_metric() {
    let run = run();
    let text = results::text(&run);
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head: Vec<String> = reader.headers().unwrap().iter().map(String::from).collect();
    assert_eq!(head, results::COLUMNS);
    let field = |record: &csv::StringRecord, name: &str| {
        let at = head.iter().position(|column| column == name).unwrap();
        record[at].to_string()
    };
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let want: usize = run.rows.iter().map(|row| row.metrics.len().max(1)).sum();
    assert_eq!(records.len(), want);
    let find = |scenario: &str, allocator: &str, case: &str, metric: &str| {
        let is = |record: &&csv::StringRecord| {
            field(record, "scenario") == scenario
                && field(record, "allocator") == allocator
                && field(record, "case") == case
                && field(record, "metric") == metric
        };
        records.iter().find(is).unwrap().clone()
    };
    let malloc = find("S1", "ScatterAlloc", "16", "malloc");
    for (name, value) in [
        ("median", "0.023"),
        ("p10", "0.02254"),
        ("to_store", "4.107143"),
        ("store_ms", "0.0056"),
        ("fence_ms", "0.0068"),
        ("unit", "millis"),
        ("better", "lower"),
        ("n", "1048576"),
        ("device", "NVIDIA H200"),
        ("call", "lane"),
        ("status", "ok"),
    ] {
        assert_eq!(field(&malloc, name), value, "{name}");
    }
    let failed = find("S2", "Bump", "pow2 16..64", "");
    assert_eq!(
        field(&failed, "status"),
        "7 of 1048576 failed, \"exhausted\""
    );
    let share = find("S6", "Bump", "64", "utilisation");
    assert_eq!(
        (field(&share, "to_store"), field(&share, "store_ms")),
        (String::new(), String::new())
    );
    assert_eq!(field(&share, "better"), "higher");
    assert_eq!(
        field(&find("S10", "Bump", "fill 98", "throughput"), "fill"),
        "98"
    );
}
