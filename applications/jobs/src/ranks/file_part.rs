//! The part of a file that a rank reads: what begins in its share of the bytes.

use super::border;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::ops::Range;

/// Bytes that are looked through at a time.
const CHUNK: usize = 64 << 10;

/// Where the records lie that begin in a part's range of a file of `length` bytes. A record is a line that begins with a byte which
/// `begins` knows, and the lines behind it that do not. Part 0 has all that is in front of the first.
///
/// # Errors
/// The file cannot be read.
pub fn range(
    file: &mut File,
    length: u64,
    part: usize,
    parts: usize,
    begins: impl Fn(u8) -> bool,
) -> io::Result<Range<u64>> {
    let mut of = |part| match part {
        0 => Ok(0),
        // Even if the file has fewer bytes than parts, the front is that of part 0.
        _ => record(file, border(length, part, parts).max(1), length, &begins),
    };
    Ok(of(part)?..of(part + 1)?)
}

/// The first record that begins at byte `from`, at least 1, or behind it; the end of the file if there is none.
fn record(file: &mut File, from: u64, length: u64, begins: impl Fn(u8) -> bool) -> io::Result<u64> {
    // The byte before it says whether a line begins there.
    let mut at = from - 1;
    file.seek(SeekFrom::Start(at))?;
    let mut chunk = vec![0; CHUNK];
    let mut line_ended = false;
    while at < length {
        let read = file.read(&mut chunk)?;
        if read == 0 {
            break;
        }
        for &byte in &chunk[..read] {
            if line_ended && begins(byte) {
                return Ok(at);
            }
            line_ended = byte == b'\n';
            at += 1;
        }
    }
    Ok(length)
}

/// How many lines end in the first `end` bytes.
///
/// # Errors
/// The file cannot be read.
pub fn lines(file: &mut File, end: u64) -> io::Result<u64> {
    file.seek(SeekFrom::Start(0))?;
    let mut front = BufReader::with_capacity(CHUNK, file).take(end);
    let mut chunk = vec![0; CHUNK];
    let mut lines = 0;
    loop {
        match front.read(&mut chunk)? {
            0 => return Ok(lines),
            read => lines += chunk[..read].iter().filter(|&&byte| byte == b'\n').count() as u64,
        }
    }
}

/// Whether the first `end` bytes are white space, behind a byte order mark if there is one.
///
/// # Errors
/// The file cannot be read.
pub fn blank(file: &mut File, end: u64) -> io::Result<bool> {
    file.seek(SeekFrom::Start(0))?;
    let mut front = BufReader::with_capacity(CHUNK, file).take(end);
    let mut first = Vec::new();
    front.by_ref().take(CHUNK as u64).read_to_end(&mut first)?;
    let mut bytes = behind_mark(&first).to_vec();
    while bytes.trim_ascii().is_empty() && front.limit() > 0 {
        bytes.resize(CHUNK, 0);
        let read = front.read(&mut bytes)?;
        bytes.truncate(read);
        if read == 0 {
            break;
        }
    }
    Ok(bytes.trim_ascii().is_empty())
}

/// What is behind the byte order mark, which programs on Windows put in front of a text.
pub fn behind_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}
