//! Graph files, good and bad.

use super::*;

const ZERO: ReadOptions = ReadOptions {
    one_based: false,
    undirected: false,
};

fn good(text: &str) -> EdgeList {
    good_with(text, ZERO)
}

fn good_with(text: &str, options: ReadOptions) -> EdgeList {
    match parse("g", text.as_bytes(), options) {
        Ok(graph) => graph,
        Err(error) => panic!("{error}\n{text}"),
    }
}

fn bad(bytes: impl AsRef<[u8]>, message: &str) {
    bad_with(bytes, ZERO, message);
}

#[track_caller]
fn bad_with(bytes: impl AsRef<[u8]>, options: ReadOptions, message: &str) {
    match parse("g", bytes.as_ref(), options) {
        Ok(graph) => panic!("was read as {graph:?}"),
        Err(error) => assert_eq!(error.to_string(), message),
    }
}

#[test]
fn edge_list_from_zero() {
    let graph = good("# made by hand\n% both signs\n\n0 1\n 2\t1 0.5 1999\r\n3,0,7\n1 1\n0 1");
    assert_eq!(graph.vertices, 4);
    assert_eq!(graph.edges, [[0, 1], [2, 1], [3, 0], [1, 1], [0, 1]]);
    assert_eq!(graph.base, 0);
}

#[test]
fn edge_list_from_one_and_undirected() {
    let options = ReadOptions {
        one_based: true,
        undirected: true,
    };
    let graph = good_with("1 2\n3 3\n", options);
    assert_eq!(graph.vertices, 3);
    assert_eq!(graph.edges, [[0, 1], [1, 0], [2, 2]]);
    assert_eq!(graph.base, 1);
}

#[test]
fn byte_order_mark_is_skipped() {
    assert_eq!(good("\u{FEFF}0 1\n").edges, [[0, 1]]);
}

#[test]
fn matrix_market_general() {
    for field in ["pattern", "real", "integer", "complex"] {
        let text = format!(
            "%%MatrixMarket matrix coordinate {field} general\n% comment\n\n3 3 3\n1 2 0.5 1\n3 1 1 1\n\n2 2 9\n"
        );
        let graph = good(&text);
        assert_eq!(graph.vertices, 3);
        assert_eq!(graph.edges, [[0, 1], [2, 0], [1, 1]]);
        assert_eq!(graph.base, 1);
    }
}

#[test]
fn symmetric_kinds_are_mirrored_off_the_diagonal() {
    for kind in ["symmetric", "skew-symmetric", "HERMITIAN"] {
        let text = format!("%%matrixmarket Matrix coordinate real {kind}\n3 3 2\n2 1 4.0\n3 3 1\n");
        assert_eq!(good(&text).edges, [[1, 0], [0, 1], [2, 2]]);
    }
    let options = ReadOptions {
        undirected: true,
        ..ZERO
    };
    let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
    assert_eq!(good_with(symmetric, options).edges, [[1, 0], [0, 1]]);
}

#[test]
fn empty_and_edgeless() {
    bad("", "g is empty: a graph needs at least one edge");
    bad(" \n\t\n", "g is empty: a graph needs at least one edge");
    bad("# nothing\n", "g has no edges");
    bad(
        "%%MatrixMarket matrix coordinate real general\n3 3 0\n",
        "g has no edges",
    );
}

#[test]
fn malformed_edge_lists() {
    bad("0 1\n2\n", "g:2: an edge needs two vertex ids: `2`");
    bad("0 1\n2 x\n", "g:2: `x` is no vertex id: `2 x`");
    bad(
        "source,target\n0 1\n",
        "g:1: `source` is no vertex id: `source,target`",
    );
    bad("0 -1\n", "g:1: `-1` is no vertex id: `0 -1`");
    bad("0 1.5\n", "g:1: `1.5` is no vertex id: `0 1.5`");
    bad(
        "0 1\n\n7 4294967295\n",
        "g:3: vertex id 4294967295 is too large: ids end at 4294967294: `7 4294967295`",
    );
    bad(
        "0 99999999999999999999999\n",
        "g:1: vertex id 99999999999999999999999 is too large: ids end at 4294967294: \
         `0 99999999999999999999999`",
    );
    let one = ReadOptions {
        one_based: true,
        ..ZERO
    };
    bad_with(
        "1 2\n0 3\n",
        one,
        "g:2: there is no vertex 0: ids count from 1 here: `0 3`",
    );
}

