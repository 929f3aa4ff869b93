//! Counting k-mers on the host backend.

use super::{TempFile, both_devices_are_told, warpheap, warpheap_with, warpheap_with_input};
use serde_json::{Value, json};

fn host<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["kmer", "--backend", "host"], args].concat()
}

/// The most frequent k-mers as `ACG 3, CGT 1`.
fn top(json: &Value) -> String {
    let top = json["top"].as_array().cloned().unwrap_or_default();
    let line = |top: &Value| format!("{} {}", top["kmer"].as_str().unwrap_or("?"), top["count"]);
    top.iter().map(line).collect::<Vec<_>>().join(", ")
}

/// Two sequences, with an unknown letter, small letters, and lines that end in the middle of k-mers.
const TINY: &str = ">one\nACG\nTNNac\n>two\nACG\n\n>three\ngu\n";

#[test]
fn a_tiny_file() {
    let file = TempFile::new("tiny.fa", TINY);
    let json = warpheap(&host(&[file.path(), "--k", "3", "--json"])).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["device"]["backend"], "host");
    assert_eq!(json["input"]["source"], "file");
    assert_eq!(json["input"]["file"], file.path());
    assert_eq!(json["input"]["records"], 3);
    assert_eq!(json["input"]["bases"], 11);
    assert_eq!(json["input"]["unknown"], 2);
    assert_eq!((&json["total"], &json["distinct"]), (&json!(3), &json!(2)));
    assert_eq!(top(&json), "ACG 2, CGT 1");
    let spectrum = json!([{ "count": 1, "kmers": 1 }, { "count": 2, "kmers": 1 }]);
    assert_eq!(json["spectrum"], spectrum);
    assert_eq!(json["runs"][0]["allocator"], "WarpHeap");
    assert_eq!(json["runs"][0]["bytes_entries"], 2 * 12);
}

#[test]
fn both_strands_from_standard_input() {
    let args = host(&["-", "-k", "3", "--canonical", "--json"]);
    let json = warpheap_with_input(&args, TINY.as_bytes()).json();
    assert_eq!(json["canonical"], true);
    assert_eq!(top(&json), "ACG 3");
}

#[test]
fn every_k_at_every_place() {
    // Keys of one word and of two, across words of the packed bases.
    for k in ["1", "2", "15", "16", "17", "30", "31"] {
        for strands in [&[][..], &["--canonical"]] {
            let args = host(&["--k", k, "--bases", "3000", "--batch", "700", "--json"]);
            let json = warpheap(&[&args, strands].concat()).json();
            assert_eq!(json["runs"][0]["batches"], 5, "k {k}");
            assert!(json["total"].as_u64() > Some(1000), "k {k}: {json}");
        }
    }
}

#[test]
fn every_allocator_counts_the_same() {
    let args = [
        "--bases",
        "6000",
        "--k",
        "19",
        "--allocator",
        "all",
        "--json",
    ];
    let json = warpheap(&host(&args)).json();
    let runs = json["runs"].as_array().cloned().unwrap_or_default();
    assert_eq!(runs.len(), 18, "{json}");
    assert_eq!(json["left_out"], json!([]));
    for run in &runs {
        assert_eq!(run["bytes_entries"], runs[0]["bytes_entries"]);
        let share = run["utilisation"].as_f64().unwrap_or_default();
        assert!(share > 0.0 && share <= 1.0, "{run}");
    }
}

#[test]
fn warps_of_any_width_count_the_same() {
    let args = host(&["--bases", "5000", "--canonical", "--json"]);
    let of = |width| warpheap_with(&args, b"", &[("WARPHEAP_WARP_WIDTH", width)]).json();
    let top_of_one = of("1")["top"].clone();
    for width in ["4", "64"] {
        assert_eq!(of(width)["top"], top_of_one, "width {width}");
    }
}

