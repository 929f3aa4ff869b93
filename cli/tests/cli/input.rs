//! Graph files that cannot be used: each is named, with the line where one is to blame.

use super::{TempFile, warpheap, warpheap_with_input};

#[track_caller]
fn refused(contents: impl AsRef<[u8]>, parts: &[&str]) {
    let file = TempFile::new("bad.txt", contents);
    let outcome = warpheap(&["graph", file.path(), "--json"]);
    outcome.failed(2, &[&[file.path()], parts].concat());
    assert_eq!(outcome.err.lines().count(), 1, "{}", outcome.err);
}

#[test]
fn empty() {
    refused("", &["empty"]);
}

#[test]
fn only_comments() {
    refused("# nothing\n", &["no edges"]);
}

#[test]
fn malformed_line() {
    refused("0 1\n1 two\n", &[":2: ", "`two`", "`1 two`"]);
}

#[test]
fn id_out_of_range() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 3\n";
    refused(text, &[":3: ", "vertex id 3", "`1 3`"]);
}

#[test]
fn wrong_count() {
    let text = "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n";
    refused(text, &[":2: ", "`2 2 2`"]);
}

#[test]
fn not_text() {
    refused(b"0 1\n\xFF\xFE\n", &[":2: ", "UTF-8"]);
}

#[test]
fn id_beyond_32_bits() {
    refused("0 4294967296\n", &[":1: ", "4294967296"]);
}

#[test]
fn missing() {
    warpheap(&["graph", "/nonexistent/a.mtx"]).failed(2, &["/nonexistent/a.mtx"]);
}

#[test]
fn standard_input() {
    warpheap_with_input(&["graph", "-"], b"0 1\nx\n").failed(2, &["standard input:2: ", "`x`"]);
}
