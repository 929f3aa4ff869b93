//! `docs/reference-variables.md` has every variable that the sources read.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Folders with what reads variables: of tests and chores, those that readers may set.
const FOLDERS: [&str; 12] = [
    "src",
    "backend-cuda/src",
    "backend-host/src",
    "backend-vulkan/src",
    "device-build/src",
    "device-build/tests",
    "dist/src",
    "tests/containers/src",
    "tests/devices/src",
    "tests/src",
    "toolchain/src",
    "xtask/src",
];

/// Words that look like variables.
const OTHERS: [&str; 1] = ["WARPHEAP_REQUIRE_"];

fn names(text: &str, found: &mut BTreeSet<String>) {
    for (at, _) in text.match_indices("WARPHEAP_") {
        let end =
            text[at..].find(|c: char| !(c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()));
        found.insert(text[at..][..end.unwrap_or(text.len() - at)].to_owned());
    }
}

fn read(path: &Path, found: &mut BTreeSet<String>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder").flatten() {
            read(&entry.path(), found);
        }
    } else if path.extension().is_some_and(|kind| kind == "rs") {
        names(&fs::read_to_string(path).expect("a source"), found);
    }
}

#[test]
fn the_page_has_every_variable() {
    let root = Path::new("../..");
    let mut read_there = BTreeSet::new();
    for folder in FOLDERS {
        read(&root.join(folder), &mut read_there);
    }
    read_there.retain(|name| !OTHERS.contains(&name.as_str()));
    let page = fs::read_to_string(root.join("docs/reference-variables.md")).expect("the page");
    let mut described = BTreeSet::new();
    names(&page, &mut described);
    assert_eq!(described, read_there);
}
