//! `warpheap bench` on the host backend.

use super::{TempFile, program, warpheap};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const QUICK: [&str; 12] = [
    "bench",
    "--quick",
    "--backend",
    "host",
    "--scenario",
    "S1",
    "--allocator",
    "ScatterAlloc",
    "--sizes",
    "16,64",
    "--n",
    "256",
];

/// A run of two sizes on the host with more options.
fn quick<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&QUICK[..], more].concat()
}

/// A folder of its own that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = format!("warpheap-bench-{}-{name}", std::process::id());
        Folder(std::env::temp_dir().join(folder))
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("the file was written")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Results in a folder.
fn results(name: &str) -> Folder {
    let folder = Folder::new(name);
    let outcome = warpheap(&quick(&["--out", &folder.file("")]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    folder
}

/// The results of `folder` in another file, each median multiplied.
fn scaled(folder: &Folder, factor: f64) -> String {
    let mut run: Value = serde_json::from_str(&folder.read("results.json")).expect("JSON");
    let rows = run["rows"].as_array_mut().expect("rows");
    for metric in rows
        .iter_mut()
        .filter_map(|row| row["metrics"].as_array_mut())
        .flatten()
    {
        for name in ["median", "p10", "p90"] {
            let value = &mut metric["value"][name];
            // Without a spread: how the machine's other work disturbs the test must not decide.
            *value = (factor * value.as_f64().expect("a number")).into();
        }
        metric["value"]["p90"] = metric["value"]["p10"].clone();
    }
    let file = folder.file(&format!("times-{factor}.json"));
    std::fs::write(&file, run.to_string()).expect("temporary file");
    file
}

#[test]
fn a_run_prints_a_table_and_writes_every_file() {
    let folder = Folder::new("files");
    let outcome = warpheap(&quick(&["--out", &folder.file("a/b")]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(
        outcome.out.starts_with("S1: one size, fresh heap\n"),
        "{}",
        outcome.out
    );
    // Two sizes with two allocators, below a title and a head.
    assert_eq!(outcome.out.lines().count(), 2 + 4, "{}", outcome.out);
    assert!(outcome.err.starts_with("host: "), "{}", outcome.err);
    assert!(
        outcome
            .err
            .contains("S1 ScatterAlloc lane 64 x 256: malloc "),
        "{}",
        outcome.err
    );
    assert!(outcome.err.contains("wrote 4 files"), "{}", outcome.err);
    let json: Value = serde_json::from_str(&folder.read("a/b/results.json")).expect("JSON");
    assert_eq!(json["backend"], "host");
    let rows = json["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    for row in rows {
        assert_eq!(
            (&row["status"], &row["right"]),
            (&"ok".into(), &true.into())
        );
        assert_eq!(row["metrics"][0]["name"], "malloc");
        assert!(
            row["metrics"][0]["value"]["median"].as_f64() > Some(0.0),
            "{row}"
        );
        assert!(
            row["floors"]["fence"]["median"].as_f64() > Some(0.0),
            "{row}"
        );
    }
    // Bump does not free: lines for its malloc and footprint, and one more for the other's free.
    let csv = folder.read("a/b/results.csv");
    assert_eq!(csv.lines().count(), 1 + 2 * 2 + 2 * 3, "{csv}");
    assert!(folder.read("a/b/S1.svg").starts_with("<svg "));
    let page = folder.read("a/b/report.html");
    assert!(
        page.contains("<svg ") && page.contains("warpheap bench --quick --backend host"),
        "{page}"
    );
}

#[test]
fn programs_stand_beside_bump() {
    let folder = Folder::new("programs");
    let outcome = warpheap(&[
        "bench",
        "--quick",
        "--backend",
        "host",
        "--scenario",
        "S14,S15,S16,S17",
        "--allocator",
        "WarpHeap,FdgMalloc",
        "--out",
        &folder.file(""),
    ]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let json: Value = serde_json::from_str(&folder.read("results.json")).expect("JSON");
    let rows = json["rows"].as_array().expect("rows");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let told: Vec<(String, String, Vec<String>)> = rows
        .iter()
        .map(|row| {
            assert_eq!(row["status"], "ok", "{row}");
            let metrics = row["metrics"].as_array().expect("metrics").iter();
            let names = metrics.map(|metric| text(&metric["name"])).collect();
            (text(&row["scenario"]), text(&row["allocator"]), names)
        })
        .collect();
    let expected = [
        ("S14", "Bump", "probe free"),
        ("S14", "WarpHeap", "probe free probe/Bump free/Bump"),
        ("S15", "Bump", "count footprint"),
        ("S15", "WarpHeap", "count footprint count/Bump"),
        ("S16", "Bump", "insert delete footprint"),
        (
            "S16",
            "WarpHeap",
            "insert delete footprint insert/Bump delete/Bump",
        ),
        ("S17", "Bump", "insert find footprint"),
        (
            "S17",
            "WarpHeap",
            "insert find footprint insert/Bump find/Bump",
        ),
    ]
    .map(|(scenario, allocator, names)| {
        let names: Vec<String> = names.split(' ').map(str::to_owned).collect();
        (scenario.to_owned(), allocator.to_owned(), names)
    });
    assert_eq!(told, expected);
}

#[test]
fn what_became_worse_has_an_exit_code_of_its_own() {
    let folder = results("compare");
    let compare = |factor, more: &[&str]| {
        let earlier = scaled(&folder, factor);
        warpheap(&quick(&[&["--compare", earlier.as_str()], more].concat()))
    };
    // Ten thousand times is no noise, however busy the machine is.
    let slower = compare(1e-4, &[]);
    assert_eq!(slower.code, Some(3), "{}", slower.err);
    assert!(
        slower.out.contains("WORSE") && slower.out.contains("now/earlier"),
        "{}",
        slower.out
    );
    assert!(
        slower
            .err
            .contains("error: 10 of the earlier run's results became worse: S1 "),
        "{}",
        slower.err
    );
    let page = folder.file("page");
    let slower = compare(1e-4, &["--out", &page]);
    assert_eq!(slower.code, Some(3), "{}", slower.err);
    assert!(
        folder
            .read("page/report.html")
            .contains("10 worse, 0 better")
    );
    let faster = compare(1e4, &[]);
    assert_eq!(faster.code, Some(0), "{}", faster.err);
    assert!(faster.out.contains("0 worse, 10 better"), "{}", faster.out);
    let tolerant = compare(1e-4, &["--noise", "1e9"]);
    assert_eq!(tolerant.code, Some(0), "{}", tolerant.err);
    assert!(tolerant.out.contains("10 within noise"), "{}", tolerant.out);
}

#[test]
fn files_that_cannot_be_compared_are_refused_before_anything_is_measured() {
    let folder = results("refused");
    let text = folder.read("results.json").replace("\"host\"", "\"cuda\"");
    let other = TempFile::new("other.json", text);
    warpheap(&quick(&["--compare", other.path()])).failed(2, &["the backend cuda, this one host"]);
    let none = TempFile::new("none.json", "{}");
    warpheap(&quick(&["--compare", none.path()]))
        .failed(2, &["none.json", "does not hold the results"]);
    warpheap(&quick(&["--compare", "no/such/file"])).failed(2, &["cannot read no/such/file"]);
}

#[test]
fn peers_are_shown_beside_and_bad_ones_named() {
    let head =
        "allocator,scenario,case,n,malloc_ms,free_ms,total_ms,utilisation,range_ratio,status";
    let line = "Hare,S1,16,256,0.001,0.001,,,,ok";
    let good = TempFile::new("peers.csv", format!("# by hand\n{head}\n{line}\n"));
    let outcome = warpheap(&quick(&["--peers", good.path()]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(outcome.out.contains("Hare 1.00"), "{}", outcome.out);
    let bad = TempFile::new(
        "peers.csv",
        format!("# by hand\n{head}\n{line}\nHare,S0,16,1,,,,,,ok\n"),
    );
    warpheap(&quick(&["--peers", bad.path()])).failed(2, &["peers.csv, line 4: ", "`S0`"]);
}

#[test]
fn wrong_options_are_refused() {
    for (more, parts) in [
        (&["--noise", "5"][..], &["--compare"][..]),
        (
            &["--compare", "a", "--noise", "little"],
            &["`little` is no percentage"],
        ),
        (&["--scenario", "S99"], &["S99", "S20"]),
        (
            &["--allocator", "Nothing"],
            &["`Nothing`", "Bump", "ScatterAlloc", "WarpHeap"],
        ),
        (&["--pool", "much"], &["`much` is no size"]),
        (&["--backend", "abacus"], &["abacus", "host"]),
        (&["--loud"], &["--loud"]),
    ] {
        warpheap(&[&["bench", "--quick"], more].concat()).failed(2, parts);
    }
    let too_many = [
        "bench",
        "--backend",
        "host",
        "--scenario",
        "S1",
        "--n",
        "1048576",
        "--sizes",
        "4096",
        "--pool",
        "1M",
    ];
    warpheap(&too_many).failed(2, &["a larger --pool"]);
    let file = TempFile::new("file", "");
    warpheap(&quick(&["--out", file.path()])).failed(1, &["cannot write", "file"]);
}

#[test]
fn help_names_every_option() {
    let help = warpheap(&["bench", "--help"]);
    assert_eq!(help.code, Some(0));
    for option in [
        "--scenario",
        "--allocator",
        "--backend",
        "--device",
        "--quick",
        "--out",
        "--compare",
        "--noise",
        "--peers",
        "--sizes",
        "--n ",
        "--pool",
        "--repeats",
        "--warp",
    ] {
        assert!(help.out.contains(option), "no {option} in: {}", help.out);
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(program())
        .args(QUICK)
        .env_remove("WARPHEAP_BACKEND")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the program ends");
    let err = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert!(!err.contains("error"), "{err}");
}
