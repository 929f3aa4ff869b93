//! FASTA files, by one process and by several.

use super::file::{Divided, check_message};
use warpheap_jobs::error::JobError;
use warpheap_jobs::kmer::read::{FastaError, parse};
use warpheap_jobs::kmer::{Input, Sequences, ranks};

/// The first byte says by how many processes the others are read.
pub fn run(bytes: &[u8]) {
    let Some(divided) = Divided::new(bytes) else {
        return;
    };
    let (name, bytes) = (&divided.name, divided.bytes);
    let whole = parse(name, bytes);
    let parts: Vec<Result<Sequences, JobError>> = divided.each(|path, number, parts| {
        let input = Input::File(path.to_owned());
        Ok(ranks::part(&input, number, parts)?.1)
    });
    let wrong = parts.iter().find_map(|part| part.as_ref().err());
    match (&whole, wrong) {
        (Ok(whole), None) => {
            let parts = parts.iter().flatten();
            assert_eq!(
                parts.clone().map(|part| part.records).sum::<u32>(),
                whole.records
            );
            assert_eq!(
                parts.clone().map(|part| part.unknown).sum::<u64>(),
                whole.unknown
            );
            let of_parts: Vec<_> = parts.flat_map(bases).collect();
            assert_eq!(of_parts, bases(whole));
            again(whole);
            kmers(whole, 1 + u32::from(divided.control) % 31);
        }
        (Ok(_), Some(error)) => panic!("a part of a file that can be read: {error}"),
        (Err(error), wrong) => {
            check_message(&error.to_string(), name, bytes);
            let missing = matches!(error, FastaError::Empty { .. } | FastaError::NoBases { .. });
            match wrong {
                Some(part) => assert_eq!(part.to_string(), error.to_string()),
                None => assert!(missing, "no part says so: {error}"),
            }
        }
    }
}

/// The bases, and whether each follows a break.
fn bases(sequences: &Sequences) -> Vec<(u32, bool)> {
    let base = |at| (sequences.base(at), sequences.follows_break(at));
    (0..sequences.len).map(base).collect()
}

/// What was read is read again.
fn again(sequences: &Sequences) {
    let mut text = ">".to_owned();
    for (base, broken) in bases(sequences) {
        text += if broken { "\n>\n" } else { "" };
        text.push(['A', 'C', 'G', 'T'][base as usize]);
    }
    let again = parse("s", text.as_bytes()).expect("what was read");
    assert_eq!(bases(&again), bases(sequences));
}

/// The k-mers are those that begin at each base and have no break within.
fn kmers(sequences: &Sequences, k: u32) {
    let bases = bases(sequences);
    let whole = |window: &&[(u32, bool)]| !window[1..].iter().any(|(_, broken)| *broken);
    let number = |window: &[(u32, bool)]| {
        let forward = window
            .iter()
            .fold(0, |kmer, (base, _)| kmer << 2 | u64::from(*base));
        let complement = |kmer: u64, (base, _): &(u32, bool)| kmer << 2 | u64::from(3 - base);
        let backward = window.iter().rev().fold(0, complement);
        forward.min(backward)
    };
    let expected: Vec<u64> = bases
        .windows(k as usize)
        .filter(whole)
        .map(number)
        .collect();
    let mut found = Vec::new();
    let places = sequences.places(k);
    // In two pieces, as several devices have them.
    for places in [0..places / 2, places / 2..places] {
        sequences.kmers(k, true, places, |kmer| found.push(kmer));
    }
    assert_eq!(found, expected, "{k}-mers");
}
