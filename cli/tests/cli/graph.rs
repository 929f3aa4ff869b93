//! The graph job on the host backend.

use super::{TempFile, warpheap, warpheap_with, warpheap_with_input};

const HOST: [&str; 3] = ["graph", "--backend", "host"];

fn host<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&HOST[..], args].concat()
}

#[test]
fn a_small_matrix() {
    // A star: 2, 3 and 4 point to 1, which points nowhere.
    let file = TempFile::new(
        "star.mtx",
        "%%MatrixMarket matrix coordinate real general\n% a star\n4 4 3\n2 1 5\n3 1 5\n4 1 5\n",
    );
    let json = warpheap(&host(&[file.path(), "--json"])).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["device"]["backend"], "host");
    assert_eq!(json["graph"]["source"], "file");
    assert_eq!(json["graph"]["file"], file.path());
    assert_eq!(json["graph"]["vertices"], 4);
    assert_eq!(json["graph"]["edges"], 3);
    assert_eq!(json["graph"]["largest_in_degree"], 3);
    let run = &json["runs"][0];
    assert_eq!(run["iterations"], 20);
    assert_eq!(run["top"][0]["vertex"], 1);
    assert_eq!(run["top"][0]["in_degree"], 3);
    // r = leaf, R = hub: r = b, R = b + 3 * 0.85 * r, b = (0.15 + 0.85 * R) / 4, so R = 3.55 r and
    // r = 1 / 6.55.
    let hub = run["top"][0]["rank"].as_f64().unwrap_or_default();
    assert!((hub - 3.55 / 6.55).abs() < 1e-4, "{hub}");
    let leaf = run["top"][3]["rank"].as_f64().unwrap_or_default();
    assert!((leaf - 1.0 / 6.55).abs() < 1e-4, "{leaf}");
    assert_eq!(run["mallocs"], run["frees"]);
}

#[test]
fn standard_input_and_options() {
    let args = host(&[
        "-",
        "--one-based",
        "--undirected",
        "--simple",
        "--json",
        "--iterations",
        "3",
    ]);
    let json = warpheap_with_input(&args, b"1 2\n2 2\n2 1\n2,3\n").json();
    assert_eq!(json["graph"]["vertices"], 3);
    assert_eq!(json["graph"]["edges"], 4);
    assert_eq!(json["runs"][0]["iterations"], 3);
    assert_eq!(json["runs"][0]["top"][0]["vertex"], 2);
}

#[test]
fn every_allocator_builds_the_same_graph() {
    let json = warpheap(&host(&[
        "--scale",
        "9",
        "--allocator",
        "all",
        "--batch",
        "1000",
        "--json",
    ]))
    .json();
    let runs = json["runs"].as_array().cloned().unwrap_or_default();
    assert!(runs.len() >= 2, "{json}");
    for run in &runs {
        assert_eq!(run["batches"], 9, "8192 edges by 1000");
        assert_eq!(run["top"], runs[0]["top"]);
        assert!(run["mallocs"].as_u64() > Some(0), "{run}");
        let share = run["utilisation"].as_f64().unwrap_or_default();
        assert!(share > 0.0 && share <= 1.0, "{run}");
        let live = run["bytes_live"].as_u64().unwrap_or_default();
        assert!(live >= 4 * 8192, "{run}");
    }
}

#[test]
fn the_seed_decides() {
    let run = |seed| {
        let json = warpheap(&host(&["--scale", "6", "--seed", seed, "--json"])).json();
        json["runs"][0]["top"].clone()
    };
    assert_eq!(run("5"), run("5"));
    assert_ne!(run("5"), run("6"));
}

#[test]
fn a_pool_too_small_says_what_would_do() {
    for allocator in ["Bump", "ScatterAlloc", "WarpHeap"] {
        let args = |pool| {
            host(&[
                "--scale",
                "15",
                "--allocator",
                allocator,
                "--json",
                "--pool",
                pool,
            ])
        };
        let small = if allocator == "Bump" { "512K" } else { "1M" };
        let outcome = warpheap(&args(small));
        outcome.failed(1, &["too small", "--pool ", "free ones are tied"]);
        let advice = outcome.err.split("--pool ").nth(1).unwrap_or_default();
        let bytes: String = advice.chars().take_while(char::is_ascii_digit).collect();
        let json = warpheap(&args(&bytes)).json();
        assert_eq!(json["runs"][0]["pool_bytes"].to_string(), bytes);
    }
}

