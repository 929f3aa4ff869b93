//! Reads a table from a CSV file: two columns, key and payload, with or without a head.

mod error;

use super::tables::MOST_ROWS;
use crate::ranks::file_part;
use csv::{ByteRecord, ReaderBuilder, Trim};
use std::fs::File;
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

/// The rows of part `part` of `parts` of the file: those whose lines begin in its share of the bytes; there may be none. What is no
/// plain file is read by part 0 alone.
///
/// # Errors
/// As [`read`], but for rows that are missing.
pub fn part(path: &Path, part: usize, parts: usize) -> Result<Vec<Tuple>, TableError> {
    let name = path.display().to_string();
    let plain = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    if !plain && part != 0 {
        return Ok(Vec::new());
    }
    if !plain {
        return read(path);
    }
    let io = |source| {
        let file = name.clone();
        TableError::Io { file, source }
    };
    let mut file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let (begin, bytes) = file_part::bytes(&mut file, length, part, parts, |_| true).map_err(io)?;
    let rows = match part {
        0 => front(&name, &bytes).and_then(|bytes| rows(&name, bytes, true)),
        _ => rows(&name, &bytes, false),
    };
    match rows {
        // Lines count from the begin of the file.
        Err(TableError::Line {
            file: name,
            line,
            what,
        }) => {
            let before = file_part::lines(&mut file, begin).map_err(io)?;
            let line = before + line;
            Err(TableError::Line {
                file: name,
                line,
                what,
            })
        }
        outcome => outcome,
    }
}

/// Reads a table from the contents of the file called `name`.
///
/// # Errors
/// As [`read`].
pub fn parse(name: &str, bytes: &[u8]) -> Result<Vec<Tuple>, TableError> {
    let bytes = front(name, bytes)?;
    let file = || name.to_owned();
    if bytes.trim_ascii().is_empty() {
        return Err(TableError::Empty { file: file() });
    }
    let rows = rows(name, bytes, true)?;
    match rows.is_empty() {
        true => Err(TableError::NoRows { file: file() }),
        false => Ok(rows),
    }
}

/// What is behind a file's mark.
fn front<'a>(name: &str, bytes: &'a [u8]) -> Result<&'a [u8], TableError> {
    // Programs on Windows put a byte order mark in front.
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let file = name.to_owned();
        return Err(TableError::Compressed { file });
    }
    Ok(bytes)
}

/// The rows of some lines; the first of them may be a `head`.
fn rows(name: &str, bytes: &[u8], head: bool) -> Result<Vec<Tuple>, TableError> {
    let file = || name.to_owned();
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        // How many columns there are is checked here, to say it in our words.
        .flexible(true)
        .trim(Trim::All)
        .from_reader(bytes);
    let mut rows = Vec::new();
    let mut first = head;
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
    Ok(rows)
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
