//! Edge lists: one edge a line, source and target in the first two columns.
//!
//! Columns are separated by white space or commas; further columns (weights, times) are ignored.
//! Lines that start with `#` or `%` are comments. There are as many vertices as the largest id asks
//! for.

use super::{Input, LineError, MAX_ID, ReadError, ReadOptions, push, vertex_id};
use crate::graph::edges::EdgeList;
use crate::text;
use crate::threads::{concat, each};

/// Reads a file in so many pieces, of which each has a thread.
pub(super) fn parse(
    name: &str,
    bytes: &[u8],
    options: ReadOptions,
    pieces: usize,
) -> Result<EdgeList, ReadError> {
    let pieces = text::pieces(bytes, pieces);
    let read = each(pieces.clone(), |piece| {
        let bytes = piece.text;
        lines(&Input { name, bytes }, options)
    });
    let (mut vertices, mut edges) = (0, Vec::new());
    for (piece, some) in pieces.into_iter().zip(read) {
        let (asked_for, some) = some.map_err(|error| error.behind(piece.lines_before()))?;
        vertices = vertices.max(asked_for);
        edges.push(some);
    }
    Ok(EdgeList {
        vertices,
        edges: concat(edges),
        base: u32::from(options.one_based),
    })
}

/// The edges of some lines, and how many vertices they ask for.
fn lines(input: &Input<'_>, options: ReadOptions) -> Result<(u32, Vec<[u32; 2]>), ReadError> {
    let mut edges = Vec::new();
    let mut largest = 0;
    for line in input.lines() {
        let line = line?;
        if line.text.is_empty() || line.text.starts_with(['#', '%']) {
            continue;
        }
        let edge = edge(line.text, options.one_based).map_err(|what| input.error(line, what))?;
        largest = largest.max(edge[0]).max(edge[1]);
        push(&mut edges, edge, options.undirected);
    }
    let vertices = if edges.is_empty() { 0 } else { largest + 1 };
    Ok((vertices, edges))
}

/// Reads the first two columns into a pair counted from 0.
fn edge(text: &str, one_based: bool) -> Result<[u32; 2], LineError> {
    let is_gap = [' ', '\t', ',', '\r', '\n', '\x0C'];
    let mut words = text.split(is_gap).filter(|word| !word.is_empty());
    let Some(source) = words.next() else {
        return Err(LineError::OneColumn);
    };
    let source = id(source, one_based)?;
    let Some(target) = words.next() else {
        return Err(LineError::OneColumn);
    };
    Ok([source, id(target, one_based)?])
}

fn id(word: &str, one_based: bool) -> Result<u32, LineError> {
    let id = vertex_id(word)?;
    let from_zero = if one_based {
        id.checked_sub(1).ok_or(LineError::ZeroId)?
    } else {
        id
    };
    if from_zero > MAX_ID {
        return Err(LineError::IdTooLarge { id: word.into() });
    }
    Ok(from_zero as u32)
}
