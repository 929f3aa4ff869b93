//! CSV tables of the join, by one process and by several.

use super::file::{Divided, check_message};
use warpheap_jobs::join::read::{TableError, parse, part};

/// The first byte says by how many processes the others are read.
pub fn run(bytes: &[u8]) {
    let Some(divided) = Divided::new(bytes) else {
        return;
    };
    let (name, bytes) = (&divided.name, divided.bytes);
    let whole = parse(name, bytes);
    let parts = divided.each(part);
    let wrong = parts.iter().find_map(|part| part.as_ref().err());
    match (&whole, wrong) {
        (Ok(rows), None) => {
            let of_parts = parts.iter().flatten().flatten();
            assert!(of_parts.eq(rows), "{parts:?} and {rows:?}");
            let text: String = rows
                .iter()
                .map(|row| format!("{},{}\n", row.key, row.payload))
                .collect();
            for head in ["", "key,payload\n"] {
                let again = parse("t", format!("{head}{text}").as_bytes());
                assert_eq!(&again.expect("what was read"), rows);
            }
        }
        (Ok(_), Some(error)) => panic!("a part of a file that can be read: {error}"),
        (Err(error), wrong) => {
            check_message(&error.to_string(), name, bytes);
            let missing = matches!(error, TableError::Empty { .. } | TableError::NoRows { .. });
            match wrong {
                Some(part) => same_line(error, part),
                None => assert!(missing, "no part says so: {error}"),
            }
        }
    }
}

/// Both name the same line. Of a record of several lines, which is wrong in any case, the whole may say something else than a part does
/// that has but its first line.
fn same_line(whole: &TableError, part: &TableError) {
    match (whole, part) {
        (TableError::Line { line: of_whole, .. }, TableError::Line { line, .. }) => {
            assert_eq!(of_whole, line, "{whole} and {part}");
        }
        _ => assert_eq!(whole.to_string(), part.to_string()),
    }
}
