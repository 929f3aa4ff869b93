//! The hash join on the host backend.

mod devices;
mod input;

use super::{TempFile, warpheap, warpheap_with};
use serde_json::Value;

fn host<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["join", "--backend", "host"], args].concat()
}

fn runs(json: &Value) -> Vec<Value> {
    json["runs"].as_array().cloned().unwrap_or_default()
}

#[test]
fn two_small_files() {
    let left = TempFile::new("left.csv", "key,payload\n7,1\n3,2\n7,3\n9,4\n");
    let right = TempFile::new("right.csv", "7,10\n8,11\n3,12\n7,13\n");
    let args = [
        left.path(),
        right.path(),
        "--json",
        "--allocator",
        "WarpHeap",
        "--page",
        "32",
    ];
    let json = warpheap(&host(&args)).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["device"]["backend"], "host");
    let join = &json["join"];
    assert_eq!(join["source"], "files");
    assert_eq!(join["left"], left.path());
    assert_eq!(
        (&join["rows_left"], &join["rows_right"]),
        (&4.into(), &4.into())
    );
    assert_eq!(join["matches"], 5, "two rows of 7 twice, one of 3");
    let run = &runs(&json)[0];
    // One lane, three matches to a page of 32 bytes.
    assert_eq!((&join["lanes"], &run["pages"]), (&1.into(), &2.into()));
    assert_eq!(
        (&run["match_bytes"], &run["bytes_of_pages"]),
        (&40.into(), &64.into())
    );
    assert_eq!(run["utilisation"], 0.625);
}

#[test]
fn every_allocator_finds_the_same() {
    for page in ["32", "2K"] {
        let rows = ["--rows", "3000", "--rows-right", "5000", "--matches", "2"];
        let more = [
            "--page",
            page,
            "--allocator",
            "all",
            "--repeats",
            "2",
            "--json",
        ];
        let json = warpheap(&host(&[&rows[..], &more].concat())).json();
        assert_eq!(json["join"]["matches"], 10_000);
        let runs = runs(&json);
        assert_eq!(runs.len(), 18, "{json}");
        for run in &runs {
            // Which lane finds what differs, but each right row finds two.
            assert_eq!(run["pages"], runs[0]["pages"], "{run}");
            assert!(run["probe_s"].as_f64() > Some(0.0), "{run}");
            assert!(run["probe_mtuples_per_s"].as_f64() > Some(0.0), "{run}");
        }
    }
}

#[test]
fn one_key_with_many_matches() {
    let rows = [
        "--rows",
        "2048",
        "--matches",
        "1024",
        "--skew",
        "50",
        "--rows-right",
        "300",
    ];
    let more = ["--per-lane", "7", "--json"];
    let json = warpheap(&host(&[&rows[..], &more].concat())).json();
    assert_eq!(json["join"]["matches"], 300 * 1024);
    assert_eq!(json["join"]["skew_percent"], 50);
    let runs = runs(&json);
    assert_eq!(runs.len(), 7, "those that someone gets who names none");
    for run in runs {
        assert!(run["utilisation"].as_f64() > Some(0.9), "{run}");
    }
}

#[test]
fn nothing_to_find_takes_no_page() {
    let json = warpheap(&host(&["--rows", "500", "--matches", "0", "--json"])).json();
    assert_eq!(json["join"]["matches"], 0);
    for run in runs(&json) {
        assert_eq!(
            (&run["pages"], &run["utilisation"]),
            (&0.into(), &0.0.into())
        );
    }
}

#[test]
fn a_table_and_a_plot() {
    let file = TempFile::new("join.svg", "");
    let args = [
        "--rows",
        "2000",
        "--allocator",
        "Bump,Gallatin",
        "--plot",
        file.path(),
    ];
    let outcome = warpheap(&host(&args));
    assert_eq!((outcome.code, &outcome.err[..]), (Some(0), ""));
    for part in ["2,000 x 2,000 rows", "utilisation", "probe", "Mtuples/s"] {
        assert!(outcome.out.contains(part), "no {part} in: {}", outcome.out);
    }
    let svg = std::fs::read_to_string(file.path()).unwrap_or_default();
    assert!(
        svg.starts_with("<svg ") && svg.ends_with("</svg>\n"),
        "{svg}"
    );
    assert!(svg.contains("Bump") && svg.contains("Gallatin"), "{svg}");
}

