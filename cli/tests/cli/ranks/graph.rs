//! A graph in parts, by several processes.

use super::super::graph::hub;
use super::super::{TempFile, warpheap};
use super::{ranks, sum, told_once};
use serde_json::Value;

/// The JSON of ranks that find what one process finds: all that does not depend on who does it is the same, bit by bit.
fn same_as_one(number: usize, args: &[&str], one: &Value) -> Option<Value> {
    let outcome = ranks(number, &[&["graph"], args].concat())?;
    assert_eq!(outcome.code, Some(0), "{}", outcome.err);
    let json: Value = serde_json::from_str(&outcome.out).expect("rank 0 alone prints");
    for field in [
        "source",
        "file",
        "scale",
        "seed",
        "edge_factor",
        "vertices",
        "edges",
        "largest_in_degree",
    ] {
        assert_eq!(
            json["graph"][field], one["graph"][field],
            "{field} of {number} ranks"
        );
    }
    let runs = one["runs"].as_array().map_or(0, Vec::len);
    assert_eq!(json["runs"].as_array().map(Vec::len), Some(runs));
    for run in 0..runs {
        for field in [
            "allocator",
            "checksum",
            "top",
            "iterations",
            "mallocs",
            "frees",
            "bytes_live",
        ] {
            assert_eq!(
                json["runs"][run][field], one["runs"][run][field],
                "{field} of {number} ranks"
            );
        }
    }
    if number > 1 {
        assert_eq!(json["ranks"].as_array().map(Vec::len), Some(number));
        for field in ["vertices", "edges"] {
            assert_eq!(Some(sum(&json, field)), one["graph"][field].as_u64());
        }
    }
    Some(json)
}

/// An edge list with gaps, loops and duplicates, and comments among its lines.
fn edges() -> String {
    let mut text = String::from("\u{FEFF}# from to\r\n");
    for line in 0..900u32 {
        let end = |factor: u32| (line.wrapping_mul(factor) >> 9) % 301;
        text += &format!("{} {}\n", end(2_654_435_761), end(40_503) / 7);
        if line % 50 == 0 {
            text += "\n% half time\n3 3 0.25\n3,3\n";
        }
    }
    text
}

/// A symmetric matrix: each entry off the diagonal is two edges.
fn matrix() -> String {
    let mut text =
        String::from("%%MatrixMarket matrix coordinate pattern symmetric\n120 120 119\n");
    for row in 2..=120 {
        text += &format!("{row} {}\n", row / 3 + 1);
    }
    text
}

#[test]
fn any_number_of_ranks_ranks_the_same() {
    let (list, matrix) = (
        TempFile::new("ranks-edges.txt", edges()),
        TempFile::new("ranks-graph.mtx", matrix()),
    );
    let hub = TempFile::new("ranks-hub.txt", hub());
    for (args, numbers) in [
        (&[list.path(), "--batch", "100"][..], &[1, 2, 3, 4][..]),
        (&[list.path(), "--simple", "--undirected"], &[2, 3]),
        (&[matrix.path()], &[3]),
        (&[hub.path()], &[2, 3]),
        (&["--scale", "9", "--batch", "1000"], &[1, 2, 3, 4]),
        (&["--scale", "8", "--simple", "--seed", "5"], &[3]),
        (
            &["--kind", "hub", "--scale", "7", "--edge-factor", "4"],
            &[3],
        ),
        (&["--kind", "grid", "--scale", "7"], &[2]),
        (&["--kind", "mesh", "--scale", "6"], &[3]),
    ] {
        let common = [
            "--allocator",
            "WarpHeap,Bump",
            "--backend",
            "host",
            "--json",
        ];
        let args = [args, &common].concat();
        let one = warpheap(&[&["graph"], &args[..]].concat()).json();
        assert_eq!(
            (one.get("ranks"), &one["checked"]),
            (None, &Value::Bool(true))
        );
        for number in numbers {
            let Some(json) = same_as_one(*number, &args, &one) else {
                return;
            };
            if *number > 1 {
                let error = json["runs"][0]["rank_error"].as_f64();
                assert!(error.is_some_and(|error| error < 1e-4), "{error:?}");
                assert!(sum(&json, "bytes_sent") > 0 && sum(&json, "bytes_gathered") > 0);
            }
        }
        // What nobody checks is the same, too.
        let args = [&args[..], &["--no-check"]].concat();
        for json in [
            Some(warpheap(&[&["graph"], &args[..]].concat()).json()),
            same_as_one(2, &args, &one),
        ] {
            let json = json.unwrap_or_default();
            assert_eq!(json["checked"], false, "{json}");
            assert_eq!(json["runs"][0]["checksum"], one["runs"][0]["checksum"]);
            assert_eq!(json["runs"][0].get("rank_error"), None);
        }
    }
}

