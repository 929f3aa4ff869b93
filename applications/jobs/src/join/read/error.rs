//! What can be wrong with the file of a table.

use crate::error::JobError;
use thiserror::Error;

/// Why the file of a table was refused.
#[derive(Debug, Error)]
pub enum TableError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Nothing but white space.
    #[error("{file} is empty: a table needs at least one row `key,payload`")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// A head and nothing below.
    #[error("{file} has no rows below its head: write at least one, `key,payload`")]
    NoRows {
        /// Name of the file.
        file: String,
    },
    /// Starts like a gzip file.
    #[error("{file} is compressed: decompress it first, for instance with `gunzip`")]
    Compressed {
        /// Name of the file.
        file: String,
    },
    /// More rows than can be handled.
    #[error("{file} has more than {most} rows: take a part of it")]
    TooManyRows {
        /// Name of the file.
        file: String,
        /// How many there may be.
        most: u32,
    },
    /// One line is wrong.
    #[error("{file}:{line}: {what}")]
    Line {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: u64,
        /// What is wrong with it.
        what: LineError,
    },
}

impl From<TableError> for JobError {
    fn from(error: TableError) -> Self {
        JobError::Input(error.to_string())
    }
}

/// What is wrong with a line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// Bytes that are no text.
    #[error("this is not UTF-8 text: save the file as such")]
    NotUtf8,
    /// Not two columns.
    #[error("expected two columns, `key,payload`, and found {found}")]
    Columns {
        /// How many there are.
        found: usize,
    },
    /// A word that is no number.
    #[error(
        "the {column} `{word}` is no number: write a whole one from 0 to {}",
        u32::MAX
    )]
    NotANumber {
        /// Name of the column.
        column: &'static str,
        /// The word.
        word: String,
    },
    /// A number that does not fit.
    #[error("the {column} {word} is too large: numbers end at {}", u32::MAX)]
    TooLarge {
        /// Name of the column.
        column: &'static str,
        /// The number.
        word: String,
    },
    /// Quotes that go on in the next line.
    #[error("a quote is opened and not closed on this line")]
    OpenQuote,
    /// What the reader of CSV did not understand.
    #[error("this is no CSV: {why}")]
    NotCsv {
        /// What it said.
        why: String,
    },
}
