//! Options and files that cannot be used.

use super::super::{TempFile, warpheap};
use super::host;

#[test]
fn wrong_options_are_refused() {
    for (args, parts) in [
        (
            &["--page", "48"][..],
            &["`48`", "power of two from 32 to 2048"][..],
        ),
        (&["--page", "4K"], &["`4K`", "2048"]),
        (&["--rows", "0"], &["`0`", "10M"]),
        (&["--rows", "many"], &["`many`"]),
        (
            &["--rows", "5", "--matches", "6"],
            &["--matches 6", "has 5"],
        ),
        (
            &["--rows", "1M", "--matches", "1000"],
            &["1048576000 matches", "fewer rows"],
        ),
        (&["--skew", "101"], &["101"]),
        (&["--repeats", "0"], &["0"]),
        (&["--per-lane", "0"], &["0"]),
        (
            &["--allocator", "magic"],
            &["`magic`", "WarpHeap", "DirectOutput"],
        ),
        (&["left.csv"], &["RIGHT"]),
        (&["a.csv", "b.csv", "--rows", "5"], &["--rows"]),
        (&["a.csv", "b.csv", "--seed", "5"], &["--seed"]),
        (&["--loud"], &["--loud"]),
    ] {
        warpheap(&host(args)).failed(2, parts);
    }
    warpheap(&["join", "--backend", "abacus"]).failed(2, &["abacus", "host"]);
}

#[test]
fn bad_files_are_named() {
    let good = TempFile::new("good.csv", "1,2\n");
    for (contents, parts) in [
        ("", &["is empty"][..]),
        ("key,payload\n", &["no rows"]),
        ("1,2\n3,x\n", &[":2: ", "payload `x`"]),
        (
            "1,2\n3\n",
            &[":2: ", "two columns, `key,payload`, and found 1"],
        ),
        (
            "1,2,3\n",
            &[":1: ", "two columns, `key,payload`, and found 3"],
        ),
        ("4294967296,1\n", &[":1: ", "4294967296 is too large"]),
    ] {
        let bad = TempFile::new("bad.csv", contents);
        for [left, right] in [[bad.path(), good.path()], [good.path(), bad.path()]] {
            let outcome = warpheap(&host(&[left, right, "--json"]));
            outcome.failed(2, &[&[bad.path()], parts].concat());
            assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
        }
    }
    let missing = [good.path(), "/nonexistent/b.csv"];
    warpheap(&host(&missing)).failed(2, &["cannot read /nonexistent/b.csv"]);
}