#[test]
fn one_stray_id_does_not_make_billions_of_vertices() {
    bad(
        "0 1\n7 4294967294\n",
        "g has only 2 edges but ids for 4294967295 vertices: number the vertices without large gaps",
    );
}

#[test]
fn not_text() {
    bad(
        b"0 1\n2 \xFF3\n4 5",
        "g:2: this is not UTF-8 text: `2 \u{FFFD}3`",
    );
    bad(
        b"\x1F\x8B\x08\0",
        "g is compressed: decompress it first, for instance with `gunzip`",
    );
    bad(
        b"0 1\n\x00\x01\x02 2\n",
        "g:2: `\\u{0}\\u{1}\\u{2}` is no vertex id: `\\u{0}\\u{1}\\u{2} 2`",
    );
}

#[test]
fn long_lines_are_shortened() {
    let text = "x".repeat(1000);
    let short = format!("{}…", "x".repeat(80));
    bad(text, &format!("g:1: `{short}` is no vertex id: `{short}`"));
}

#[test]
fn malformed_banners() {
    for banner in [
        "%%MatrixMarket",
        "%%MatrixMarket matrix coordinate real",
        "%%MatrixMarket vector coordinate real general",
        "%%MatrixMarket matrix coordinate quaternion general",
        "%%MatrixMarket matrix coordinate real lopsided",
        "%%MatrixMarket matrix list real general",
        "%%MatrixMarketing matrix coordinate real general",
    ] {
        let expected = ReadError::Line {
            file: "g".into(),
            line: 1,
            what: LineError::Banner,
            text: banner.into(),
        };
        bad(format!("{banner}\n1 1 1\n1 1\n"), &expected.to_string());
    }
    bad(
        "%%MatrixMarket matrix array real general\n2 2\n",
        "g:1: a dense (`array`) matrix is no graph: write it in `coordinate` format: \
         `%%MatrixMarket matrix array real general`",
    );
}

#[test]
fn malformed_matrices() {
    let with = |rest: &str| format!("%%MatrixMarket matrix coordinate pattern general\n{rest}");
    bad(
        with("% only comments\n"),
        "g:1: the line with rows, columns and entries is missing after this banner: \
         `%%MatrixMarket matrix coordinate pattern general`",
    );
    bad(
        with("3 3\n"),
        "g:2: expected three numbers: rows, columns and entries: `3 3`",
    );
    bad(
        with("3 x 1\n"),
        "g:2: expected three numbers: rows, columns and entries: `3 x 1`",
    );
    bad(
        with("3 4 1\n1 4\n"),
        "g:2: 3 rows and 4 columns: the matrix of a graph is square: `3 4 1`",
    );
    bad(
        with("4294967296 4294967296 1\n1 4\n"),
        "g:2: 4294967296 vertices are too many: at most 4294967295 can be handled: \
         `4294967296 4294967296 1`",
    );
    bad(
        with("3 3 1\n0 3\n"),
        "g:3: there is no vertex 0: ids count from 1 here: `0 3`",
    );
    bad(
        with("3 3 1\n1 4\n"),
        "g:3: vertex id 4 is out of range: the matrix has 3 rows: `1 4`",
    );
    bad(with("3 3 1\n1\n"), "g:3: an edge needs two vertex ids: `1`");
    bad(
        with("3 3 2\n1 2\n"),
        "g:2: 2 entries are promised here, but 1 follow: `3 3 2`",
    );
    bad(
        with("% c\n3 3 1\n1 2\n2 3\n"),
        "g:5: one entry more than the 1 that line 3 promises: `2 3`",
    );
}

#[test]
fn a_huge_promise_reserves_nothing() {
    bad(
        "%%MatrixMarket matrix coordinate pattern general\n3 3 18446744073709551615\n1 2\n",
        "g:2: 18446744073709551615 entries are promised here, but 1 follow: \
         `3 3 18446744073709551615`",
    );
}

#[test]
fn missing_file() {
    let error = read(Path::new("/nonexistent/graph.mtx"), ZERO).map_err(|error| error.to_string());
    assert!(
        matches!(&error, Err(text) if text.starts_with("cannot read /nonexistent/graph.mtx: ")),
        "{error:?}"
    );
}

