//! The hash join on several devices of one process: emulators.

use super::{host, runs};
use crate::{both_devices_are_told, warpheap, warpheap_with};
use serde_json::Value;

fn sum(parts: &[Value], name: &str) -> Option<u64> {
    parts.iter().map(|part| part[name].as_u64()).sum()
}

#[test]
fn several_devices_find_what_one_finds() {
    // With one key in both tables all rows are one device's, and the others have none.
    let one_key = ["--rows", "40", "--matches", "40", "--rows-right", "70"];
    let many = ["--rows", "3000", "--rows-right", "5000", "--matches", "2"];
    for (devices, rows, working) in [("2", &many, 2), ("3", &many, 3), ("3", &one_key, 1)] {
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
            let one_left = one["join"]["rows_left"].as_u64();
            for (one, all) in runs(&one).iter().zip(runs(&all)) {
                let parts = all["parts"].as_array().cloned().unwrap_or_default();
                assert!(one["parts"].is_null(), "{one}");
                assert_eq!(parts.len(), number, "{all}");
                assert_eq!(one["checksum"], all["checksum"], "{all}");
                for name in ["matches", "pages", "pool_bytes"] {
                    assert_eq!(sum(&parts, name), all[name].as_u64(), "{name}: {all}");
                }
                assert_eq!(sum(&parts, "rows_left"), one_left, "{all}");
                let has_rows = |part: &&Value| part["rows_right"] != 0;
                assert_eq!(parts.iter().filter(has_rows).count(), working, "{all}");
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
    both_devices_are_told(&args, &[]);
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
