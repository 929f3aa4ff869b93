//! Texts that all processors read: the bytes of a file, and the lines of a text.

use crate::threads::{self, each};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

/// Bytes that are worth a thread.
const LEAST: usize = 1 << 18;

/// How many pieces of so many bytes are worth a thread each.
pub fn worth(bytes: usize) -> usize {
    (bytes / LEAST).clamp(1, threads::count())
}

/// All bytes of a file; of a plain one several threads read a range each.
///
/// # Errors
/// The file cannot be read.
pub fn file(path: &Path) -> io::Result<Vec<u8>> {
    let about = std::fs::metadata(path)?;
    // Files that the system makes up have no bytes until they are read.
    match about.is_file() && about.len() > 0 {
        true => range(path, 0..about.len()),
        false => std::fs::read(path),
    }
}

/// These bytes of a plain file.
///
/// # Errors
/// The file cannot be read, or has become shorter.
pub fn range(path: &Path, range: Range<u64>) -> io::Result<Vec<u8>> {
    let length = usize::try_from(range.end.saturating_sub(range.start));
    let length = length.map_err(|_| io::ErrorKind::FileTooLarge)?;
    // More than there is memory for is an error, and not the end of the process.
    Vec::<u8>::new().try_reserve_exact(length)?;
    let mut bytes = vec![0; length];
    let each_has = length.div_ceil(worth(length)).max(1);
    let parts = bytes.chunks_mut(each_has);
    let begins = (range.start..).step_by(each_has);
    let read = each(parts.zip(begins).collect(), |(part, begin)| {
        // A place in the file is what opens it, so each thread has one of its own.
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(begin))?;
        file.read_exact(part)
    });
    read.into_iter().collect::<io::Result<()>>()?;
    Ok(bytes)
}

/// Some whole lines of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece<'a> {
    /// The lines.
    pub text: &'a [u8],
    /// What is in front of them.
    pub before: &'a [u8],
}

impl Piece<'_> {
    /// How many lines are in front of it.
    pub fn lines_before(&self) -> usize {
        self.before.iter().filter(|&&byte| byte == b'\n').count()
    }
}

/// Cuts a text into pieces that are about equally long, at most so many; none begins within a line, and none is empty.
pub fn pieces(text: &[u8], most: usize) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    for part in 1..=most {
        let wanted = (text.len() as u128 * part as u128 / most as u128) as usize;
        if wanted <= begin {
            continue;
        }
        let line_end = text[wanted - 1..].iter().position(|&byte| byte == b'\n');
        let end = line_end.map_or(text.len(), |at| wanted + at);
        pieces.push(Piece {
            text: &text[begin..end],
            before: &text[..begin],
        });
        begin = end;
    }
    pieces
}

/// The number that a word is: `None` if there is something else than digits, or so many that they may be too many for 64 bits.
pub fn number(word: &[u8]) -> Option<u64> {
    if word.is_empty() || word.len() > 19 {
        return None;
    }
    word.iter().try_fold(0, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| number * 10 + u64::from(digit))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_whole_lines_in_order() {
        for text in [
            "",
            "\n",
            "one line",
            "a\nbb\n\nccc\r\nd",
            "\n\n\n",
            "x\ny\n",
        ] {
            for most in 1..9 {
                let pieces = pieces(text.as_bytes(), most);
                assert!(pieces.len() <= most);
                let mut end = 0;
                for piece in &pieces {
                    assert_eq!(piece.before.len(), end, "{text:?} {most}");
                    assert!(piece.before.is_empty() || piece.before.ends_with(b"\n"));
                    assert!(!piece.text.is_empty());
                    let lines = text[..end].matches('\n').count();
                    assert_eq!(piece.lines_before(), lines);
                    end += piece.text.len();
                }
                assert_eq!(end, text.len());
            }
        }
        let lines = "line\n".repeat(100);
        assert_eq!(pieces(lines.as_bytes(), 8).len(), 8);
    }

    #[test]
    fn numbers_are_digits_alone() {
        for word in ["0", "007", "4294967296", "9999999999999999999"] {
            assert_eq!(number(word.as_bytes()), word.parse().ok(), "{word}");
        }
        for word in [
            "",
            "-1",
            "+1",
            "1 ",
            "1.0",
            "x",
            "\u{664}",
            "10000000000000000000",
        ] {
            assert_eq!(number(word.as_bytes()), None, "{word}");
        }
    }

    #[test]
    fn a_file_comes_in_ranges() {
        let name = format!("warpheap-text-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let bytes: Vec<u8> = (0..3 * LEAST + 5).map(|at| (at % 251) as u8).collect();
        std::fs::write(&path, &bytes).unwrap();
        let whole = file(&path);
        let some = range(&path, 1000..LEAST as u64 * 3);
        let none = range(&path, 7..7);
        let more = range(&path, 0..bytes.len() as u64 + 1);
        let too_much = range(&path, 0..1 << 60);
        std::fs::remove_file(&path).unwrap();
        assert!(whole.unwrap() == bytes);
        assert!(some.unwrap() == bytes[1000..LEAST * 3]);
        assert!(none.unwrap().is_empty());
        assert_eq!(more.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(too_much.unwrap_err().kind(), io::ErrorKind::OutOfMemory);
        assert_eq!(file(&path).unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