#[test]
fn a_pipe_gets_no_progress_bar() {
    let outcome = warpheap(&host(&["--scale", "10", "--batch", "256"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert_eq!(outcome.err, "");
    assert!(!outcome.out.contains(['\r', '\x1b']), "{}", outcome.out);
    for part in [
        "mallocs",
        "frees",
        "live",
        "utilisation",
        "insert",
        "in-degree",
    ] {
        assert!(outcome.out.contains(part), "no {part} in: {}", outcome.out);
    }
}

#[test]
fn without_a_command_every_allocator_is_a_row() {
    let outcome = warpheap(&["--backend", "host", "--scale", "8"]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    for name in ["Bump", "ScatterAlloc", "WarpHeap"] {
        let rows = outcome
            .out
            .lines()
            .filter(|line| line.starts_with(name))
            .count();
        assert_eq!(rows, 1, "{}", outcome.out);
    }
}

/// Edges of 3,000 vertices, the last thousand of which no edge leaves. The first rows are as long as a lane adds up at most and around that,
/// with 32 and 32² lanes too, one is a hub's, one is empty. Of the others one of sixteen is long: an order of additions that changes shows in
/// the last bit of few of them alone.
pub(super) fn hub() -> String {
    let lengths = [100_000, 0, 31, 32, 33, 64, 1023, 1024, 1025, 32_769];
    let mut edges = String::new();
    let mut at = 0u32;
    for vertex in 0..3000 {
        let other = match vertex % 16 {
            0 => 33 + vertex % 100,
            _ => vertex % 5,
        };
        let length = lengths.get(vertex).copied().unwrap_or(other);
        for _ in 0..length {
            at += 1;
            // Few of the vertices have many edges that leave them: what they give differs.
            let mixed = u64::from(at.wrapping_mul(2_654_435_761));
            let source = (((mixed * mixed) >> 32) * 2000) >> 32;
            edges += &format!("{source} {vertex}\n");
        }
    }
    edges
}

#[test]
fn long_rows_are_added_up_the_same_at_any_warp_width() {
    let file = TempFile::new("hub.txt", hub());
    let run = |width: &str, seed: &str| {
        let args = host(&[file.path(), "--allocator", "WarpHeap", "--json"]);
        let variables = [("WARPHEAP_WARP_WIDTH", width), ("WARPHEAP_SEED", seed)];
        warpheap_with(&args, b"", &variables).json()["runs"][0].clone()
    };
    let one = run("32", "1");
    assert_eq!(one["top"][0]["in_degree"], 100_000);
    // A neighbour that is left out of the longest row is a difference of 1e-5.
    let error = one["rank_error"].as_f64();
    assert!(error.is_some_and(|error| error < 2e-6), "{error:?}");
    for (width, seed) in [("1", "2"), ("4", "3"), ("8", "4"), ("64", "5")] {
        let other = run(width, seed);
        for field in ["checksum", "top", "rank_error"] {
            assert_eq!(other[field], one[field], "{field} with {width} lanes");
        }
    }
}

/// The first iteration is the last one, too.
#[test]
fn one_iteration() {
    // 0 and 1 get all from each other and one more, 2 and 3 nothing.
    let args = host(&["-", "--iterations", "1", "--json"]);
    let json = warpheap_with_input(&args, b"0 1\n1 0\n2 0\n3 1\n").json();
    for (place, expected) in [(0, 0.4625), (3, 0.0375)] {
        let rank = json["runs"][0]["top"][place]["rank"].as_f64();
        assert!(
            rank.is_some_and(|rank| (rank - expected).abs() < 1e-6),
            "{json}"
        );
    }
}

/// The same job on whatever Vulkan device there is; with allocators whose kernels SwiftShader compiles in
/// seconds, which leaves out Ouroboros over chunks.
#[cfg(feature = "vulkan")]
#[test]
fn vulkan_gives_what_the_host_gives() {
    let run = |backend| {
        let scale = [
            "graph",
            "--allocator",
            "Bump,WarpHeap,ScatterAlloc,Gallatin,SizeList,OuroborosPS",
            "--scale",
            "10",
            "--batch",
            "5000",
            "--json",
        ];
        warpheap(&[&scale[..], &["--backend", backend]].concat())
    };
    let vulkan = run("vulkan");
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!("SKIPPED: the graph job on Vulkan: {}", vulkan.err);
        return;
    }
    let (vulkan, host) = (vulkan.json(), run("host").json());
    assert_eq!(vulkan["device"]["backend"], "vulkan");
    let runs = |json: &serde_json::Value| json["runs"].as_array().cloned().unwrap_or_default();
    let (vulkan, host) = (runs(&vulkan), runs(&host));
    assert!(vulkan.len() >= 3 && vulkan.len() == host.len());
    for (vulkan, host) in vulkan.iter().zip(&host) {
        for field in ["allocator", "batches", "mallocs", "frees", "bytes_live"] {
            assert_eq!(vulkan[field], host[field], "{field}");
        }
        assert_eq!(vulkan["top"][0]["vertex"], host["top"][0]["vertex"]);
    }
}

#[test]
fn a_heap_that_grows_builds_the_same_graph() {
    let run = |more: &[&str]| {
        let args = [
            "--scale",
            "13",
            "--batch",
            "20000",
            "--iterations",
            "3",
            "--json",
        ];
        let json = warpheap(&host(&[&args[..], more].concat())).json();
        json["runs"][0].clone()
    };
    let fixed = run(&[]);
    assert!(fixed["steps"].is_null(), "{fixed}");
    for allocator in ["WarpHeap", "Bump"] {
        let grown = run(&["--allocator", allocator, "--pool", "640K", "--grow", "16M"]);
        let steps = grown["steps"].as_array().cloned().unwrap_or_default();
        let sizes: Vec<_> = steps.iter().map(|step| &step["pool_bytes"]).collect();
        assert!(sizes.len() >= 2 && sizes.last() == Some(&&grown["pool_bytes"]));
        assert!(steps[0]["time_s"].as_f64() > Some(0.0), "{grown}");
        assert_eq!(
            (&grown["top"], &grown["mallocs"]),
            (&fixed["top"], &fixed["mallocs"])
        );
    }
}

#[test]
fn a_heap_that_cannot_grow_says_so() {
    let args = ["--scale", "9", "--pool", "1M", "--grow", "2M"];
    for (more, says) in [
        (&["--allocator", "ScatterAlloc"][..], "cannot grow"),
        (&["--rounds", "2"], "--grow is for a graph that is built"),
    ] {
        warpheap(&host(&[&args[..], more].concat())).failed(2, &[says]);
    }
}

#[test]
fn only_a_graph_that_is_built_goes_unchecked() {
    let outcome = warpheap(&host(&["--scale", "6", "--no-check"]));
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    assert!(
        outcome.out.contains("check     left out"),
        "{}",
        outcome.out
    );
    let refused = warpheap(&host(&["--scale", "6", "--no-check", "--triangles"]));
    refused.failed(2, &["--no-check is for a graph that is built"]);
}
