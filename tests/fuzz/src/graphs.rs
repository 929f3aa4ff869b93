//! Graph files: edge lists and Matrix Market, by one process and by several.

use super::file::{Divided, check_message};
use warpheap_jobs::graph::EdgeList;
use warpheap_jobs::graph::read::{LineError, ReadError, ReadOptions, parse, part};

/// The first byte says how the others are read: whether ids count from 1, whether edges are mirrored, by how many processes.
pub fn run(bytes: &[u8]) {
    let Some(divided) = Divided::new(bytes) else {
        return;
    };
    let (name, bytes) = (&divided.name, divided.bytes);
    let options = ReadOptions {
        one_based: divided.control & 1 != 0,
        undirected: divided.control & 2 != 0,
    };
    let whole = parse(name, bytes, options);
    match &whole {
        Ok(list) => again(list, options.one_based),
        Err(error) => check_message(&error.to_string(), name, bytes),
    }
    let parts = divided.each(|path, number, parts| part(path, options, number, parts));
    let wrong = parts.iter().find_map(|part| part.as_ref().err());
    match (&whole, wrong) {
        (Ok(list), None) => same(list, parts),
        (Ok(_), Some(error)) => panic!("a part of a file that can be read: {error}"),
        // Which part a file that is no graph is for, parts do not know.
        (
            Err(ReadError::Empty { .. } | ReadError::NoEdges { .. } | ReadError::TooSparse { .. }),
            _,
        ) => {}
        (Err(error), None) => panic!("no part says so: {error}"),
        (Err(whole), Some(part)) => same_error(whole, part),
    }
}

/// The parts have all edges in their order.
fn same(whole: &EdgeList, parts: Vec<Result<EdgeList, ReadError>>) {
    let parts: Vec<EdgeList> = parts.into_iter().map(|part| part.expect("it is")).collect();
    let vertices = parts.iter().map(|part| part.vertices).max();
    assert_eq!(vertices, Some(whole.vertices));
    assert!(parts.iter().all(|part| part.base == whole.base));
    let edges: Vec<_> = parts.into_iter().flat_map(|part| part.edges).collect();
    assert_eq!(edges, whole.edges);
}

/// A process that reads all looks at the text first, parts look at theirs.
fn same_error(whole: &ReadError, part: &ReadError) {
    let is_text = |error: &ReadError| {
        let what = LineError::NotUtf8;
        !matches!(error, ReadError::Line { what: found, .. } if *found == what)
    };
    if is_text(whole) && is_text(part) {
        assert_eq!(whole.to_string(), part.to_string());
    }
}

/// What was read is a graph, and is read again from a file of either kind.
fn again(list: &EdgeList, one_based: bool) {
    let inside = |edge: &[u32; 2]| edge.iter().all(|id| *id < list.vertices);
    assert!(!list.edges.is_empty() && list.edges.iter().all(inside));
    let ids = |base: u32| -> String {
        let line = |[source, target]: &[u32; 2]| {
            let [source, target] = [source, target].map(|id| u64::from(*id) + u64::from(base));
            format!("{source} {target}\n")
        };
        list.edges.iter().map(line).collect()
    };
    let (rows, entries) = (list.vertices, list.edges.len());
    let head =
        format!("%%MatrixMarket matrix coordinate pattern general\n{rows} {rows} {entries}\n");
    let matrix = parse("m", (head + &ids(1)).as_bytes(), ReadOptions::default());
    let matrix = matrix.unwrap_or_else(|error| panic!("a matrix of it: {error}"));
    assert_eq!((&matrix.edges, matrix.vertices), (&list.edges, rows));
    let options = ReadOptions {
        one_based,
        undirected: false,
    };
    let edges = parse("e", ids(one_based.into()).as_bytes(), options);
    let edges = edges.unwrap_or_else(|error| panic!("a list of it: {error}"));
    assert_eq!(edges.edges, list.edges);
    assert!(edges.vertices <= rows);
}
