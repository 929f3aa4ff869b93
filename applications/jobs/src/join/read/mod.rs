//! Reads a table from a CSV file: two columns, key and payload, with or without a head.

mod error;

use super::tables::MOST_ROWS;
use crate::ranks::file_part;
use crate::text;
use crate::threads::{concat, each};
use csv::{ByteRecord, ReaderBuilder};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use warpheap_applications::join::Tuple;

pub use error::{LineError, TableError};

/// What is put in front of a text for the reader of CSV.
const LINE_END: &[u8] = b"\n";
/// Bytes that the reader of CSV gets at a time, or a line if that is longer.
const CSV_BYTES: usize = 1 << 16;
/// The names of the columns.
const COLUMNS: [&str; 2] = ["key", "payload"];

/// Reads the file.
///
/// # Errors
/// [`TableError`], with the line where one is to blame.
pub fn read(path: &Path) -> Result<Vec<Tuple>, TableError> {
    let file = path.display().to_string();
    match text::file(path) {
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
    let range = file_part::range(&mut file, length, part, parts, |_| true).map_err(io)?;
    let begin = range.start;
    let bytes = text::range(path, range).map_err(io)?;
    let rows = match part {
        0 => front(&name, &bytes).and_then(|bytes| rows(&name, bytes, true)),
        // The head may be behind blank lines, which are all that parts before this one have.
        _ => rows(
            &name,
            &bytes,
            file_part::blank(&mut file, begin).map_err(io)?,
        ),
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
    let bytes = file_part::behind_mark(bytes);
    if bytes.starts_with(&[0x1F, 0x8B]) {
        let file = name.to_owned();
        return Err(TableError::Compressed { file });
    }
    Ok(bytes)
}

/// The rows of some lines; the first of them may be a `head`. Several threads read.
fn rows(name: &str, bytes: &[u8], head: bool) -> Result<Vec<Tuple>, TableError> {
    in_pieces(name, bytes, head, text::worth(bytes.len()))
}

/// The same in so many pieces, of which each has a thread.
fn in_pieces(
    name: &str,
    bytes: &[u8],
    head: bool,
    pieces: usize,
) -> Result<Vec<Tuple>, TableError> {
    let pieces = text::pieces(bytes, pieces);
    let read = each(pieces.clone(), |piece| {
        lines(piece.text, head && piece.before.trim_ascii().is_empty())
    });
    let some = pieces.into_iter().zip(read).map(|(piece, some)| {
        some.map_err(|(line, what)| TableError::Line {
            file: name.to_owned(),
            line: piece.lines_before() as u64 + line,
            what,
        })
    });
    let some = some.collect::<Result<Vec<_>, _>>()?;
    let rows: usize = some.iter().map(Vec::len).sum();
    match rows > MOST_ROWS as usize {
        true => Err(TableError::TooManyRows {
            file: name.to_owned(),
            most: MOST_ROWS,
        }),
        false => Ok(concat(some)),
    }
}

/// Reads some lines, of which the first may be a `head`. An error comes with the number of its line, from 1.
///
/// Nearly all lines of nearly all files are two numbers and nothing else, and are read in a fraction of the time that the reader of CSV
/// takes. Other lines go to it, some at a time: none of its records goes over a line's end.
fn lines(bytes: &[u8], head: bool) -> Result<Vec<Tuple>, (u64, LineError)> {
    let (mut rows, mut first, mut done) = (Vec::new(), head, 0);
    while done < bytes.len() {
        done += plain_lines(&bytes[done..], &mut rows);
        first &= rows.is_empty();
        let (before, rest) = bytes.split_at(done);
        let least = rest.len().min(CSV_BYTES);
        let more = rest[least..].iter().position(|&byte| byte == b'\n');
        let some = &rest[..more.map_or(rest.len(), |more| least + more + 1)];
        csv_lines(some, &mut first, &mut rows).map_err(|(line, what)| {
            let before = before.iter().filter(|&&byte| byte == b'\n');
            (before.count() as u64 + line, what)
        })?;
        done += some.len();
    }
    Ok(rows)
}

/// Reads lines that are two numbers with a comma between them, up to the first that is something else; how many bytes they are.
fn plain_lines(bytes: &[u8], rows: &mut Vec<Tuple>) -> usize {
    let (mut rest, mut done) = (bytes, 0);
    while let Some((key, behind)) = digits(rest)
        && let [b',', behind @ ..] = behind
        && let Some((payload, behind)) = digits(behind)
    {
        rest = match behind {
            [] => behind,
            [b'\n', behind @ ..] | [b'\r', b'\n', behind @ ..] => behind,
            _ => break,
        };
        rows.push(Tuple { key, payload });
        done = bytes.len() - rest.len();
    }
    done
}

/// The number that a text begins with, and what is behind it; `None` if there is none, or a larger one than fits.
fn digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let mut number = 0u64;
    let mut length = 0;
    while let Some(digit) = text.get(length).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
        && length < 10
    {
        number = number * 10 + u64::from(digit);
        length += 1;
    }
    let number = u32::try_from(number).ok()?;
    (length > 0).then(|| (number, &text[length..]))
}

/// Reads some lines as CSV. If `first` says so they may begin with a head; that is over with the first row.
fn csv_lines(
    bytes: &[u8],
    first: &mut bool,
    rows: &mut Vec<Tuple>,
) -> Result<(), (u64, LineError)> {
    // Behind a line end the reader takes no mark for that of a file.
    let text = LINE_END.chain(bytes);
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        // How many columns there are is checked here, to say it in our words.
        .flexible(true)
        .from_reader(text);
    let mut record = ByteRecord::new();
    let mut begin = 0;
    loop {
        let read = reader.read_byte_record(&mut record);
        if !read.map_err(|error| {
            let why = error.to_string();
            (line(bytes, begin), LineError::NotCsv { why })
        })? {
            return Ok(());
        }
        let end = reader.position().byte() as usize - LINE_END.len();
        let (from, text) = (begin, bytes.get(begin..end).unwrap_or_default());
        begin = end;
        let wrong = |what| (line(bytes, from), what);
        // White space alone, as at the end of many files.
        if text.trim_ascii().is_empty() {
            continue;
        }
        closed(text).map_err(wrong)?;
        let [key, payload] = columns(&record).map_err(wrong)?;
        if !(std::mem::take(first) && is_head(key) && is_head(payload)) {
            rows.push(Tuple {
                key: number(COLUMNS[0], key).map_err(wrong)?,
                payload: number(COLUMNS[1], payload).map_err(wrong)?,
            });
        }
    }
}

/// Checks that the text of a record has no quotes that go on behind its line: a rank that reads from the next line on does not know
/// of them.
fn closed(text: &[u8]) -> Result<(), LineError> {
    // Where a character is, as the reader of CSV sees it: quotes count at the begin of a field alone, and are doubled inside.
    enum Place {
        Begin,
        Plain,
        Quoted,
        BehindQuote,
    }
    let blank = text.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let text = &text[blank.count()..];
    let mut place = Place::Begin;
    for byte in text.iter().take_while(|byte| **byte != b'\n') {
        place = match (place, byte) {
            (Place::Begin | Place::BehindQuote, b'"') => Place::Quoted,
            (Place::Quoted, b'"') => Place::BehindQuote,
            (Place::Quoted, _) => Place::Quoted,
            (_, b',' | b'\r') => Place::Begin,
            _ => Place::Plain,
        };
    }
    match place {
        Place::Quoted => Err(LineError::OpenQuote),
        _ => Ok(()),
    }
}

/// The number of the line of a record that the reader began to look for at byte `begin`: blank lines may be before it.
fn line(bytes: &[u8], begin: usize) -> u64 {
    let (before, rest) = bytes.split_at(begin.min(bytes.len()));
    let blank = rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    let ends = before.iter().chain(blank).filter(|byte| **byte == b'\n');
    ends.count() as u64 + 1
}

/// The two columns of a line as text.
fn columns(record: &ByteRecord) -> Result<[&str; 2], LineError> {
    let text = |at: usize| {
        let bytes = record.get(at).unwrap_or_default().trim_ascii();
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
    if let Some(Ok(number)) = text::number(word.as_bytes()).map(u32::try_from) {
        return Ok(number);
    }
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
