//! A join by several processes.

use super::super::{TempFile, warpheap};
use super::{ranks, sum, told_once};
use serde_json::Value;

/// The JSON of ranks that find what one process finds: all that does not depend on who does it is the same.
fn same_as_one(number: usize, args: &[&str], one: &Value) -> Option<Value> {
    let outcome = ranks(number, &[&["join"], args].concat())?;
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let json: Value = serde_json::from_str(&outcome.out).expect("rank 0 alone prints");
    for field in [
        "source",
        "left",
        "right",
        "seed",
        "rows_left",
        "rows_right",
        "matches",
    ] {
        assert_eq!(
            json["join"][field], one["join"][field],
            "{field} of {number} ranks"
        );
    }
    let runs = one["runs"].as_array().map_or(0, Vec::len);
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(runs));
    for run in 0..runs {
        for field in ["allocator", "matches", "match_bytes", "checksum"] {
            assert_eq!(
                json["runs"][run][field], one["runs"][run][field],
                "{field} of {number} ranks"
            );
        }
    }
    assert_eq!(json["ranks"].as_array().map(Vec::len), Some(number));
    assert!(
        json["carrier"]
            .as_str()
            .is_some_and(|by| by.starts_with("host memory"))
    );
    for (of_ranks, of_one) in [("rows_left", "rows_left"), ("rows_right", "rows_right")] {
        assert_eq!(Some(sum(&json, of_ranks)), one["join"][of_one].as_u64());
    }
    Some(json)
}

/// A table whose rows are of different lengths, with blank lines among them.
fn table(rows: u32, keys: u32) -> String {
    let mut text = String::from("\u{FEFF}key,payload\r\n");
    for row in 0..rows {
        let key = row.wrapping_mul(2_654_435_761) % keys;
        text += &format!("{key},{row}{}", if row % 9 == 0 { "\n\n" } else { "\n" });
    }
    text
}

#[test]
fn any_number_of_ranks_finds_the_same() {
    let (left, right) = (
        TempFile::new("ranks-left.csv", table(500, 300)),
        TempFile::new("ranks-right.csv", table(900, 400)),
    );
    let generated = [
        "--rows",
        "3000",
        "--rows-right",
        "5000",
        "--matches",
        "2",
        "--skew",
        "20",
        "--batch",
        "700",
    ];
    for (args, numbers) in [
        (&[left.path(), right.path()][..], &[2, 3, 4][..]),
        (&generated, &[2, 3]),
    ] {
        let args = [
            args,
            &[
                "--allocator",
                "WarpHeap,Bump",
                "--repeats",
                "1",
                "--backend",
                "host",
                "--json",
            ],
        ]
        .concat();
        let one = warpheap(&[&["join"], &args[..]].concat()).json();
        assert_eq!(one.get("ranks"), None);
        for number in numbers {
            let Some(json) = same_as_one(*number, &args, &one) else {
                return;
            };
            assert_eq!(
                sum(&json, "rows_read"),
                sum(&json, "rows_left") + sum(&json, "rows_right")
            );
            assert!(sum(&json, "bytes_sent") > 0, "{json}");
        }
        // What nobody checks is the same, too.
        let args = [&args[..], &["--no-check"]].concat();
        let unchecked = same_as_one(2, &args, &one);
        assert!(unchecked.is_some_and(|json| json["checked"] == false));
    }
}

#[test]
fn ranks_may_have_no_rows() {
    let (left, right) = (
        TempFile::new("few-left.csv", "7,1\n7,2"),
        TempFile::new("few-right.csv", "7,3\n8,4\n"),
    );
    let args = [
        left.path(),
        right.path(),
        "--allocator",
        "all",
        "--backend",
        "host",
        "--json",
    ];
    let one = warpheap(&[&["join"], &args[..]].concat()).json();
    assert_eq!(one["join"]["matches"], 2);
    same_as_one(4, &args, &one);
}

#[test]
fn what_is_wrong_is_told_once() {
    let good = TempFile::new("ranks-good.csv", table(50, 20));
    let bad = TempFile::new("ranks-bad.csv", table(50, 20) + "1,x\n");
    let names = TempFile::new("ranks-names.csv", "key,payload\n");
    let line = format!("{}: the payload `x`", table(50, 20).lines().count() + 1);
    for (file, rank, part) in [
        (bad.path(), 2, &line[..]),
        (names.path(), 0, "has no rows"),
        ("/nonexistent/a.csv", 0, "cannot read /nonexistent/a.csv"),
    ] {
        let args = ["join", good.path(), file, "--backend", "host"];
        if told_once(&args, 2, rank, part).is_none() {
            return;
        }
    }
}

/// On whatever Vulkan device there is, which the ranks share.
#[cfg(feature = "vulkan")]
#[test]
fn ranks_on_vulkan_find_what_the_host_finds() {
    let args = |backend| {
        let sizes = ["--rows", "3000", "--batch", "1000", "--json"];
        [&["--backend", backend], &sizes[..]].concat()
    };
    let host = warpheap(&[&["join"], &args("host")[..]].concat()).json();
    let vulkan = warpheap(&[&["join"], &args("vulkan")[..]].concat());
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!("SKIPPED: joining on Vulkan by ranks: {}", vulkan.err);
        return;
    }
    if let Some(json) = same_as_one(2, &args("vulkan"), &host) {
        assert_eq!(json["device"]["backend"], "vulkan");
    }
}