#[test]
fn ranks_may_have_nothing_to_do() {
    // Three vertices; all edges enter one of them, and one rank reads none.
    let file = TempFile::new("ranks-few.txt", "0 2\n1 2\n0 2\n");
    let args = [
        file.path(),
        "--allocator",
        "all",
        "--backend",
        "host",
        "--json",
    ];
    let one = warpheap(&[&["graph"], &args[..]].concat()).json();
    let Some(json) = same_as_one(4, &args, &one) else {
        return;
    };
    let ranks = json["ranks"].as_array().cloned().unwrap_or_default();
    for field in ["vertices", "edges", "edges_read"] {
        assert!(ranks.iter().any(|rank| rank[field] == 0), "{field}: {json}");
    }
}

#[test]
fn heaps_of_ranks_grow_by_themselves() {
    let sizes = ["--pool", "640K", "--grow", "16M", "--batch", "20000"];
    let args = [
        &[
            "--scale",
            "13",
            "--iterations",
            "2",
            "--backend",
            "host",
            "--json",
        ],
        &sizes[..],
    ];
    let args = args.concat();
    let one = warpheap(&[&["graph"], &args[..]].concat()).json();
    let Some(json) = same_as_one(2, &args, &one) else {
        return;
    };
    assert!(json["runs"][0]["steps"].is_null());
    for rank in json["ranks"].as_array().cloned().unwrap_or_default() {
        let steps = rank["runs"][0]["steps"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let last = steps.last().map(|step| &step["pool_bytes"]);
        assert_eq!(last, Some(&rank["runs"][0]["pool_bytes"]), "{rank}");
    }
}

#[test]
fn what_is_wrong_is_told_once() {
    let bad = TempFile::new("ranks-bad.txt", edges() + "1 x\n");
    let loops = TempFile::new("ranks-loops.txt", "0 0\n5 5\n");
    let none = TempFile::new("ranks-none.txt", "# nobody\n# knows\n# nobody\n");
    let line = format!("{}: `x` is no vertex id", edges().lines().count() + 1);
    for (args, rank, part) in [
        (&[bad.path()][..], 2, &line[..]),
        (&[loops.path(), "--simple"], 0, "--simple leaves no edge"),
        (&[none.path()], 0, "has no edges"),
        (&["/nonexistent/a.txt"], 0, "cannot read /nonexistent/a.txt"),
        (
            &["--rounds", "3"],
            0,
            "a job of several processes is for a graph that is built",
        ),
        (
            &["--allocator", "magic"],
            0,
            "there is no allocator `magic`",
        ),
    ] {
        let args = [&["graph", "--backend", "host"], args].concat();
        if told_once(&args, 2, rank, part).is_none() {
            return;
        }
    }
}

#[test]
fn a_heap_too_small_is_told_once() {
    // Of all ranks, and of that of the one vertex that has nearly all edges: the others wait to rank with it.
    let star: String = (1..20_000).map(|leaf| format!("{leaf} 0\n")).collect();
    let star = TempFile::new("ranks-star.txt", star);
    for (args, rank) in [
        (&["--scale", "12"][..], 0),
        (&[star.path(), "--no-check"], 0),
    ] {
        let args = [&["graph", "--backend", "host", "--pool", "128K"], args].concat();
        if told_once(&args, 1, rank, "is too small for this graph").is_none() {
            return;
        }
    }
}

/// On whatever Vulkan device there is, which the ranks share.
#[cfg(feature = "vulkan")]
#[test]
fn ranks_on_vulkan_rank_what_one_process_ranks() {
    let args = ["--backend", "vulkan", "--scale", "9", "--json"];
    let one = warpheap(&[&["graph"], &args[..]].concat());
    let required = std::env::var_os("WARPHEAP_REQUIRE_VULKAN").is_some_and(|v| v == "1");
    if one.code == Some(2) && !required {
        eprintln!("SKIPPED: a graph in parts on Vulkan: {}", one.err);
        return;
    }
    if let Some(json) = same_as_one(2, &args, &one.json()) {
        assert_eq!(json["device"]["backend"], "vulkan");
    }
}
