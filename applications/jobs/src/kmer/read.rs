//! Reads FASTA files.

use super::options::MOST_BASES;
use super::sequences::{Builder, Sequences};
use crate::error::JobError;
use crate::ranks::file_part::behind_mark;
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
        std::fs::read(path)
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
    let file = name.to_owned();
    let bytes = behind_mark(bytes);
    if bytes.trim_ascii().is_empty() {
        return Err(FastaError::Empty { file });
    }
    if bytes.starts_with(&[0x1F, 0x8B]) {
        return Err(FastaError::Compressed { file });
    }
    let mut builder = Builder::default();
    let mut begun = false;
    for (line, text) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = text.trim_ascii_end();
        let file = || name.to_owned();
        match text.first() {
            None => {}
            Some(b'>') => {
                builder.begin();
                begun = true;
            }
            Some(first) if !begun => {
                let what = match first {
                    b'@' => LineError::Fastq,
                    _ => LineError::NotFasta,
                };
                let file = file();
                return Err(FastaError::Line { file, line, what });
            }
            Some(_) => append(&mut builder, text).map_err(|what| {
                let file = file();
                FastaError::Line { file, line, what }
            })?,
        }
    }
    Ok(builder.finish())
}

/// Appends a line of letters.
fn append(builder: &mut Builder, text: &[u8]) -> Result<(), LineError> {
    if text.len() > (MOST_BASES - builder.len()) as usize {
        return Err(LineError::TooMany);
    }
    for (column, byte) in (1..).zip(text) {
        match byte.to_ascii_uppercase() {
            b'A' => builder.push(0),
            b'C' => builder.push(1),
            b'G' => builder.push(2),
            b'T' | b'U' => builder.push(3),
            b'N' | b'R' | b'Y' | b'S' | b'W' | b'K' | b'M' | b'B' | b'D' | b'H' | b'V' => {
                builder.unknown();
            }
            _ => {
                let character = byte.escape_ascii().to_string();
                return Err(LineError::Character { column, character });
            }
        }
    }
    Ok(())
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
}
