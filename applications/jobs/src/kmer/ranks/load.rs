//! The part of the input that a rank reads.

use crate::error::JobError;
use crate::kmer::options::Input;
use crate::kmer::read::{FastaError, contents, records};
use crate::kmer::report::Source;
use crate::kmer::sequences::Sequences;
use crate::kmer::{generate, read};
use crate::ranks::file_part;
use crate::text;
use std::fs::File;
use std::path::Path;

/// A part of the sequences, for rank `rank` of `size`: records of a file that begin in its range of bytes, generated reads of its
/// range of numbers. Only rank 0 reads standard input and what else is no plain file.
///
/// # Errors
/// A bad file. A part may have no bases.
pub fn part(input: &Input, rank: usize, size: usize) -> Result<(Source, Sequences), JobError> {
    Ok(match input {
        Input::File(path) => {
            let (file, sequences) = part_of_file(path, rank, size)?;
            (Source::File { file }, sequences)
        }
        &Input::Reads { bases, seed } => {
            let sequences = generate::some_reads(bases, seed, rank, size);
            (Source::Reads { seed }, sequences)
        }
    })
}

fn part_of_file(path: &Path, part: usize, parts: usize) -> Result<(String, Sequences), FastaError> {
    let name = read::name(path);
    let plain = std::fs::metadata(path).is_ok_and(|about| about.is_file());
    if !plain && part == 0 {
        let (name, bytes) = contents(path)?;
        let sequences = records(&name, &bytes)?;
        return Ok((name, sequences));
    }
    if !plain {
        return Ok((name, Sequences::default()));
    }
    let io = |source| {
        let file = name.clone();
        FastaError::Io { file, source }
    };
    let mut file = File::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let range = file_part::range(&mut file, length, part, parts, |byte| byte == b'>');
    let range = range.map_err(io)?;
    let begin = range.start;
    let bytes = text::range(path, range).map_err(io)?;
    // A file that is empty is for one part to complain of.
    let all = part == 0 && bytes.len() as u64 == length;
    if file_part::behind_mark(&bytes).trim_ascii().is_empty() && !all {
        return Ok((name, Sequences::default()));
    }
    match records(&name, &bytes) {
        // Lines count from the begin of the file.
        Err(FastaError::Line {
            file: name,
            line,
            what,
        }) => {
            let before = file_part::lines(&mut file, begin);
            let before = before.map_err(|source| FastaError::Io {
                file: name.clone(),
                source,
            })?;
            let line = before as usize + line;
            Err(FastaError::Line {
                file: name,
                line,
                what,
            })
        }
        outcome => Ok((name, outcome?)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kmer::sequences::letters_of;
    use std::path::PathBuf;

    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, text: &str) -> Self {
            let name = format!("warpheap-part-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, text).unwrap();
            Temporary(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn each_record_is_in_one_part() {
        let text = "\n\n>one >1\nACGT\nAC\n>two\r\nNNA\r\n\n>\n>three\nGGGG";
        let file = Temporary::new("records.fa", text);
        let whole = records("", text.as_bytes()).unwrap();
        for parts in 1..60 {
            let (mut all, mut in_all, mut unknown) = (String::new(), 0, 0);
            for part in 0..parts {
                let (_, sequences) = part_of_file(&file.0, part, parts).unwrap();
                all += &letters_of(&sequences);
                in_all += sequences.records;
                unknown += sequences.unknown;
            }
            assert_eq!(all, letters_of(&whole), "{parts} parts");
            assert_eq!((in_all, unknown), (whole.records, whole.unknown));
        }
    }

    #[test]
    fn a_part_may_have_a_mark_and_blank_lines_alone() {
        let file = Temporary::new("mark.fa", "\u{FEFF}\n\n>one\nACGT\n");
        for parts in [2, 3, 40] {
            let sequences = |part| part_of_file(&file.0, part, parts).unwrap().1;
            let bases = (0..parts).map(|part| letters_of(&sequences(part)));
            assert_eq!(bases.collect::<String>(), "ACGT", "{parts} parts");
        }
    }

    #[test]
    fn errors_have_the_line_of_the_file() {
        let file = Temporary::new("bad.fa", ">one\nACGT\n>two\nAC\n>three\nA-C\n");
        let (mut whole, mut found) = (Vec::new(), Vec::new());
        whole.extend(part_of_file(&file.0, 0, 1).err());
        found.extend((0..4).filter_map(|part| part_of_file(&file.0, part, 4).err()));
        let texts = |errors: &[FastaError]| -> Vec<String> {
            errors.iter().map(ToString::to_string).collect()
        };
        assert_eq!(texts(&found), texts(&whole));
        assert!(texts(&found)[0].contains(":6: column 2"), "{found:?}");
    }

    #[test]
    fn the_first_part_says_what_is_no_fasta() {
        for text in ["", "ACGT\n", "@read\nACGT\n+\n!!!!\n"] {
            let file = Temporary::new("none.fa", text);
            assert!(part_of_file(&file.0, 0, 3).is_err(), "{text}");
        }
    }
}
