//! Reads a table from a CSV file: two columns, key and payload, with or without a head.

mod error;

use super::tables::MOST_ROWS;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::path::Path;
use warpheap_applications::join::Tuple;

pub use error::{LineError, TableError};

/// The names of the columns.
const COLUMNS: [&str; 2] = ["key", "payload"];

/// Reads the file.
///
/// # Errors
/// [`TableError`], with the line where one is to blame.
pub fn read(path: &Path) -> Result<Vec<Tuple>, TableError> {
    let file = path.display().to_string();
    match std::fs::read(path) {
        Ok(bytes) => parse(&file, &bytes),
        Err(source) => Err(TableError::Io { file, source }),
    }
}

/// Reads a table from the contents of the file called `name`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Tuple>, TableError> {
    // Programs on Windows put a byte order mark in front.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let file = || name.to_owned();
    if bytes.trim_ascii().is_empty() {
        return Err(TableError::Empty { file: file() });
    }
    if bytes.starts_with(&[0x1F, 0x8B]) {
        return Err(TableError::Compressed { file: file() });
    }
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        // How many columns there are is checked here, to say it in our words.
        .flexible(true)
        .trim(Trim::All)
        .from_reader(bytes);
    let mut rows = Vec::new();
    let mut first = true;
    for record in reader.byte_records() {
        let record = record.map_err(|error| TableError::Line {
            file: file(),
            line: error.position().map_or(1, csv::Position::line),
            what: LineError::NotCsv {
                why: error.to_string(),
            },
        })?;
        let wrong = |what| TableError::Line {
            file: file(),
            line: line(bytes, &record),
            what,
        };
        // White space alone, as at the end of many files.
        if record.len() == 1 && record.get(0).is_some_and(<[u8]>::is_empty) {
            continue;
        }
        let [key, payload] = columns(&record).map_err(wrong)?;
        if !(std::mem::take(&mut first) && is_head(key) && is_head(payload)) {
            if rows.len() >= MOST_ROWS as usize {
                return Err(TableError::TooManyRows {
                    file: file(),
                    most: MOST_ROWS,
                });
            }
            rows.push(Tuple {
                key: number(COLUMNS[0], key).map_err(wrong)?,
                payload: number(COLUMNS[1], payload).map_err(wrong)?,
            });
        }
    }
    match rows.is_empty() {
        true => Err(TableError::NoRows { file: file() }),
        false => Ok(rows),
    }
}

/// The number of the line where a record begins. The reader tells where it began to look for it: blank lines are
/// before it.
fn line(bytes: &[u8], record: &ByteRecord) -> u64 {
    let begin = record.position().map_or(0, csv::Position::byte) as usize;
    let (before, rest) = bytes.split_at(begin.min(bytes.len()));
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let ends = before.iter().chain(blank).filter(|byte| **byte == b'\n');
    ends.count() as u64 + 1
}

/// The two columns of a line as text.
fn columns(record: &ByteRecord) -> Result<[&str; 2], LineError> {
    let text = |at: usize| {
        let bytes = record.get(at).unwrap_or_default();
        std::str::from_utf8(bytes).map_err(|_| LineError::NotUtf8)
    };
    match record.len() {
        2 => Ok([text(0)?, text(1)?]),
        found => Err(LineError::Columns { found }),
    }
}

/// Whether a word of the first line names a column: it has a letter first, as no number does.
fn is_head(word: &str) -> bool {
    word.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

fn number(column: &'static str, word: &str) -> Result<u32, LineError> {
    let shown = || crate::graph::read::shown(word);
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(LineError::NotANumber {
            column,
            word: shown(),
        });
    }
    // Only digits, so the one thing that can be wrong is the size.
    word.parse().map_err(|_| LineError::TooLarge {
        column,
        word: shown(),
    })
}

#[cfg(test)]
mod tests;
