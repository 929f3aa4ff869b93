//! The part of a file that one of several processes reads.

use super::{COMPRESSED, ReadError, ReadOptions, countable, edge_list, is_matrix_market, read};
use crate::graph::edges::EdgeList;
use crate::ranks::file_part::behind_mark;
use crate::ranks::{border, file_part};
use crate::text;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// The edges of part `part` of `parts` of the file, of which there may be none, and the vertices that these ask for. All parts have
/// the edges in the order of the file.
///
/// The parts of an edge list are the lines that begin in equal shares of its bytes. A Matrix Market file, whose lines are counted, is
/// read by each process, which keeps its share of the edges. What is no plain file is read by part 0 alone.
///
/// # Errors
/// As [`read()`], but for edges that are missing or too few for so many vertices.
pub fn part(
    path: &Path,
    options: ReadOptions,
    part: usize,
    parts: usize,
) -> Result<EdgeList, ReadError> {
    let plain = path != Path::new("-") && std::fs::metadata(path).is_ok_and(|file| file.is_file());
    if !plain && part != 0 {
        return Ok(EdgeList {
            vertices: 0,
            edges: Vec::new(),
            base: u32::from(options.one_based),
        });
    }
    if !plain {
        return read(path, options);
    }
    let name = path.display().to_string();
    let io = |source| {
        let file = name.clone();
        ReadError::Io { file, source }
    };
    let mut file = File::open(path).map_err(io)?;
    if is_matrix_market(behind_mark(&begin(&mut file).map_err(io)?)) {
        let mut list = read(path, options)?;
        let all = list.edges.len() as u64;
        list.edges.truncate(border(all, part + 1, parts) as usize);
        list.edges.drain(..border(all, part, parts) as usize);
        return Ok(list);
    }
    let length = file.metadata().map_err(io)?.len();
    let range = file_part::range(&mut file, length, part, parts, |_| true).map_err(io)?;
    let begin = range.start;
    let bytes = text::range(path, range).map_err(io)?;
    match lines(&name, &bytes, part == 0, options) {
        // Lines count from the begin of the file.
        Err(error @ ReadError::Line { .. }) => {
            let before = file_part::lines(&mut file, begin).map_err(io)?;
            Err(error.behind(before as usize))
        }
        outcome => outcome,
    }
}

/// The first bytes of a file.
fn begin(file: &mut File) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    file.take(64).read_to_end(&mut begin)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(begin)
}

/// The edges of some lines of an edge list; of the `first` ones, or of later ones.
fn lines(
    name: &str,
    bytes: &[u8],
    first: bool,
    options: ReadOptions,
) -> Result<EdgeList, ReadError> {
    let bytes = if first { behind_mark(bytes) } else { bytes };
    if first && bytes.starts_with(&COMPRESSED) {
        return Err(ReadError::Compressed { file: name.into() });
    }
    let list = edge_list::parse(name, bytes, options, text::worth(bytes.len()))?;
    countable(name, list.edges.len() as u64)?;
    Ok(list)
}
