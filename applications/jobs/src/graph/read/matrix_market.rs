//! Matrix Market coordinate files (Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats*).
//!
//! Entry `i j` is the edge from `i` to `j`. Values are ignored, not even read. The symmetric kinds
//! store one triangle; each entry off the diagonal stands for two edges.

use super::{BANNER, Input, Line, LineError, MAX_ID, ReadError, ReadOptions, push, vertex_id};
use crate::graph::edges::EdgeList;
use crate::text::{self, Piece};
use crate::threads::{concat, each};

/// Reads a file in so many pieces, of which each has a thread.
pub(super) fn parse(
    name: &str,
    bytes: &[u8],
    options: ReadOptions,
    pieces: usize,
) -> Result<EdgeList, ReadError> {
    let (head, body) = parted(bytes);
    let input = Input { name, bytes: head };
    let mut lines = input.lines();
    let banner = lines.next().transpose()?.unwrap_or(Line {
        number: 1,
        text: "",
    });
    let symmetric = symmetric(banner.text).map_err(|what| input.error(banner, what))?;
    let header = lines
        .find(|line| !is_comment(line))
        .transpose()?
        .ok_or_else(|| input.error(banner, LineError::NoSizeLine))?;
    let size = Size::parse(header).map_err(|what| input.error(header, what))?;

    let mirror = symmetric || options.undirected;
    let pieces = text::pieces(body, pieces);
    let some = |piece: Piece<'_>, most| {
        let bytes = piece.text;
        entries(&Input { name, bytes }, &size, mirror, most)
    };
    let read = each(pieces.clone(), |piece| some(piece, u64::MAX));
    let (mut found, mut edges) = (0, Vec::new());
    for (piece, read) in pieces.into_iter().zip(read) {
        let left = size.entries - found;
        let read = match read {
            Ok((here, read)) if here <= left => Ok((here, read)),
            // Once more: a line may be too much before one is wrong.
            _ => some(piece, left),
        };
        let (here, read) =
            read.map_err(|error| error.behind(header.number + piece.lines_before()))?;
        found += here;
        edges.push(read);
    }
    if found < size.entries {
        let what = LineError::TooFewEntries {
            promised: size.entries,
            found,
        };
        return Err(input.error(header, what));
    }
    Ok(EdgeList {
        vertices: size.rows,
        edges: concat(edges),
        base: 1,
    })
}

/// A file up to the end of its size line, and its entries: those are behind the first line, the banner, that is no comment.
fn parted(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut end = 0;
    for (number, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        end += line.len();
        if number != 0 && !is_no_entry(String::from_utf8_lossy(line).trim()) {
            break;
        }
    }
    bytes.split_at(end)
}

fn is_comment(line: &Result<Line<'_>, ReadError>) -> bool {
    line.as_ref().is_ok_and(|line| is_no_entry(line.text))
}

fn is_no_entry(line: &str) -> bool {
    line.is_empty() || line.starts_with('%')
}

/// How many entries some lines have, and their edges. There may be `most` of the entries that the header promises.
fn entries(
    input: &Input<'_>,
    size: &Size,
    mirror: bool,
    most: u64,
) -> Result<(u64, Vec<[u32; 2]>), ReadError> {
    let mut edges = Vec::new();
    let mut found = 0;
    for line in input.lines().filter(|line| !is_comment(line)) {
        let line = line?;
        let edge = entry(line.text, size.rows).map_err(|what| input.error(line, what))?;
        if found == most {
            let what = LineError::TooManyEntries {
                promised: size.entries,
                header: size.line,
            };
            return Err(input.error(line, what));
        }
        found += 1;
        push(&mut edges, edge, mirror);
    }
    Ok((found, edges))
}

/// Reads the banner: does every entry stand for its mirror image too?
fn symmetric(banner: &str) -> Result<bool, LineError> {
    let lower = banner.to_ascii_lowercase();
    let words: Vec<&str> = lower.split_ascii_whitespace().collect();
    let [start, "matrix", format, field, symmetry] = words[..] else {
        return Err(LineError::Banner);
    };
    if !start.eq_ignore_ascii_case(BANNER) {
        return Err(LineError::Banner);
    }
    match format {
        "coordinate" => {}
        "array" => return Err(LineError::Dense),
        _ => return Err(LineError::Banner),
    }
    if !matches!(field, "pattern" | "real" | "double" | "integer" | "complex") {
        return Err(LineError::Banner);
    }
    match symmetry {
        "general" => Ok(false),
        "symmetric" | "skew-symmetric" | "hermitian" => Ok(true),
        _ => Err(LineError::Banner),
    }
}

struct Size {
    rows: u32,
    entries: u64,
    /// Number of the line that says so.
    line: usize,
}

impl Size {
    fn parse(line: Line<'_>) -> Result<Self, LineError> {
        let words = line.text.split_ascii_whitespace();
        let numbers: Vec<u64> = words
            .map(|word| word.parse().map_err(|_| LineError::SizeLine))
            .collect::<Result<_, _>>()?;
        let [rows, columns, entries] = numbers[..] else {
            return Err(LineError::SizeLine);
        };
        if rows != columns {
            return Err(LineError::NotSquare { rows, columns });
        }
        let rows = u32::try_from(rows).map_err(|_| LineError::TooManyVertices { rows })?;
        Ok(Self {
            rows,
            entries,
            line: line.number,
        })
    }
}

/// Reads `i j [value…]` into a pair counted from 0.
fn entry(text: &str, rows: u32) -> Result<[u32; 2], LineError> {
    let mut words = text.split_ascii_whitespace();
    let (Some(row), Some(column)) = (words.next(), words.next()) else {
        return Err(LineError::OneColumn);
    };
    let id = |word: &str| match vertex_id(word)? {
        0 => Err(LineError::ZeroId),
        id if id > u64::from(rows) || id - 1 > MAX_ID => Err(LineError::OutOfRange {
            id,
            rows: u64::from(rows),
        }),
        id => Ok((id - 1) as u32),
    };
    Ok([id(row)?, id(column)?])
}
