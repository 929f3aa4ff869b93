//! The graph whose edges come and go.

use super::{TempFile, warpheap, warpheap_with, warpheap_with_input};
use serde_json::Value;

const CHANGING: [&str; 12] = [
    "graph",
    "--scale",
    "9",
    "--rounds",
    "2",
    "--updates",
    "3000",
    "--triangles",
    "--page-rank",
    "--bfs",
    "--components",
    "--json",
];

fn host<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&CHANGING[..], &["--backend", "host"], args].concat()
}

fn runs(json: &Value) -> Vec<Value> {
    json["runs"].as_array().cloned().unwrap_or_default()
}

/// The answers are checked by the program itself; this is about which there are.
#[test]
fn every_allocator_changes_the_graph() {
    let json = warpheap(&host(&["--allocator", "all"])).json();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["graph"]["source"], "rmat");
    assert!(json["triangles"].as_u64() > Some(10_000), "{json}");
    assert!(json["inserted"].as_u64() > Some(5_000), "{json}");
    assert!(
        json["deleted"].as_u64() > json["inserted"].as_u64(),
        "{json}"
    );
    assert_eq!(
        json["rebuild"]["inserts_s"].as_array().map(Vec::len),
        Some(2)
    );
    let phases = |found: &Value| -> Vec<Value> {
        let found = found.as_array().into_iter().flatten();
        found.map(|one| one["after"].clone()).collect()
    };
    let all = ["init", "insert", "delete"];
    assert_eq!(phases(&json["bfs"]["after"]), all);
    assert_eq!(phases(&json["components"]), all);
    let runs = runs(&json);
    assert!(runs.len() >= 16, "{json}");
    let live = |run: &Value| {
        let bytes = |phase: usize| run["footprint"][phase]["bytes_live"].as_u64().unwrap_or(0);
        [0, 1, 2].map(bytes)
    };
    for run in &runs {
        assert_eq!(run["mallocs"], run["frees"], "{run}");
        assert_eq!(run["inserts"].as_array().map(Vec::len), Some(2), "{run}");
        let ranks = run["page_ranks_s"].as_array();
        assert_eq!(ranks.map(Vec::len), Some(3), "{run}");
        let searches = run["bfs"].as_array();
        assert_eq!(searches.map(Vec::len), Some(3), "{run}");
        let components = run["components_s"].as_array();
        assert_eq!(components.map(Vec::len), Some(3), "{run}");
        let [init, grown, shrunk] = live(run);
        assert!(grown > init && shrunk < grown, "{run}");
        assert_eq!(live(run), live(&runs[0]), "{run}");
    }
}

#[test]
fn kinds_and_pressure() {
    for kind in ["rmat", "grid", "mesh", "hub"] {
        for focus in ["3", "100000"] {
            let json = warpheap(&host(&["--kind", kind, "--focus", focus])).json();
            assert_eq!(json["graph"]["source"], kind);
            assert_eq!(json["focus"].to_string(), focus);
        }
    }
    // The cells of a mesh of 32 x 16 vertices, two triangles each.
    let json = warpheap(&host(&["--kind", "mesh"])).json();
    assert_eq!(json["triangles"], 2 * 31 * 15);
}

#[test]
fn any_warp_width_and_schedule() {
    // The row of a hub with so many neighbours is added up in two levels.
    for (width, seed, kind, scale) in [
        ("1", "3", "rmat", "6"),
        ("4", "4", "hub", "11"),
        ("8", "6", "rmat", "6"),
        ("64", "5", "hub", "11"),
    ] {
        let variables = [("WARPHEAP_WARP_WIDTH", width), ("WARPHEAP_SEED", seed)];
        let args = [
            "graph",
            "--kind",
            kind,
            "--scale",
            scale,
            "--edge-factor",
            "4",
            "--rounds",
            "1",
            "--updates",
            "200",
            "--triangles",
            "--page-rank",
            "--bfs",
            "--components",
            "--json",
            "--backend",
            "host",
        ];
        let json = warpheap_with(&args, b"", &variables).json();
        assert_eq!(runs(&json).len(), 1, "{json}");
    }
}

#[test]
fn triangles_of_a_file() {
    // Two triangles that share a side, given in one direction, with a loop.
    let args = ["graph", "-", "--triangles", "--json", "--backend", "host"];
    let json = warpheap_with_input(&args, b"0 1\n1 2\n2 0\n2 3\n3 1\n1 1\n").json();
    assert_eq!(json["triangles"], 2);
    assert_eq!(json["graph"]["edges"], 10);
    assert_eq!(json["inserted"], 0);
}

