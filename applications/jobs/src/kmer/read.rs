//! Reads FASTA files.

use super::options::MOST_BASES;
use super::sequences::{Builder, Sequences};
use crate::error::JobError;
use crate::ranks::file_part::behind_mark;
use crate::text::{self, Piece};
use crate::threads::each;
use std::path::Path;
use thiserror::Error;

/// Why a FASTA file was refused.
#[derive(Debug, Error)]
pub enum FastaError {
    /// The file could not be read.
    #[error("cannot read {file}: {source}")]
    Io {
        /// Name of the file.
        file: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// Nothing but white space.
    #[error("{file} is empty: a FASTA file has at least one sequence")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// Starts like a gzip file.
    #[error("{file} is compressed: decompress it first, for instance with `gunzip`")]
    Compressed {
        /// Name of the file.
        file: String,
    },
    /// One line is wrong.
    #[error("{file}:{line}: {what}")]
    Line {
        /// Name of the file.
        file: String,
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        what: LineError,
    },
    /// Only names, or letters that stand for several bases.
    #[error("{file} has no bases")]
    NoBases {
        /// Name of the file.
        file: String,
    },
}

impl From<FastaError> for JobError {
    fn from(error: FastaError) -> Self {
        JobError::Input(error.to_string())
    }
}

/// What is wrong with a line.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum LineError {
    /// The file begins with something else than a sequence.
    #[error("this is no FASTA file: a sequence begins with a line `>NAME`")]
    NotFasta,
    /// The file begins like a FASTQ file.
    #[error("this looks like FASTQ: convert it to FASTA first, for instance with `seqtk seq -A`")]
    Fastq,
    /// A character that stands for no base.
    #[error("column {column}: `{character}` stands for no base")]
    Character {
        /// Its place in the line, from 1.
        column: usize,
        /// The character, escaped.
        character: String,
    },
    /// More bases than 32 bits count.
    #[error("these are more than {MOST_BASES} bases")]
    TooMany,
}

/// Reads the file, or standard input when the path is `-`; gives the name that errors carry, too.
///
/// # Errors
/// [`FastaError`], with the number of the line where one is to blame.
pub fn read(path: &Path) -> Result<(String, Sequences), FastaError> {
    let (name, bytes) = contents(path)?;
    let sequences = parse(&name, &bytes)?;
    Ok((name, sequences))
}