/// The edges of all parts of a file.
fn of_parts(path: &Path, parts: usize) -> Vec<EdgeList> {
    let part = |number| match part(path, ZERO, number, parts) {
        Ok(list) => list,
        Err(error) => panic!("part {number} of {parts}: {error}"),
    };
    (0..parts).map(part).collect()
}

#[test]
fn parts_have_all_edges_in_their_order() {
    let folder = std::env::temp_dir().join(format!("warpheap-parts-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("graph");
    let list = "\u{FEFF}# a list\n0 1\n\n2 1 0.5 long line\r\n3,0\n% more\n1 1\n0 1";
    let matrix = "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 4\n2 1\n3 3\n5 2\n4 1\n";
    // With fewer bytes than parts.
    let short = "\u{FEFF}0 1\n2 1";
    for text in [list, matrix, short] {
        std::fs::write(&path, text).unwrap();
        let whole = good(text);
        for parts in [1, 2, 3, 5, 40] {
            let lists = of_parts(&path, parts);
            let vertices = lists.iter().map(|list| list.vertices).max();
            assert_eq!(vertices, Some(whole.vertices), "{parts} parts");
            assert!(lists.iter().all(|list| list.base == whole.base));
            let edges: Vec<_> = lists.into_iter().flat_map(|list| list.edges).collect();
            assert_eq!(edges, whole.edges, "{parts} parts of {text}");
        }
    }
    // A wrong line is named as in the whole file, whoever reads it.
    std::fs::write(&path, format!("{list}\n0 x\n")).unwrap();
    let mut wrong = (0..3).filter_map(|number| part(&path, ZERO, number, 3).err());
    let error = wrong
        .next()
        .map(|error| error.to_string())
        .unwrap_or_default();
    assert!(error.contains("graph:9: `x` is no vertex id"), "{error}");
    assert!(wrong.next().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn pieces_do_not_matter() {
    let banner = "%%MatrixMarket matrix coordinate pattern symmetric\n% made by hand\n\n";
    let lines = "1 2\r\n% no edge\n\n3 1 0.5\n2 2\n".repeat(20);
    let options = ReadOptions {
        one_based: true,
        undirected: true,
    };
    for text in [
        lines.clone(),
        format!("{lines}0 1\n{lines}"),
        format!("{lines}1 x\n{lines}7\n"),
        format!("{banner}\u{a0}\n3 3 60\n{lines}"),
        format!("{banner}3 3 61\n{lines}"),
        format!("{banner}3 3 59\n{lines}"),
        format!("{banner}3 3 17\n{lines}"),
        format!("{banner}2 2 1\n{lines}"),
        // Too many entries, and a wrong one behind them.
        format!("{banner}3 3 59\n{lines}1 x\n"),
        format!("{banner}3 3 61\n{lines}4 1\n"),
        banner.to_owned(),
    ] {
        let bytes = text.as_bytes();
        let read = |pieces| match is_matrix_market(bytes) {
            true => format!("{:?}", matrix_market::parse("g", bytes, options, pieces)),
            false => format!("{:?}", edge_list::parse("g", bytes, options, pieces)),
        };
        let whole = read(1);
        for pieces in 2..30 {
            assert_eq!(read(pieces), whole, "{pieces} pieces of {text}");
        }
    }
    let bytes = [lines.as_bytes(), b"1 \xFF\n"].concat();
    for pieces in 1..30 {
        let error = edge_list::parse("g", &bytes, options, pieces).unwrap_err();
        assert!(error.to_string().starts_with("g:101: "), "{error}");
        let wrong_before = [lines.as_bytes(), b"1 x\n2 2\n1 \xFF\n"].concat();
        let error = edge_list::parse("g", &wrong_before, options, pieces).unwrap_err();
        assert!(error.to_string().starts_with("g:101: `x`"), "{error}");
        let matrix = [banner.as_bytes(), b"3 3 61\n", &bytes].concat();
        let error = matrix_market::parse("g", &matrix, options, pieces).unwrap_err();
        assert!(error.to_string().starts_with("g:105: "), "{error}");
        let matrix = [banner.as_bytes(), b"3 3 58\n", &bytes].concat();
        let error = matrix_market::parse("g", &matrix, options, pieces).unwrap_err();
        // The 59th entry is in the last line but two.
        assert!(error.to_string().starts_with("g:103: "), "{error}");
    }
}
