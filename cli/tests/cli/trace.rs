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

/// The shared options, and small jobs.
const KMER: [&str; 7] = ["kmer", "--backend", "host", "--bases", "20000", "--k", "11"];
const GRAPH: [&str; 7] = [
    "graph",
    "--backend",
    "host",
    "--scale",
    "7",
    "--edge-factor",
    "8",
];

#[test]
fn a_kmer_map_and_a_graph_are_recorded() {
    for (job, own) in [
        (&KMER[..], ["kmer_count", "map_free"]),
        (&GRAPH[..], ["graph_insert", "graph_free"]),
    ] {
        let file = TempFile::new("job.trace", "");
        let begin = ["trace", "record", "--output", file.path()];
        let ran = warpheap(&[&begin[..], job, &["--json"]].concat()).json();
        let shown = warpheap(&["trace", "show", file.path(), "--json"]).json();
        let all = &shown["all"];
        let mallocs = all["mallocs"].as_u64().expect("mallocs");
        assert!(mallocs > 0 && all["frees"] == mallocs, "{all}");
        assert_eq!(
            (&shown["lost"], &all["live_bytes"], &all["failures"]),
            (&0.into(), &0.into(), &0.into())
        );
        // What the graph's heap counted itself; the map does not count.
        let counted = &ran["runs"][0]["mallocs"];
        assert!(counted.is_null() || *counted == mallocs, "{counted}");
        let kernels: Vec<&str> = shown["kernels"]
            .as_array()
            .expect("kernels")
            .iter()
            .filter_map(|kernel| kernel[0].as_str())
            .collect();
        for kernel in own {
            assert!(kernels.contains(&kernel), "{kernels:?}");
        }
    }
}

/// As many blocks, and as many bytes, as the trace says.
#[test]
fn what_was_recorded_is_replayed() {
    let file = TempFile::new("replayed.trace", "");
    let begin = ["trace", "record", "--output", file.path()];
    for job in [&JOIN[..], &KMER[..], &GRAPH[..]] {
        assert_eq!(warpheap(&[&begin[..], job].concat()).code, Some(0));
        replays(file.path());
    }
}

/// Replays a trace with three allocators: each has the blocks that `show` tells of.
fn replays(trace: &str) {
    let all = &warpheap(&["trace", "show", trace, "--json"]).json()["all"];
    let out = TempFile::new("replay", "");
    let folder = format!("{}.d", out.path());
    let bench = ["bench", "--backend", "host", "--replay", trace];
    let more = ["--pool", "64M", "--repeats", "1", "--out", &folder];
    let of = ["--allocator", "WarpHeap,ScatterAlloc,Bump"];
    let told = warpheap(&[&bench[..], &more, &of].concat());
    assert_eq!(told.code, Some(0), "{}", told.err);
    let run = std::fs::read_to_string(format!("{folder}/results.json")).expect("results");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let _ = std::fs::remove_dir_all(&folder);
    let rows = run["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert_eq!(
            (&row["scenario"], &row["status"]),
            (&"S20".into(), &"ok".into())
        );
        let metrics = row["metrics"].as_array().expect("metrics");
        let value = |name: &str| {
            let metric = metrics.iter().find(|metric| metric["name"] == name);
            metric.expect(name)["value"]["median"].as_f64().expect(name)
        };
        for (name, shown) in [
            ("mallocs", "mallocs"),
            ("resizes", "resizes"),
            ("frees", "frees"),
            ("live", "live_bytes"),
        ] {
            assert_eq!(Some(value(name)), all[shown].as_f64(), "{name} of {row}");
        }
        assert!(value("total") > 0.0 && value("footprint") >= 1.0, "{row}");
    }
    assert!(told.out.contains("S20"), "{}", told.out);
}

/// Three jobs' traces, from the emulator: `join --rows 6000`, `kmer --bases 300000 --k 14`,
/// `graph --scale 8 --edge-factor 8 --batch 256`.
#[test]
fn traces_of_real_jobs_are_shown_and_replayed() {
    // Blocks of each size; for each kernel blocks that it got and gave back; the most bytes at a time.
    type Sizes<'a> = &'a [(u64, u64)];
    type Kernels<'a> = &'a [(&'a str, u64, u64)];
    let jobs: [(&str, Sizes<'_>, Kernels<'_>, u64); 3] = [
        (
            "join",
            &[(128, 564)],
            &[("join_probe", 564, 0), ("join_free", 0, 564)],
            564 * 128,
        ),
        (
            "kmer",
            &[(16, 66), (64, 19), (2 << 20, 1)],
            &[
                ("heap_malloc", 1, 0),
                ("kmer_count", 85, 0),
                ("map_free", 0, 85),
                ("heap_free", 0, 1),
            ],
            1_059_040,
        ),
        (
            "graph",
            &[
                (16, 193),
                (32, 92),
                (64, 50),
                (128, 36),
                (256, 9),
                (512, 9),
                (1024, 1),
            ],
            // What is left are the vectors of the 193 vertices that have neighbours.
            &[("graph_insert", 390, 197), ("graph_free", 0, 193)],
            14_016,
        ),
    ];
    for (job, sizes, kernels, peak) in jobs {
        let trace = format!("{}/tests/traces/{job}.trace", env!("CARGO_MANIFEST_DIR"));
        let shown = warpheap(&["trace", "show", &trace, "--json"]).json();
        let rows = |of: &str| shown[of].as_array().expect("rows").clone();
        let number = |value: &Value| value.as_u64().expect("a number");
        let got: Vec<_> = rows("sizes")
            .iter()
            .map(|row| (number(&row[0]), number(&row[1]["mallocs"])))
            .collect();
        assert_eq!(got, sizes, "{job}");
        let rows = rows("kernels");
        let got: Vec<_> = rows
            .iter()
            .map(|row| {
                let name = row[0].as_str().expect("a name");
                (name, number(&row[1]["mallocs"]), number(&row[1]["frees"]))
            })
            .collect();
        assert_eq!(got, kernels, "{job}");
        let all = &shown["all"];
        assert_eq!(
            (&all["peak_bytes"], &all["live_bytes"]),
            (&peak.into(), &0.into())
        );
        replays(&trace);
    }
}

/// A heap that is full has a trace, too.
#[test]
fn a_job_that_fails_is_recorded() {
    let file = TempFile::new("full.trace", "");
    let more = ["--pool", "1M", "--rows-right", "60000", "--matches", "4"];
    record(&file, &more).failed(1, &["--pool", "bytes in use", "largest free run"]);
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
    for (more, part) in [
        (&["graph", "--rounds", "2"][..], "a graph that changes"),
        (&["graph", "--pool", "1M", "--grow", "2M"], "--grow"),
        (&["graph", "--heap-map", "a.svg"], "--heap-map"),
        (&["kmer", "--plot", "a.svg"], "--plot"),
    ] {
        let record = ["trace", "record", "--output", file.path()];
        warpheap(&[&record[..], more].concat()).failed(2, &[part]);
    }
}

#[test]
fn what_cannot_be_replayed_is_refused() {
    let foreign = TempFile::new("e.trace", "rows,columns\n");
    let bench = ["bench", "--quick", "--backend", "host"];
    let replay = |path: &str| warpheap(&[&bench[..], &["--replay", path]].concat());
    replay(foreign.path()).failed(2, &[foreign.path(), "it is no trace"]);
    replay("/nowhere/a.trace").failed(2, &["/nowhere/a.trace"]);
    warpheap(&[&bench[..], &["--scenario", "S20"]].concat()).failed(2, &["--replay"]);
}