#[test]
fn the_seed_decides() {
    let of = |seed| warpheap(&host(&["--bases", "4000", "--seed", seed, "--json"])).json();
    assert_eq!(of("5")["top"], of("5")["top"]);
    assert_ne!(of("5")["top"], of("6")["top"]);
}

#[test]
fn files_that_are_no_good_are_refused() {
    for (contents, parts) in [
        ("", &["is empty"][..]),
        ("ACGT\n", &[":1: ", "no FASTA file"]),
        ("@read\nACGT\n+\n!!!!\n", &[":1: ", "FASTQ"]),
        (">x\nACGT\nACXGT\n", &[":3: column 3", "`X`"]),
        (">x\n>y\n", &["has no bases"]),
        (">x\nACGNACG\n", &["there is no 21-mer"]),
    ] {
        let file = TempFile::new("bad.fa", contents);
        let outcome = warpheap(&host(&[file.path(), "--json"]));
        outcome.failed(2, parts);
        assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
    }
    warpheap(&host(&["/nonexistent/a.fa"])).failed(2, &["cannot read /nonexistent/a.fa"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let file = TempFile::new("tiny.fa", TINY);
    for args in [
        &["--k", "0"][..],
        &["--k", "32"],
        &["--bases", "0"],
        &["--batch", "0"],
        &[file.path(), "--bases", "9"],
        &[file.path(), "--seed", "9"],
    ] {
        warpheap(&host(args)).failed(2, &[]);
    }
    warpheap(&host(&["--allocator", "magic"])).failed(2, &["magic", "WarpHeap"]);
}

#[test]
fn a_pool_too_small_says_what_would_do() {
    for allocator in ["Bump", "ScatterAlloc", "WarpHeap"] {
        let args = |pool| {
            let args = [
                "--bases",
                "300000",
                "--allocator",
                allocator,
                "--json",
                "--pool",
                pool,
            ];
            host(&args)
        };
        let outcome = warpheap(&args("512K"));
        outcome.failed(1, &["too small", "--pool "]);
        let advice = outcome.err.split("--pool ").nth(1).unwrap_or_default();
        let bytes: String = advice.chars().take_while(char::is_ascii_digit).collect();
        let json = warpheap(&args(&bytes)).json();
        assert_eq!(json["runs"][0]["pool_bytes"].to_string(), bytes);
    }
    warpheap(&host(&["--pool", "64"])).failed(2, &["--pool 64", "would do"]);
}

#[test]
fn the_spectrum_is_drawn() {
    let file = TempFile::new("spectrum.svg", "");
    let outcome = warpheap(&host(&["--bases", "20000", "--plot", file.path()]));
    assert_eq!((outcome.code, &outcome.err[..]), (Some(0), ""));
    assert!(!outcome.out.contains(['\r', '\x1b']), "{}", outcome.out);
    for part in [
        "Mkmers/s",
        "utilisation",
        "as the CPU counts",
        "different ones",
    ] {
        assert!(outcome.out.contains(part), "no {part} in: {}", outcome.out);
    }
    let svg = std::fs::read_to_string(file.path()).expect("the plot is there");
    assert!(svg.starts_with("<svg") && svg.contains("21-mers"), "{svg}");
}

/// The same on whatever Vulkan device there is.
#[cfg(feature = "vulkan")]
#[test]
fn vulkan_gives_what_the_host_gives() {
    let run = |backend| {
        let args = [
            "--bases",
            "30000",
            "--canonical",
            "--allocator",
            "WarpHeap,Bump",
            "--json",
        ];
        warpheap(&[&["kmer", "--backend", backend], &args[..]].concat())
    };
    let vulkan = run("vulkan");
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!("SKIPPED: counting k-mers on Vulkan: {}", vulkan.err);
        return;
    }
    let (vulkan, host) = (vulkan.json(), run("host").json());
    assert_eq!(vulkan["device"]["backend"], "vulkan");
    for field in ["top", "spectrum", "total"] {
        assert_eq!(vulkan[field], host[field], "{field}");
    }
}

/// What devices do not change in a report.
fn counts(json: &Value) -> [Value; 5] {
    ["input", "total", "distinct", "top", "spectrum"].map(|name| {
        let mut value = json[name].clone();
        if let Some(input) = value.as_object_mut() {
            input.remove("load_s");
        }
        value
    })
}

#[test]
fn several_devices_count_what_one_counts() {
    for (devices, bases, k) in [("2", "20000", "21"), ("3", "5000", "2"), ("2", "30", "5")] {
        let args = [
            "--bases",
            bases,
            "--k",
            k,
            "--canonical",
            "--batch",
            "4000",
            "--json",
        ];
        let one = warpheap(&host(&args)).json();
        let variables = [("WARPHEAP_HOST_DEVICES", devices)];
        let args = host(&[&args[..], &["--device", "all"]].concat());
        let all = warpheap_with(&args, b"", &variables).json();
        assert_eq!(counts(&one), counts(&all), "{devices} devices, k {k}");
        let run = &all["runs"][0];
        let parts = run["parts"].as_array().cloned().unwrap_or_default();
        let sum = |name: &str| {
            parts
                .iter()
                .filter_map(|part| part[name].as_u64())
                .sum::<u64>()
        };
        assert_eq!(Some(sum("kmers")), all["total"].as_u64());
        assert_eq!(Some(sum("batches")), run["batches"].as_u64());
        let places = one["input"]["bases"]
            .as_u64()
            .map(|bases| bases + 1 - k.parse::<u64>().unwrap_or(0));
        assert_eq!(Some(sum("places")), places);
        // Of 26 places none is left for the second one.
        let working = if bases == "30" {
            1
        } else {
            devices.parse().unwrap_or(0)
        };
        assert_eq!(parts.len(), working, "{run}");
        assert!(
            one["runs"][0]["parts"].is_null() && one["devices"].is_null(),
            "{one}"
        );
    }
}

#[test]
fn all_devices_may_be_one_and_have_a_row_each() {
    let args = host(&["--bases", "3000", "--device", "all"]);
    both_devices_are_told(&args, &["merge     "]);
}

#[test]
fn all_devices_are_for_one_heap_each() {
    let two = [("WARPHEAP_HOST_DEVICES", "2")];
    let map = host(&["--bases", "3000", "--device", "all", "--heap-map", "-"]);
    warpheap_with(&map, b"", &two).failed(2, &["--heap-map shows one heap"]);
    for job in ["graph", "soak", "bench"] {
        let args = [job, "--backend", "host", "--device", "all"];
        let parts = ["--device=all is not possible", "`warpheap kmer`"];
        warpheap_with(&args, b"", &two).failed(2, &parts);
    }
    let small = host(&["--bases", "30000", "--device", "all", "--pool", "128K"]);
    // Both are called the same.
    warpheap_with(&small, b"", &two).failed(1, &["error: device 0 (emulator", "too small"]);
    for wrong in ["0", "65", "two"] {
        let variables = [("WARPHEAP_HOST_DEVICES", wrong)];
        let want =
            format!("WARPHEAP_HOST_DEVICES={wrong} is not possible: give a number of devices");
        warpheap_with(&host(&[]), b"", &variables).failed(2, &[&want]);
    }
}

#[test]
fn what_nobody_checks_is_reported_from_the_map() {
    let args = host(&[
        "--bases",
        "5000",
        "--canonical",
        "--allocator",
        "WarpHeap,Bump",
        "--json",
    ]);
    let checked = warpheap(&args).json();
    let unchecked = warpheap(&[&args[..], &["--no-check"]].concat()).json();
    assert_eq!(
        (&checked["checked"], &unchecked["checked"]),
        (&true.into(), &false.into())
    );
    for field in ["total", "distinct", "top", "spectrum"] {
        assert_eq!(checked[field], unchecked[field], "{field}");
    }
}