/// Rows have the vertices with an edge to theirs, so a search goes against the edges; components know no direction.
#[test]
fn searches_and_components_of_a_file() {
    // 9 stands alone but for a loop, 5 and 8 are a component.
    let edges = b"1 0\n2 0\n3 1\n3 2\n4 3\n0 6\n7 6\n5 8\n9 9\n";
    let run = |bfs| {
        let args = ["graph", "-", bfs, "--components", "--json"];
        warpheap_with_input(&[&args[..], &["--backend", "host"]].concat(), edges).json()
    };
    let json = run("--bfs=0");
    let found = |json: &Value, field: &str| json["bfs"]["after"][0][field].clone();
    assert_eq!(json["bfs"]["source"], 0);
    assert_eq!(found(&json, "reached"), 5);
    assert_eq!(found(&json, "depth"), 3);
    assert_eq!(found(&json, "edges"), 5);
    assert_eq!(json["components"][0]["count"], 3);
    assert_eq!(json["components"][0]["largest"], 7);
    // 0 and 6 have two neighbours each.
    assert_eq!(run("--bfs")["bfs"]["source"], 0);
    assert_eq!(found(&run("--bfs=7"), "reached"), 1);
    let one_based = TempFile::new("one.txt", "2 1\n3 2\n");
    let args = [
        "graph",
        one_based.path(),
        "--one-based",
        "--json",
        "--bfs=1",
    ];
    let json = warpheap(&[&args[..], &["--backend", "host"]].concat()).json();
    assert_eq!(json["bfs"]["source"], 1);
    assert_eq!(found(&json, "reached"), 3);
}

/// Parents are a chain at first: nothing is flat because lanes came in a lucky order.
#[test]
fn a_long_path_at_any_width() {
    let edges: String = (0..199).map(|v| format!("{v} {}\n", v + 1)).collect();
    for (width, seed) in [("1", "5"), ("4", "6"), ("8", "7"), ("32", "8"), ("64", "9")] {
        let args = ["graph", "-", "--bfs=199", "--components", "--json"];
        let variables = [("WARPHEAP_WARP_WIDTH", width), ("WARPHEAP_SEED", seed)];
        let args = [&args[..], &["--backend", "host"]].concat();
        let json = warpheap_with(&args, edges.as_bytes(), &variables).json();
        assert_eq!(json["bfs"]["after"][0]["depth"], 199, "{json}");
        assert_eq!(json["components"][0]["largest"], 200, "{json}");
    }
}

/// A hub: one long row.
#[test]
fn people_read_what_was_found() {
    let args = [
        "graph",
        "--backend",
        "host",
        "--kind",
        "hub",
        "--scale",
        "11",
    ];
    let outcome = warpheap(&[&args[..], &["--bfs", "--components"]].concat());
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    for line in [
        "search    from vertex 0\n",
        "after init: 2,048 vertices reached, depth 1, ",
        "components after init: 1, the largest of 2,048 vertices\n",
    ] {
        assert!(outcome.out.contains(line), "no {line} in {}", outcome.out);
    }
}

#[test]
fn a_plot_is_drawn() {
    let file = TempFile::new("rounds.svg", "");
    warpheap(&host(&["--plot", file.path()])).json();
    let svg = std::fs::read_to_string(file.path()).unwrap_or_default();
    for word in ["<svg", "WarpHeap", "rebuilt sparse rows", "round"] {
        assert!(svg.contains(word), "no {word} in {svg}");
    }
}

#[test]
fn mistakes_are_named() {
    // The folder of a plot is looked for before anything else is done.
    let missing = "/nowhere/at/all/plot.svg";
    let first = ["--plot", missing, "--backend", "none"];
    for command in [&["graph", "--rounds", "2"][..], &["join"], &["kmer"]] {
        warpheap(&[command, &first].concat()).failed(2, &[missing, "no folder"]);
    }
    warpheap(&host(&["--kind", "mesh", "--edge-factor", "3"])).failed(2, &["--edge-factor"]);
    warpheap(&host(&["--allocator", "Bump", "--pool", "64K"])).failed(1, &["--pool "]);
    let file = TempFile::new("edges.txt", "0 1\n");
    let with_kind = ["graph", file.path(), "--kind", "grid", "--rounds", "1"];
    warpheap(&with_kind).failed(2, &["--kind", file.path()]);
    let nowhere = ["graph", "--scale", "9", "--bfs=512", "--backend", "host"];
    warpheap(&nowhere).failed(2, &["--bfs 512", "give 0 to 511"]);
    let unused = warpheap(&["graph", "--focus", "3"]);
    assert_eq!(unused.code, Some(2));
    assert!(unused.err.contains("--rounds"), "{}", unused.err);
}

/// The same on whatever Vulkan device there is.
#[cfg(feature = "vulkan")]
#[test]
fn vulkan_counts_what_the_host_counts() {
    let run = |backend| {
        let args = [
            "--backend",
            backend,
            "--allocator",
            "WarpHeap,Bump,ScatterAlloc",
        ];
        warpheap(&[&CHANGING[..], &args].concat())
    };
    let vulkan = run("vulkan");
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if vulkan.code == Some(2) && !required {
        eprintln!("SKIPPED: the changing graph on Vulkan: {}", vulkan.err);
        return;
    }
    let (vulkan, host) = (vulkan.json(), run("host").json());
    assert_eq!(vulkan["device"]["backend"], "vulkan");
    for field in ["triangles", "inserted", "deleted", "bfs", "components"] {
        assert_eq!(vulkan[field], host[field], "{field}");
    }
    for (vulkan, host) in runs(&vulkan).iter().zip(&runs(&host)) {
        for field in ["allocator", "mallocs", "frees"] {
            assert_eq!(vulkan[field], host[field], "{field}");
        }
    }
}
