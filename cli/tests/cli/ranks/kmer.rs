//! Counting k-mers by several processes.

use super::super::{TempFile, warpheap};
use super::{ranks, sum, told_once};
use serde_json::Value;

/// The JSON of ranks that count what one process counts: all that does not depend on who does it is the same.
fn same_as_one(number: usize, args: &[&str], one: &Value) -> Option<Value> {
    let outcome = ranks(number, &[&["kmer"], args].concat())?;
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let json: Value = serde_json::from_str(&outcome.out).expect("rank 0 alone prints");
    for field in [
        "schema",
        "k",
        "canonical",
        "total",
        "distinct",
        "top",
        "spectrum",
    ] {
        assert_eq!(json[field], one[field], "{field} of {number} ranks");
    }
    for field in ["source", "file", "seed", "records", "bases", "unknown"] {
        assert_eq!(
            json["input"][field], one["input"][field],
            "{field} of {number} ranks"
        );
    }
    Some(json)
}

/// Records of different lengths, one of them a third of all; some letters unknown.
fn records() -> String {
    let mut text = String::new();
    let mut state = 1u32;
    for record in 0..40 {
        text += &format!(">record {record}\n");
        for at in 0..if record == 11 { 9000 } else { 40 * record } {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push(if at % 500 == 499 {
                'N'
            } else {
                char::from(b"ACGT"[(state >> 30) as usize])
            });
            if at % 60 == 59 {
                text.push('\n');
            }
        }
        text.push('\n');
    }
    text
}

#[test]
fn any_number_of_ranks_counts_the_same() {
    let file = TempFile::new("records.fa", records());
    let generated = [
        "--bases", "30000", "--seed", "4", "-k", "31", "--batch", "3000",
    ];
    for (args, most) in [
        (
            &[file.path(), "--canonical", "--top", "50", "--batch", "900"][..],
            4,
        ),
        (&generated, 3),
    ] {
        let args = [args, &["--backend", "host", "--json"]].concat();
        let one = warpheap(&[&["kmer"], &args[..]].concat()).json();
        assert_eq!(one.get("ranks"), None);
        for number in 1..=most {
            let Some(json) = same_as_one(number, &args, &one) else {
                return;
            };
            if number == 1 {
                assert_eq!(json.get("ranks"), None);
                continue;
            }
            assert_eq!(json["ranks"].as_array().map(Vec::len), Some(number));
            assert!(
                json["carrier"]
                    .as_str()
                    .is_some_and(|by| by.starts_with("host memory"))
            );
            for (of_ranks, of_one) in [
                ("bases", &one["input"]["bases"]),
                ("kmers", &one["total"]),
                ("distinct", &one["distinct"]),
            ] {
                assert_eq!(Some(sum(&json, of_ranks)), of_one.as_u64(), "{of_ranks}");
            }
            assert_eq!(
                json["runs"][0]["bytes_entries"],
                one["runs"][0]["bytes_entries"]
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
fn ranks_may_have_nothing_to_do() {
    let file = TempFile::new("one.fa", "\n>one\nACGTA\n");
    let allocators = "Bump,WarpHeap";
    let args = [
        file.path(),
        "-k",
        "3",
        "--canonical",
        "--allocator",
        allocators,
        "--backend",
        "host",
        "--json",
    ];
    let one = warpheap(&[&["kmer"], &args[..]].concat()).json();
    if let Some(json) = same_as_one(4, &args, &one) {
        assert_eq!(json["runs"].as_array().map(Vec::len), Some(2));
        assert_eq!(json["ranks"][3]["bases"], 0);
    }
}

#[test]
fn what_is_wrong_is_told_once() {
    let bad = TempFile::new("bad.fa", format!("{}>last\nAC-GT\n", records()));
    let names = TempFile::new("names.fa", ">x\n>y\n>z\n");
    let short = TempFile::new("short.fa", ">x\nACGT\n>y\nACGT\n");
    let line = format!(
        "{}: column 3: `-` stands for no base",
        records().lines().count() + 2
    );
    for (file, rank, part) in [
        (bad.path(), 2, &line[..]),
        (names.path(), 0, "names.fa has no bases"),
        (short.path(), 0, "there is no 21-mer"),
        ("/nonexistent/a.fa", 0, "cannot read /nonexistent/a.fa"),
    ] {
        let args = ["kmer", file, "--backend", "host"];
        if told_once(&args, 2, rank, part).is_none() {
            return;
        }
    }
}

#[test]
fn a_heap_too_small_is_told_once() {
    let sizes = ["--bases", "60000", "--pool", "128K"];
    let args = [&["kmer", "--backend", "host"], &sizes[..]].concat();
    let _ = told_once(&args, 1, 0, "is too small for");
}

/// On whatever Vulkan device there is, which the ranks share.
#[cfg(feature = "vulkan")]
#[test]
fn ranks_on_vulkan_count_what_the_host_counts() {
    let args = |backend| {
        [
            "--backend",
            backend,
            "--bases",
            "10000",
            "--canonical",
            "--json",
        ]
    };
    let host = warpheap(&[&["kmer"], &args("host")[..]].concat()).json();
    let vulkan = warpheap(&[&["kmer"], &args("vulkan")[..]].concat());
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!(
            "SKIPPED: counting k-mers on Vulkan by ranks: {}",
            vulkan.err
        );
        return;
    }
    if let Some(json) = same_as_one(2, &args("vulkan"), &host) {
        assert_eq!(json["device"]["backend"], "vulkan");
    }
}
