//! `warpheap trace`.

use super::{TempFile, warpheap};
use serde_json::Value;

const JOIN: [&str; 5] = ["join", "--backend", "host", "--rows", "3000"];

/// Records a join with these options, too.
fn record(file: &TempFile, more: &[&str]) -> super::Outcome {
    let begin = ["trace", "record", "--output", file.path()];
    warpheap(&[&begin[..], &JOIN, more].concat())
}

#[test]
fn what_a_join_asked_for_is_recorded_and_shown() {
    let file = TempFile::new("join.trace", "");
    let joined = record(&file, &["--json"]).json();
    let pages = joined["runs"][0]["pages"].as_u64().expect("pages");
    assert!(pages > 0);
    let shown = warpheap(&["trace", "show", file.path(), "--json"]).json();
    assert_eq!(shown["allocator"], "WarpHeap");
    assert_eq!(shown["lost"], 0);
    // One probe, and all is freed.
    let all = &shown["all"];
    assert_eq!(
        (&all["mallocs"], &all["frees"]),
        (&pages.into(), &pages.into())
    );
    assert_eq!(
        (&all["live_bytes"], &all["failures"]),
        (&0.into(), &0.into())
    );
    assert_eq!(all["peak_bytes"], pages * 128);
    let kernels: Vec<&str> = shown["kernels"]
        .as_array()
        .expect("kernels")
        .iter()
        .filter_map(|kernel| kernel[0].as_str())
        .collect();
    assert_eq!(kernels, ["join_probe", "join_free"]);
    assert_eq!(shown["sizes"][0][0], 128);

    let text = warpheap(&["trace", "show", file.path()]);
    assert_eq!(text.code, Some(0), "{}", text.err);
    for part in ["join_probe", "up to 128 B", "mean life", "all"] {
        assert!(text.out.contains(part), "no `{part}` in {}", text.out);
    }

    let line = TempFile::new("join.json", "");
    let told = warpheap(&["trace", "show", file.path(), "--perfetto", line.path()]);
    assert_eq!(told.code, Some(0), "{}", told.err);
    let line = std::fs::read_to_string(line.path()).expect("the time line");
    let line: Value = serde_json::from_str(&line).expect("JSON");
    let entries = line["traceEvents"].as_array().expect("entries");
    let slices: Vec<_> = entries.iter().filter(|entry| entry["ph"] == "X").collect();
    assert_eq!(slices.len(), 2);
    assert_eq!(slices[0]["name"], "join_probe");
    assert!(slices[0]["ts"].as_f64() <= slices[1]["ts"].as_f64());
    let most = entries
        .iter()
        .filter_map(|entry| entry["args"]["bytes"].as_u64());
    assert_eq!(most.max(), Some(pages * 128));
}

/// A heap that is full has a trace, too.
#[test]
fn a_job_that_fails_is_recorded() {
    let file = TempFile::new("full.trace", "");
    let more = ["--pool", "1M", "--rows-right", "60000", "--matches", "4"];
    record(&file, &more).failed(1, &["--pool"]);
    let shown = warpheap(&["trace", "show", file.path(), "--json"]).json();
    assert!(shown["all"]["failures"].as_u64() > Some(0), "{shown}");
}

#[test]
fn what_is_no_trace_is_refused() {
    let show = |file: &TempFile| warpheap(&["trace", "show", file.path()]);
    let foreign = TempFile::new("a.trace", "rows,columns\n");
    show(&foreign).failed(2, &[foreign.path(), "it is no trace"]);
    let file = TempFile::new("b.trace", "");
    assert_eq!(record(&file, &[]).code, Some(0));
    let bytes = std::fs::read(file.path()).expect("a trace");
    let cut = TempFile::new("c.trace", &bytes[..bytes.len() / 2]);
    show(&cut).failed(2, &[cut.path(), "its head tells of"]);
    warpheap(&["trace", "show", "/nowhere/a.trace"]).failed(2, &["/nowhere/a.trace"]);
}

#[test]
fn what_cannot_be_recorded_is_said_before_the_job() {
    let file = TempFile::new("d.trace", "");
    record(&file, &["--allocator", "Bump"]).failed(2, &["`Bump`", "WarpHeap"]);
    record(&file, &["--heap-map", "a.svg"]).failed(2, &["--heap-map"]);
    let nowhere = ["trace", "record", "join", "-o", "/nowhere/a.trace"];
    warpheap(&nowhere).failed(2, &["/nowhere"]);
    assert_eq!(warpheap(&["trace", "record"]).code, Some(2));
}
