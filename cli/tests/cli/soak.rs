//! `warpheap soak`.

use super::{warpheap, warpheap_with};

/// A run on the host with these options.
fn soak<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let small = [
        "soak",
        "--backend",
        "host",
        "--pool",
        "16M",
        "--lanes",
        "64",
    ];
    [&small[..], more].concat()
}

#[test]
fn a_short_run_with_two_allocators_is_right() {
    let outcome = warpheap(&soak(&[
        "--rounds",
        "40",
        "--allocator",
        "warpheap,ScatterAlloc",
    ]));
    assert_eq!(outcome.code, Some(0), "{}\n{}", outcome.out, outcome.err);
    assert!(
        outcome.out.starts_with("device    host: "),
        "{}",
        outcome.out
    );
    let rows = |name: &str| {
        outcome
            .out
            .lines()
            .filter(|line| line.starts_with(name))
            .count()
    };
    assert_eq!(
        (rows("WarpHeap  "), rows("ScatterAlloc  ")),
        (1, 1),
        "{}",
        outcome.out
    );
}

#[test]
fn a_run_ends_with_its_time_and_tells_json() {
    // Less than a heap takes to be laid out: each is worked all the same.
    let args = soak(&[
        "--seconds",
        "1e-6",
        "--allocator",
        "WarpHeap,Bump",
        "--json",
    ]);
    let report = warpheap(&args).json();
    let fields = ["backend", "seed", "lanes", "fill", "pool_bytes"].map(|name| &report[name]);
    let expected: [serde_json::Value; 5] = [
        "host".into(),
        1.into(),
        64.into(),
        80.into(),
        (16 << 20).into(),
    ];
    assert!(fields.into_iter().eq(expected.iter()), "{report}");
    assert!(report["fault"].is_null(), "{report}");
    let rows = report["rows"].as_array().expect("rows");
    let names: Vec<_> = rows.iter().map(|row| row["allocator"].as_str()).collect();
    assert_eq!(names, [Some("Bump"), Some("WarpHeap")]);
    for row in rows {
        assert!(row["operations"].as_u64() > Some(0), "{report}");
    }
}

/// What a seed does it does again, as far as the schedule of the emulator is the same: not where launches run beside each other, since a
/// stream has a thread of its own.
#[test]
fn a_seed_repeats_its_run() {
    let run = |seed: &str| {
        let args = soak(&["--rounds", "30", "--one-launch", "--seed", seed, "--json"]);
        let one = [("WARPHEAP_THREADS", "1"), ("WARPHEAP_WARP_WIDTH", "8")];
        let report = warpheap_with(&args, b"", &one).json();
        let row = &report["rows"][0];
        ["operations", "launches", "failed"].map(|name| row[name].as_u64())
    };
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
}

#[test]
fn wrong_options_are_refused() {
    for (more, parts) in [
        (&["--seconds", "0"][..], &["`0` is no time"][..]),
        (&["--seconds", "1", "--hours", "1"], &["--hours"]),
        (&["--pool", "1M"], &["`1M` is too small", "16M"]),
        (&["--fill", "101"], &["101"]),
        (&["--lanes", "0"], &["0"]),
        (
            &["--allocator", "Nothing"],
            &["`Nothing`", "WarpHeap", "Gallatin"],
        ),
        (&["--backend", "abacus"], &["abacus", "host"]),
        (
            &["--pool", "100G", "--backend", "host"],
            &["--pool", "64 GiB"],
        ),
    ] {
        warpheap(&[&["soak"], more].concat()).failed(2, parts);
    }
}

#[cfg(feature = "vulkan")]
#[test]
fn vulkan_is_right_too() {
    let args = [
        "soak",
        "--backend",
        "vulkan",
        "--pool",
        "16M",
        "--lanes",
        "64",
        "--rounds",
        "12",
    ];
    let outcome = warpheap(&args);
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if outcome.code == Some(2) && !required {
        eprintln!("SKIPPED: a long run on Vulkan: {}", outcome.err);
        return;
    }
    assert_eq!(outcome.code, Some(0), "{}\n{}", outcome.out, outcome.err);
    assert!(outcome.out.contains("\nWarpHeap "), "{}", outcome.out);
}