/// What errors call a file.
pub(super) fn name(path: &Path) -> String {
    match path == Path::new("-") {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// All of a file, or of standard input, with the name that errors carry.
pub(super) fn contents(path: &Path) -> Result<(String, Vec<u8>), FastaError> {
    let file = name(path);
    let bytes = if path == Path::new("-") {
        let mut bytes = Vec::new();
        let read = std::io::Read::read_to_end(&mut std::io::stdin().lock(), &mut bytes);
        read.map(|_| bytes)
    } else {
        text::file(path)
    };
    match bytes {
        Ok(bytes) => Ok((file, bytes)),
        Err(source) => Err(FastaError::Io { file, source }),
    }
}

/// Reads the contents of the file called `name`.
///
/// # Errors
/// [`FastaError`], as [`read`].
pub fn parse(name: &str, bytes: &[u8]) -> Result<Sequences, FastaError> {
    match records(name, bytes)? {
        sequences if sequences.len == 0 => Err(FastaError::NoBases {
            file: name.to_owned(),
        }),
        sequences => Ok(sequences),
    }
}

/// As [`parse`], but there may be no bases.
pub(super) fn records(name: &str, bytes: &[u8]) -> Result<Sequences, FastaError> {
    in_pieces(name, bytes, text::worth(bytes.len()), MOST_BASES)
}

/// The same in so many pieces, of which each has a thread, and with so many bases at most.
fn in_pieces(name: &str, bytes: &[u8], pieces: usize, most: u32) -> Result<Sequences, FastaError> {
    let file = || name.to_owned();
    let bytes = behind_mark(bytes);
    let Some(front) = bytes.iter().position(|byte| !byte.is_ascii_whitespace()) else {
        return Err(FastaError::Empty { file: file() });
    };
    if bytes.starts_with(&[0x1F, 0x8B]) {
        return Err(FastaError::Compressed { file: file() });
    }
    let pieces = text::pieces(bytes, pieces);
    // Whether a sequence has begun in front of a piece: what else there is, is wrong, and in a piece before it.
    let begun = |piece: &Piece<'_>| piece.before.len() > front;
    let read = each(pieces.clone(), |piece| {
        lines(piece.text, begun(&piece), most)
    });
    let mut all = Builder::default();
    for (piece, some) in pieces.into_iter().zip(read) {
        let room = most - all.len();
        let some = match some {
            Ok(some) if some.len() <= room => Ok(some),
            // Once more: a line may be too much before one is wrong.
            _ => lines(piece.text, begun(&piece), room),
        };
        let some = some.map_err(|(line, what)| FastaError::Line {
            file: file(),
            line: piece.lines_before() + line,
            what,
        })?;
        all.append_all(&some);
    }
    Ok(all.finish())
}

/// Reads some lines, with so many bases at most. An error comes with the number of its line, from 1.
fn lines(text: &[u8], mut begun: bool, most: u32) -> Result<Builder, (usize, LineError)> {
    let mut builder = Builder::default();
    for (line, text) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let text = text.trim_ascii_end();
        match text.first() {
            None => {}
            Some(b'>') => {
                builder.begin();
                begun = true;
            }
            Some(b'@') if !begun => return Err((line, LineError::Fastq)),
            Some(_) if !begun => return Err((line, LineError::NotFasta)),
            Some(_) if text.len() > (most - builder.len()) as usize => {
                return Err((line, LineError::TooMany));
            }
            Some(_) => builder.letters(text).map_err(|at| {
                let character = text[at].escape_ascii().to_string();
                let column = at + 1;
                (line, LineError::Character { column, character })
            })?,
        }
    }
    Ok(builder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmer::sequences::LETTERS;

    #[test]
    fn reads_lines_of_any_length_and_end() {
        let text = "\n>one\r\nAcg\r\n\r\nTN\r\nuA\n>empty\n>two >2\nGG";
        let sequences = parse("a.fa", text.as_bytes()).unwrap();
        let letters: String = (0..sequences.len)
            .map(|at| LETTERS[sequences.base(at) as usize])
            .collect();
        assert_eq!(letters, "ACGTTAGG");
        let breaks: Vec<u32> = (0..8).filter(|&at| sequences.follows_break(at)).collect();
        assert_eq!(breaks, [0, 4, 6]);
        assert_eq!((sequences.records, sequences.unknown), (3, 1));
    }

    #[test]
    fn refuses_with_the_line() {
        for (text, message) in [
            ("ACGT\n", "a.fa:1: this is no FASTA file"),
            ("\n\n@read\nACGT\n", "a.fa:3: this looks like FASTQ"),
            (
                ">x\nACGT\nAC-GT\n",
                "a.fa:3: column 3: `-` stands for no base",
            ),
            (">x\nAC GT\n", "a.fa:2: column 3: ` ` stands"),
            (">x\nAC\x07\n", "a.fa:2: column 3: `\\x07` stands"),
            (" \n\t\n", "a.fa is empty"),
            (">x\nNNN\n", "a.fa has no bases"),
            ("\x1F", "a.fa:1: this is no FASTA file"),
        ] {
            let error = parse("a.fa", text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(message), "{text:?}: {error}");
        }
        let error = parse("a.fa", &[0x1F, 0x8B, 8]).unwrap_err().to_string();
        assert!(error.contains("gunzip"), "{error}");
    }

    #[test]
    fn pieces_do_not_matter() {
        let line = "ACGTNNACGGTNA";
        for text in [
            format!(">one\n{line}\n{line}\nN\nN\n\n{line}\r\n>two\n>three\n{line}"),
            format!("\n\n\n>a\n{}", format!("{line}{line}\n").repeat(40)),
            ">one\nACGT\nAC!T\nACGT\n".to_owned(),
            "\nACGT\n>one\nAC GT\n".to_owned(),
            format!(">one\n{line}\n@read\n{line}\n"),
        ] {
            let read = |pieces| in_pieces("a.fa", text.as_bytes(), pieces, MOST_BASES);
            let shown = |read: Result<Sequences, FastaError>| format!("{read:?}");
            let whole = shown(read(1));
            for pieces in 2..20 {
                assert_eq!(shown(read(pieces)), whole, "{pieces} pieces of {text}");
            }
        }
    }

    #[test]
    fn bases_that_are_too_many_are_told_with_their_line() {
        let text = ">one\n".to_owned() + &"ACGTACGTAC\n".repeat(20);
        for pieces in 1..8 {
            let read = |most| in_pieces("a.fa", text.as_bytes(), pieces, most);
            assert_eq!(read(200).unwrap().len, 200);
            let error = read(129).unwrap_err().to_string();
            assert!(error.starts_with("a.fa:14: these are more"), "{error}");
            // Also before a line that is wrong.
            let wrong = text.clone() + "AC!T\n";
            let error = in_pieces("a.fa", wrong.as_bytes(), pieces, 190).unwrap_err();
            assert!(
                error.to_string().starts_with("a.fa:21: these are more"),
                "{error}"
            );
        }
    }
}