#[test]
fn a_pool_too_small_says_what_would_do() {
    for allocator in [
        "DirectOutput",
        "RandomWalkBitmap",
        "ScatterAlloc",
        "WarpHeap",
    ] {
        let rows = [
            "--rows",
            "40000",
            "--per-lane",
            "4",
            "--page",
            "256",
            "--json",
        ];
        let args = |pool| host(&[&rows[..], &["--allocator", allocator, "--pool", pool]].concat());
        let outcome = warpheap(&args("1M"));
        outcome.failed(1, &[allocator, "too small", "--pool "]);
        let advice = outcome.err.split("--pool ").nth(1).unwrap_or_default();
        let bytes: String = advice.chars().take_while(char::is_ascii_digit).collect();
        let json = warpheap(&args(&bytes)).json();
        assert_eq!(json["runs"][0]["pool_bytes"].to_string(), bytes);
    }
    let rows = ["--rows", "9", "--allocator", "WarpHeap", "--pool"];
    let with = |pool| host(&[&rows[..], &[pool]].concat());
    warpheap(&with("100")).failed(2, &["--pool 100", "for this join --pool "]);
    warpheap(&with("65GiB")).failed(2, &["64 GiB"]);
}

#[test]
fn narrow_and_wide_warps_find_the_same() {
    let args = host(&[
        "--rows",
        "699",
        "--rows-right",
        "700",
        "--matches",
        "3",
        "--skew",
        "20",
        "--page",
        "64",
        "--json",
    ]);
    for width in ["1", "4", "64"] {
        let json = warpheap_with(&args, b"", &[("WARPHEAP_WARP_WIDTH", width)]).json();
        assert_eq!(json["join"]["matches"], 2100);
        assert_eq!(json["device"]["warp_width"].to_string(), width);
    }
}

#[test]
fn explored_schedules_find_the_same() {
    // Few keys: many rows of both tables want the same words.
    let rows = ["--rows", "300", "--matches", "100", "--rows-right", "70"];
    let more = ["--page", "32", "--per-lane", "2", "--json"];
    let args = host(&[&rows[..], &more].concat());
    for seed in ["1", "2", "3", "4"] {
        let json = warpheap_with(&args, b"", &[("WARPHEAP_SEED", seed)]).json();
        assert_eq!(json["join"]["matches"], 7000);
    }
}

#[test]
fn help_names_every_option() {
    let help = warpheap(&["join", "--help"]);
    assert_eq!(help.code, Some(0));
    for option in [
        "[LEFT]",
        "[RIGHT]",
        "--rows ",
        "--rows-right",
        "--matches",
        "--skew",
        "--seed",
        "--page",
        "--per-lane",
        "--repeats",
        "--allocator",
        "--backend",
        "--device",
        "--pool",
        "--json",
        "--plot",
    ] {
        assert!(help.out.contains(option), "no {option} in: {}", help.out);
    }
}

/// The same join on whatever Vulkan device there is; with allocators whose kernels SwiftShader compiles in
/// seconds.
#[cfg(feature = "vulkan")]
#[test]
fn vulkan_gives_what_the_host_gives() {
    let run = |backend| {
        let rows = [
            "join",
            "--rows",
            "3000",
            "--matches",
            "2",
            "--skew",
            "10",
            "--json",
        ];
        let allocators = "DirectOutput,RandomWalkBitmap,CollaborativeWalk,WarpHeap";
        let more = [
            "--repeats",
            "2",
            "--allocator",
            allocators,
            "--backend",
            backend,
        ];
        warpheap(&[&rows[..], &more].concat())
    };
    let vulkan = run("vulkan");
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!("SKIPPED: the join on Vulkan: {}", vulkan.err);
        return;
    }
    let (vulkan, host) = (vulkan.json(), run("host").json());
    assert_eq!(vulkan["device"]["backend"], "vulkan");
    let (vulkan, host) = (runs(&vulkan), runs(&host));
    assert!(vulkan.len() == 4 && host.len() == 4);
    for (vulkan, host) in vulkan.iter().zip(&host) {
        for field in ["allocator", "pages", "match_bytes", "utilisation"] {
            assert_eq!(vulkan[field], host[field], "{field}");
        }
    }
}
