//! Matrix Market coordinate files (Boisvert, Pozo, Remington, *The Matrix Market Exchange Formats*).
//!
//! Entry `i j` is the edge from `i` to `j`. Values are ignored, not even read. The symmetric kinds
//! store one triangle; each entry off the diagonal stands for two edges.

use super::{BANNER, Input, Line, LineError, MAX_ID, ReadError, ReadOptions, push, vertex_id};
use crate::graph::edges::EdgeList;

pub(super) fn parse(input: &Input<'_>, options: ReadOptions) -> Result<EdgeList, ReadError> {
    let mut lines = input.lines();
    let banner = lines.next().unwrap_or(Line {
        number: 1,
        text: "",
    });
    let symmetric = symmetric(banner.text).map_err(|what| input.error(banner, what))?;
    let mut lines = lines.filter(|line| !line.text.is_empty() && !line.text.starts_with('%'));
    let header = lines
        .next()
        .ok_or_else(|| input.error(banner, LineError::NoSizeLine))?;
    let size = Size::parse(header.text).map_err(|what| input.error(header, what))?;

    let mirror = symmetric || options.undirected;
    let most = usize::try_from(size.entries).unwrap_or(usize::MAX);
    let mut edges = Vec::with_capacity(most.min(input.most_entries()) << u32::from(mirror));
    let mut found = 0;
    for line in lines {
        let edge = entry(line.text, size.rows).map_err(|what| input.error(line, what))?;
        if found == size.entries {
            let what = LineError::TooManyEntries {
                promised: size.entries,
                header: header.number,
            };
            return Err(input.error(line, what));
        }
        found += 1;
        push(&mut edges, edge, mirror);
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
        edges,
        base: 1,
    })
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
}

impl Size {
    fn parse(text: &str) -> Result<Self, LineError> {
        let numbers: Vec<u64> = text
            .split_ascii_whitespace()
            .map(|word| word.parse().map_err(|_| LineError::SizeLine))
            .collect::<Result<_, _>>()?;
        let [rows, columns, entries] = numbers[..] else {
            return Err(LineError::SizeLine);
        };
        if rows != columns {
            return Err(LineError::NotSquare { rows, columns });
        }
        let rows = u32::try_from(rows).map_err(|_| LineError::TooManyVertices { rows })?;
        Ok(Self { rows, entries })
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
