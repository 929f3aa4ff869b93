//! What can be wrong with a graph file.

use crate::error::JobError;
use thiserror::Error;

/// Why a graph file was refused.
#[derive(Debug, Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Nothing but white space.
    #[error("{file} is empty: a graph needs at least one edge")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// Starts like a gzip file.
    #[error("{file} is compressed: decompress it first, for instance with `gunzip`")]
    Compressed {
        /// Name of the file.
        file: String,
    },
    /// One line is wrong.
    #[error("{file}:{line}: {what}: `{text}`")]
    Line {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        what: LineError,
        /// The line, shortened when very long.
        text: String,
    },
    /// Only comments, or a matrix without entries.
    #[error("{file} has no edges")]
    NoEdges {
        /// Name of the file.
        file: String,
    },
    /// More edges than 32 bits count.
    #[error("{file} has {edges} edges; at most {} can be handled", u32::MAX)]
    TooManyEdges {
        /// Name of the file.
        file: String,
        /// Edges, mirrored ones included.
        edges: u64,
    },
    /// Nearly all vertices would be isolated.
    #[error(
        "{file} has only {edges} edges but ids for {vertices} vertices: number the vertices without \
         large gaps"
    )]
    TooSparse {
        /// Name of the file.
        file: String,
        /// Largest id, plus 1 when counted from 0.
        vertices: u32,
        /// Edges.
        edges: u64,
    },
}

impl ReadError {
    /// The same of a line that has so many more in front of it.
    pub(super) fn behind(self, lines: usize) -> Self {
        match self {
            ReadError::Line {
                file,
                line,
                what,
                text,
            } => ReadError::Line {
                file,
                line: lines + line,
                what,
                text,
            },
            other => other,
        }
    }
}

impl From<ReadError> for JobError {
    fn from(error: ReadError) -> Self {
        JobError::Input(error.to_string())
    }
}

/// What is wrong with a line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// Bytes that are no text.
    #[error("this is not UTF-8 text")]
    NotUtf8,
    /// The banner of a Matrix Market file is wrong.
    #[error(
        "expected `%%MatrixMarket matrix coordinate FIELD SYMMETRY` with FIELD one of pattern, real, \
         integer, complex and SYMMETRY one of general, symmetric, skew-symmetric, hermitian"
    )]
    Banner,
    /// A dense matrix.
    #[error("a dense (`array`) matrix is no graph: write it in `coordinate` format")]
    Dense,
    /// The file ends after the banner and comments.
    #[error("the line with rows, columns and entries is missing after this banner")]
    NoSizeLine,
    /// The size line is wrong.
    #[error("expected three numbers: rows, columns and entries")]
    SizeLine,
    /// The matrix is not square.
    #[error("{rows} rows and {columns} columns: the matrix of a graph is square")]
    NotSquare {
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
    },
    /// More rows than 32-bit ids reach.
    #[error("{rows} vertices are too many: at most {} can be handled", u32::MAX)]
    TooManyVertices {
        /// Rows.
        rows: u64,
    },
    /// The header promised more entries.
    #[error("{promised} entries are promised here, but {found} follow")]
    TooFewEntries {
        /// Entries in the size line.
        promised: u64,
        /// Entries found.
        found: u64,
    },
    /// The header promised fewer entries.
    #[error("one entry more than the {promised} that line {header} promises")]
    TooManyEntries {
        /// Entries in the size line.
        promised: u64,
        /// Line of the promise.
        header: usize,
    },
    /// Fewer than two columns.
    #[error("an edge needs two vertex ids")]
    OneColumn,
    /// A word that is no vertex id.
    #[error("`{word}` is no vertex id")]
    NotAnId {
        /// The word.
        word: String,
    },
    /// An id that does not fit.
    #[error("vertex id {id} is too large: ids end at {}", u32::MAX - 1)]
    IdTooLarge {
        /// The id.
        id: String,
    },
    /// Vertex 0 where ids count from 1.
    #[error("there is no vertex 0: ids count from 1 here")]
    ZeroId,
    /// An id beyond the matrix.
    #[error("vertex id {id} is out of range: the matrix has {rows} rows")]
    OutOfRange {
        /// The id.
        id: u64,
        /// Rows of the matrix.
        rows: u64,
    },
}

/// The text as it can be shown in an error: control characters escaped, at most 80 characters.
pub fn shown(text: &str) -> String {
    const MOST: usize = 80;
    let mut shown = String::new();
    for (count, char) in text.chars().enumerate() {
        if count == MOST {
            shown.push('…');
            break;
        }
        if char.is_control() && char != '\t' {
            shown.extend(char.escape_default());
        } else {
            shown.push(char);
        }
    }
    shown
}
