//! The main jobs in the emulator's model of memory: no two lanes' accesses race.

use super::warpheap_with;

/// Runs a job on the host with all allocators, with warps of one, four and 32 lanes.
#[track_caller]
fn clean(job: &[&str]) {
    let args = [job, &["--backend", "host", "--allocator", "all", "--json"]].concat();
    for (width, seed) in [("1", "11"), ("4", "12"), ("32", "13")] {
        let variables = [
            ("WARPHEAP_WARP_WIDTH", width),
            ("WARPHEAP_SEED", seed),
            ("WARPHEAP_RACES", "1"),
        ];
        let outcome = warpheap_with(&args, b"", &variables);
        assert_eq!(outcome.code, Some(0), "width {width}: {}", outcome.err);
    }
}

#[test]
fn a_graph_that_changes() {
    clean(&[
        "graph",
        "--scale",
        "5",
        "--edge-factor",
        "4",
        "--rounds",
        "1",
        "--updates",
        "100",
        "--triangles",
        "--bfs",
        "--components",
    ]);
}

#[test]
fn a_join() {
    clean(&[
        "join",
        "--rows",
        "200",
        "--matches",
        "60",
        "--rows-right",
        "50",
    ]);
}

#[test]
fn counted_kmers() {
    clean(&["kmer", "--bases", "400", "--k", "7", "--batch", "300"]);
}
