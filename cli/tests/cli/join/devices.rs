//! The hash join on several devices of one process: emulators.

use super::{host, runs};
use crate::{warpheap, warpheap_with};
use serde_json::Value;

fn sum(parts: &[Value], name: &str) -> Option<u64> {
    parts.iter().map(|part| part[name].as_u64()).sum()
}

#[test]
fn several_devices_find_what_one_finds() {
    // With one key in both tables all rows are one device's, and the others have none.
    let one_key = ["--rows", "40", "--matches", "40", "--rows-right", "70"];
    let many = ["--rows", "3000", "--rows-right", "5000", "--matches", "2"];
    for (devices, rows) in [("2", &many), ("3", &many), ("3", &one_key)] {
        for more in [&[][..], &["--no-check"]] {
            let base = ["--allocator", "WarpHeap,Bump", "--skew", "20", "--json"];
            let args = host(&[&rows[..], &base, more].concat());
            let one = warpheap(&args).json();
            let args = [&args[..], &["--device", "all"]].concat();
            let variables = [("WARPHEAP_HOST_DEVICES", devices)];
            let all = warpheap_with(&args, b"", &variables).json();
            for name in ["source", "rows_left", "rows_right", "matches", "page_bytes"] {
                assert_eq!(one["join"][name], all["join"][name], "{name}: {all}");
            }
            let number = devices.parse::<usize>().unwrap_or(0);
            assert_eq!(all["devices"].as_array().map(Vec::len), Some(number));
            assert!(one["devices"].is_null(), "{one}");
            for (one, all) in runs(&one).iter().zip(runs(&all)) {
                let parts = all["parts"].as_array().cloned().unwrap_or_default();
                assert!(one["parts"].is_null(), "{one}");
                assert_eq!(parts.len(), number, "{all}");
                assert_eq!(one["checksum"], all["checksum"], "{all}");
                for name in ["matches", "pages", "pool_bytes"] {
                    assert_eq!(sum(&parts, name), all[name].as_u64(), "{name}: {all}");
                }
                let rows = sum(&parts, "rows_left");
                let working = parts.iter().filter(|part| part["rows_right"] != 0).count();
                assert_eq!(rows, Some(if rows == Some(40) { 40 } else { 3000 }));
                assert_eq!(working, if rows == Some(40) { 1 } else { number }, "{all}");
            }
        }
    }
}

#[test]
fn each_device_has_a_row() {
    let args = host(&[
        "--rows",
        "2000",
        "--allocator",
        "WarpHeap",
        "--device",
        "all",
    ]);
    let alone = warpheap_with(&args, b"", &[("WARPHEAP_HOST_DEVICES", "1")]);
    assert!(alone.out.starts_with("device    host: "), "{}", alone.out);
    let both = warpheap_with(&args, b"", &[("WARPHEAP_HOST_DEVICES", "2")]);
    for row in [
        "device 0  host: ",
        "device 1  host: ",
        "0 emulator",
        "1 emulator",
    ] {
        let mut lines = both.out.lines();
        assert!(
            lines.any(|line| line.starts_with(row)),
            "{row}: {}",
            both.out
        );
    }
}

#[test]
fn what_is_for_one_device_is_refused_and_errors_name_theirs() {
    let two = [("WARPHEAP_HOST_DEVICES", "2")];
    let all = |args: &[&'static str]| host(&[args, &["--device", "all"]].concat());
    warpheap_with(&all(&["--rows", "500", "--heap-map", "-"]), b"", &two)
        .failed(2, &["--heap-map shows one heap"]);
    let small = all(&[
        "--rows",
        "90000",
        "--allocator",
        "WarpHeap",
        "--pool",
        "128K",
    ]);
    warpheap_with(&small, b"", &two).failed(1, &["error: device ", " (emulator", "too small"]);
}
