//! Reads a graph from a file: Matrix Market or an edge list, told apart by the first line.
//!
//! - `matrix_market`: coordinate files, ids from 1, weights ignored, symmetric kinds mirrored.
//! - `edge_list`: two columns of ids, ids from 0 unless the user says otherwise.

mod edge_list;
mod error;
mod matrix_market;
mod part;

use super::edges::EdgeList;
use crate::ranks::file_part::behind_mark;
use crate::text;
use std::path::Path;

pub use error::{LineError, ReadError, shown};
pub use part::part;

/// What a file does not say about itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// An edge list counts vertices from 1. (Matrix Market files always do.)
    pub one_based: bool,
    /// Add the opposite of every edge that is no loop. (Symmetric matrices already mean it.)
    pub undirected: bool,
}

/// Largest vertex id counted from 0: the number of vertices must fit in 32 bits too.
const MAX_ID: u64 = u32::MAX as u64 - 1;

/// Reads the file, or standard input when the path is `-`.
///
/// # Errors
/// [`ReadError`], with line number and text where one line is to blame.
pub fn read(path: &Path, options: ReadOptions) -> Result<EdgeList, ReadError> {
    let name = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes).map(|_| bytes)
    } else {
        text::file(path)
    };
    let bytes = bytes.map_err(|source| ReadError::Io {
        file: name.clone(),
        source,
    })?;
    parse(&name, &bytes, options)
}

/// Reads a graph from the contents of the file called `name`.
///
/// # Errors
/// [`ReadError`], as [`read`].
pub fn parse(name: &str, bytes: &[u8], options: ReadOptions) -> Result<EdgeList, ReadError> {
    let bytes = behind_mark(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty { file: name.into() });
    }
    if bytes.starts_with(&COMPRESSED) {
        return Err(ReadError::Compressed { file: name.into() });
    }
    let pieces = text::worth(bytes.len());
    let graph = match is_matrix_market(bytes) {
        true => matrix_market::parse(name, bytes, options, pieces)?,
        false => edge_list::parse(name, bytes, options, pieces)?,
    };
    let edges = graph.edges.len() as u64;
    whole(name, graph.vertices, edges)?;
    countable(name, edges)?;
    Ok(graph)
}

/// Checks that a file of so many vertices and edges is a graph.
///
/// # Errors
/// [`ReadError::NoEdges`], [`ReadError::TooSparse`].
pub(super) fn whole(name: &str, vertices: u32, edges: u64) -> Result<(), ReadError> {
    let file = || name.to_owned();
    if edges == 0 {
        return Err(ReadError::NoEdges { file: file() });
    }
    // Every vertex costs an empty vector on the device, so one stray id must not ask for billions.
    if vertices > 1 << 24 && u64::from(vertices) / 256 > edges {
        return Err(ReadError::TooSparse {
            file: file(),
            vertices,
            edges,
        });
    }
    Ok(())
}

/// Checks that 32 bits count the edges that one process has of a file.
fn countable(name: &str, edges: u64) -> Result<(), ReadError> {
    match u32::try_from(edges) {
        Ok(_) => Ok(()),
        Err(_) => Err(ReadError::TooManyEdges {
            file: name.to_owned(),
            edges,
        }),
    }
}

/// Whether a file that begins like this is a Matrix Market file.
fn is_matrix_market(begin: &[u8]) -> bool {
    begin
        .get(..BANNER.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(BANNER.as_bytes()))
}

/// First word of a Matrix Market file.
const BANNER: &str = "%%MatrixMarket";
/// How files begin that `gzip` made.
const COMPRESSED: [u8; 2] = [0x1F, 0x8B];

/// Some lines of a file in memory, with the name that errors carry.
struct Input<'a> {
    name: &'a str,
    bytes: &'a [u8],
}

impl<'a> Input<'a> {
    /// The lines without surrounding white space, numbered from 1; an error in place of one that is no UTF-8.
    fn lines(&self) -> impl Iterator<Item = Result<Line<'a>, ReadError>> + use<'a> {
        let name = self.name;
        let lines = (1..).zip(self.bytes.split(|&byte| byte == b'\n'));
        lines.map(move |(number, bytes)| match std::str::from_utf8(bytes) {
            // A line end of Windows is white space to `trim`.
            Ok(text) => Ok(Line {
                number,
                text: text.trim(),
            }),
            Err(_) => Err(ReadError::Line {
                file: name.into(),
                line: number,
                what: LineError::NotUtf8,
                text: error::shown(&String::from_utf8_lossy(bytes)),
            }),
        })
    }

    fn error(&self, line: Line<'_>, what: LineError) -> ReadError {
        ReadError::Line {
            file: self.name.into(),
            line: line.number,
            what,
            text: error::shown(line.text),
        }
    }
}

/// One line of the input.
#[derive(Clone, Copy)]
struct Line<'a> {
    number: usize,
    text: &'a str,
}

/// Reads a vertex id as a number, whatever its base.
fn vertex_id(word: &str) -> Result<u64, LineError> {
    if let Some(id) = text::number(word.as_bytes()) {
        return Ok(id);
    }
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(LineError::NotAnId {
            word: error::shown(word),
        });
    }
    // Only digits, so the one thing that can be wrong is the size.
    word.parse().map_err(|_| LineError::IdTooLarge {
        id: error::shown(word),
    })
}

/// Appends the edge and, if asked, its mirror image.
fn push(edges: &mut Vec<[u32; 2]>, edge: [u32; 2], mirror: bool) {
    edges.push(edge);
    let [source, target] = edge;
    if mirror && source != target {
        edges.push([target, source]);
    }
}

#[cfg(test)]
mod tests;
