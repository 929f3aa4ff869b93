//! The program: its files, its table, its errors.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program that cargo built with this test, or, in a bundle, the one in the folder `bin` beside it.
fn program() -> PathBuf {
    let built = PathBuf::from(env!("CARGO_BIN_EXE_warpheap-bench"));
    if built.is_file() {
        return built;
    }
    let here = std::env::current_exe().unwrap();
    here.parent().unwrap().join("../bin/warpheap-bench")
}

fn bench(line: &str, folder: &Path) -> Output {
    let mut program = Command::new(program());
    program.args(line.split_whitespace()).current_dir(folder);
    // What the caller's environment chooses is not what is tested here.
    for name in ["WARPHEAP_BACKEND", "WARPHEAP_WARP_WIDTH", "WARPHEAP_SEED"] {
        program.env_remove(name);
    }
    program.output().unwrap()
}

#[test]
fn a_run_prints_a_table_and_writes_json_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    let line = "--backend host --quick --n 300 --sizes 24 --json a.json --csv a.csv";
    let output = bench(line, folder.path());
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{err}");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("a.json")).unwrap();
    assert_eq!(json["backend"], "host");
    let rows = json["rows"].as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!(
            (row["size"].as_u64(), &row["status"]),
            (Some(24), &"ok".into())
        );
        assert!(row["malloc"]["median"].as_f64() > Some(0.0), "{row}");
        assert!(row["store"]["median"].as_f64() > Some(0.0), "{row}");
    }
    let csv = read("a.csv");
    let fields = |line: &str| line.split(',').count();
    let mut lines = csv.lines();
    let head = lines.next().unwrap();
    assert!(head.starts_with("backend,device,scenario,allocator,call,size,n,"));
    assert_eq!(lines.clone().count(), rows.len());
    assert!(lines.all(|line| fields(line) == fields(head)), "{csv}");
    assert_eq!(out.lines().count(), 1 + rows.len(), "{out}");
    assert!(out.starts_with("scenario  allocator"), "{out}");
}

#[test]
fn what_does_not_exist_is_an_error_that_says_what_does() {
    let folder = tempfile::tempdir().unwrap();
    for (line, want) in [
        ("--backend host --allocator Nothing", "there are: Bump"),
        ("--backend abacus", "`abacus` is not available"),
        (
            "--backend host --n 1048576 --sizes 4096 --pool 1M",
            "a larger --pool",
        ),
        (
            "--backend host --quick --n 1 --sizes 16 --csv no/such/folder",
            "cannot write no/such/folder",
        ),
    ] {
        let output = bench(line, folder.path());
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{line}");
        assert!(
            err.contains("error: ") && err.contains(want),
            "{line}: {err}"
        );
    }
}
